import { expect, it } from 'vitest';
import { decode91, encode91 } from './base91';

it('gives back any bytes, and needs no escapes', () => {
  for (let length = 0; length < 40; ++length)
    for (const bytes of [
      Uint8Array.from({ length }, (_, i) => (i * 7919 + length * 31) % 256),
      new Uint8Array(length),
      new Uint8Array(length).fill(255),
    ]) {
      const text = encode91(bytes);
      expect([...decode91(text, length)]).toEqual([...bytes]);
      expect(text).toMatch(/^[!#-;=-[\]-~]*$/);
      expect(text.length).toBe(2 * Math.ceil((length * 8) / 13));
    }
});

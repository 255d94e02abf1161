import { expect, it } from 'vitest';
import { slice } from './base64';

it('finds bytes anywhere', () => {
  const bytes = Uint8Array.from({ length: 50 }, (_, i) => i * 5);
  const text = Buffer.from(bytes).toString('base64');
  for (let begin = 0; begin < 50; ++begin)
    for (let length = 0; begin + length <= 50; ++length)
      expect([...slice(text, begin, length)]).toEqual([...bytes.subarray(begin, begin + length)]);
  expect(() => slice(text, 45, 6)).toThrow('end before');
});

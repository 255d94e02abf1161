import { expect, it } from 'vitest';
import { shortNames } from './text';

it('leaves out what all names share', () => {
  expect(shortNames([9, 10, 11].map((n) => `model.layers.${n}.self_attn`))).toEqual(['9', '10', '11']);
  expect(shortNames(['10', '11', '12'])).toEqual(['10', '11', '12']);
  expect(shortNames(['encoder.1.x', 'decoder.1.x'])).toEqual(['en', 'de']);
  expect(shortNames(['a', 'ab'])).toEqual(['a', 'ab']);
  expect(shortNames(['same', 'same'])).toEqual(['same', 'same']);
  expect(shortNames(['model.layers.0.self_attn'])).toEqual(['model.layers.0.self_attn']);
});

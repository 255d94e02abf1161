import { valueOf } from './pyramid';
import { describe, expect, it } from 'vitest';
import { pyramid, shadeOf } from './pyramid';

describe('pyramid', () => {
  it('keeps maxima at every size', () => {
    const n = 301;
    const values = new Float64Array(n * n);
    values[200 * n + 17] = 0.8;
    values[300 * n + 300] = 0.4;
    const { levels, largest } = pyramid(n, values, 'linear');
    expect(largest).toBe(0.8);
    expect(levels.map((level) => level.size)).toEqual([301, 151, 76, 38]);
    levels.forEach(({ size, shades }, k) => {
      expect(shades[(200 >> k) * size + (17 >> k)]).toBe(255);
      expect(shades[(300 >> k) * size + (300 >> k)]).toBe(128);
    });
  });
  it('has nothing above the diagonal', () => {
    const { levels } = pyramid(3, Float64Array.of(1, 0, 0, 0.5, 0.5, 0, 0, 0, 1), 'root');
    expect([...levels[0]!.shades]).toEqual([255, 0, 0, 181, 181, 0, 1, 1, 255]);
  });
  it('survives a matrix of zeros', () => expect(pyramid(2, new Float64Array(4), 'log').largest).toBe(0));
});

it('shades grow with values', () => {
  for (const colours of ['linear', 'root', 'log'] as const)
    for (let i = 1; i <= 10; ++i) expect(shadeOf(i, 10, colours)).toBeGreaterThanOrEqual(shadeOf(i - 1, 10, colours));
});

it('knows the entry of a shade', () => {
  for (const colours of ['linear', 'root', 'log'] as const)
    for (const shade of [0.2, 0.5, 1]) expect(shadeOf(valueOf(shade, 0.7, colours), 0.7, colours)).toBeCloseTo(shade, 12);
});

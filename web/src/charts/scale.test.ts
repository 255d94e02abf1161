import { describe, expect, it } from 'vitest';
import { logTicks, valueScale } from './scale';

describe('valueScale', () => {
  it('keeps zero and never at the edges of a logarithmic scale', () => {
    const scale = valueScale([0, 1e-6, 1e-2, null], true, 200, 0);
    expect(scale.logarithmic).toBe(true);
    expect(scale.place(0)).toBe(200);
    expect(scale.place(null)).toBe(0);
    expect(scale.place(1e-6)).toBeLessThan(184);
    expect(scale.place(1e-2)).toBeGreaterThan(16);
    expect(scale.ticks(6).map((t) => t.edge)).toContain('zero');
    expect(scale.ticks(6).map((t) => t.edge)).toContain('never');
  });
  it('is linear where values are close or negative', () => {
    expect(valueScale([10, 12], true, 100, 0).logarithmic).toBe(false);
    expect(valueScale([-1, 100], true, 100, 0).logarithmic).toBe(false);
    expect(valueScale([0, 4], false, 100, 0).place(4)).toBe(0);
  });
  it('survives one value, none, and infinite ones', () => {
    for (const values of [[], [3], [0], [null], [null, 0]]) {
      const scale = valueScale(values, true, 100, 0);
      for (const v of [0, 3, null]) expect(Number.isFinite(scale.place(v))).toBe(true);
    }
  });
});

describe('logTicks', () => {
  it('are few and round', () => {
    expect(logTicks(1, 100, 8)).toEqual([1, 2, 5, 10, 20, 50, 100]);
    expect(logTicks(1e-12, 1, 5).length).toBeLessThanOrEqual(5);
    expect(logTicks(3, 8, 6)).toEqual([3, 5, 7]);
  });
});

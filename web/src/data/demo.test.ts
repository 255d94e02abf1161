import { expect, it } from 'vitest';
import { demoFile } from './demo';

it('is a NumPy file of causal rows that sum to one', () => {
  const bytes = demoFile(1, 1, 8);
  const length = bytes[8]! + 256 * bytes[9]!;
  expect(new TextDecoder().decode(bytes.subarray(10, 10 + length))).toContain("'shape': (1, 1, 6, 8, 8)");
  const values = new Float32Array(bytes.slice(10 + length).buffer);
  expect(values.length).toBe(6 * 64);
  for (let row = 0; row < 48; ++row) {
    const line = values.subarray(row * 8, row * 8 + 8);
    expect(line.reduce((a, b) => a + b, 0)).toBeCloseTo(1, 6);
    expect([...line.subarray((row % 8) + 1)].every((value) => value === 0)).toBe(true);
  }
});

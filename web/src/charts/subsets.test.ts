import { expect, it } from 'vitest';
import { spread } from './subsets';

it('close dots take different lanes', () => {
  expect(spread([0, 1, 2, 30], 1)).toEqual([0, 1, -1, 0]);
  expect(spread([0, 20, 40], 2)).toEqual([0, 0, 0]);
  expect(spread([0, 0, 0, 0, 0], 1).length).toBe(5);
});

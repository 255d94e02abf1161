import { describe, expect, it } from 'vitest';
import type { Curves, Subsets } from '../core';
import { meanCurves, meanSubsets, spreadOf, spreadsOf } from './mean';

describe('means over samples', () => {
  it('are of the finite numbers, and count the others', () => {
    expect(spreadOf([1, 3, null, undefined])).toMatchObject({ mean: 2, spread: 1, samples: 4, never: 1, undecided: 1 });
    expect(spreadOf([null, null])).toMatchObject({ mean: null, spread: null, never: 2, undecided: 0 });
  });
  it('have an upper end where a sample is not certified', () => {
    const certified = { minimax_fidelity: 0.2, minimax_fidelity_upper: 0.2 };
    const open = { minimax_fidelity: 0.4, minimax_fidelity_upper: 0.6 };
    expect(spreadsOf([certified, certified]).get('minimax_fidelity')!.upper).toBeUndefined();
    expect(spreadsOf([certified, open]).get('minimax_fidelity')).toMatchObject({ mean: 0.30000000000000004, upper: 0.4 });
  });
  it('of sets of heads have their own best sets', () => {
    const of = (table: number[], shapley: number[]): Subsets => ({
      heads: 2,
      gap: 0,
      values: [
        {
          value: 'fidelity',
          table: Float64Array.from(table),
          shapley,
          banzhaf: shapley,
          pairs: [{ heads: [0, 1], interaction: table[3]! }],
          best: [],
        },
      ],
    });
    const [value] = meanSubsets([of([0, 0.5, 0.1, 0.6], [0.5, 0.1]), of([0, 0.1, 0.7, 0.8], [0.1, 0.7])]).values;
    expect([...value!.table]).toEqual([0, 0.3, 0.39999999999999997, 0.7]);
    expect(value!.best.map(({ subset }) => subset)).toEqual([0, 2, 3]);
    expect(value!.shapley).toEqual([0.3, 0.39999999999999997]);
    expect(value!.pairs).toEqual([{ heads: [0, 1], interaction: 0.7 }]);
  });
  it('of curves are taken at every step, and what is the same on all samples stays as it is', () => {
    const curves = (...survival: number[]) => ({
      steps: 1,
      nodes: 0.1,
      series: [{ name: 'a', survival: Float64Array.from(survival) }],
    });
    const of = meanCurves([curves(1, 0.5), curves(1, 0.25), curves(1, 0)] as unknown as Curves[]);
    expect(of).toEqual(curves(1, 0.25));
  });
});

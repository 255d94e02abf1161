/**
 * Means over samples, for display. The core measures every number on each sample; this file only averages, as `synergraph analyze` does, and
 * computes no metric. Nothing is measured on mean attention. Infinite numbers, and numbers that do not exist, are counted beside the
 * mean of the others.
 */
import type { Curves, Maybe, Metrics, Mix, Subsets, SystemDocument, Together } from '../core';
import { backwardNumbers } from './backward';
import type { Spread } from './layers';
import { size } from './mix';

/** Numbers of one sample by quantity; null: infinite, undefined: it does not exist, or is not decided. */
export type Numbers = Record<string, Maybe | undefined>;

/** Of a head, or of all together. */
export function numbersOf(of: Metrics): Numbers {
  return {
    minimax_fidelity: of.minimax_fidelity.value,
    minimax_fidelity_upper: of.minimax_fidelity.upper,
    ...Object.fromEntries(of.mixing_time.map(({ eps, steps }) => [`mixing_time_${eps}`, steps])),
    hitting_mean: of.hitting_time.mean,
    hitting_max: of.hitting_time.max,
    truncated_hitting_mean: of.truncated_hitting_time.mean,
    ...Object.fromEntries(backwardNumbers(of)),
  };
}

/** Of all together, with what only heads together have. */
export const numbersTogether = (of: Together): Numbers => ({
  ...numbersOf(of.combined),
  synergy: of.synergy ?? (of.synergy_lower === null && of.synergy_present === true ? null : undefined),
  cross_head_share: of.cross_head_share ?? undefined,
});

const sum = (values: readonly number[]) => values.reduce((a, b) => a + b, 0);
const mean = (values: readonly number[]) => sum(values) / values.length;

/** The mean of the finite values, how far they spread, and how many are infinite. */
export function spreadOf(values: readonly (Maybe | undefined)[]): Spread {
  const finite = values.filter((value): value is number => typeof value === 'number');
  const never = values.filter((value) => value === null).length;
  const centre = finite.length > 0 ? mean(finite) : null;
  return {
    mean: centre,
    spread: centre === null ? null : Math.sqrt(mean(finite.map((value) => (value - centre) ** 2))),
    isError: false,
    samples: values.length,
    never,
    undecided: values.length - finite.length - never,
  };
}

/** Spreads by quantity; a fidelity that is not certified on some sample has an upper end. */
export function spreadsOf(samples: readonly Numbers[]): Map<string, Spread> {
  const ids = Object.keys(samples[0] ?? {});
  const all = new Map(ids.map((id) => [id, spreadOf(samples.map((one) => one[id]))]));
  const [low, high] = [all.get('minimax_fidelity'), all.get('minimax_fidelity_upper')];
  if (low?.mean != null && high?.mean != null && high.mean > low.mean * (1 + 1e-9)) low.upper = high.mean;
  return all;
}

/**
 * Documents or curves of the same shape as one: finite numbers at the same place are averaged (null: none is finite), all else is as on
 * the first sample.
 */
function meanOf<T>(samples: readonly T[]): T {
  const first = samples[0]!;
  const at = (key: string | number) => samples.map((one) => (one as Record<string | number, unknown>)[key]);
  const merged = (): unknown => {
    if (samples.every((one) => one === first)) return first;
    if (first === null || typeof first === 'number') return spreadOf(samples as readonly Maybe[]).mean;
    if (first instanceof Float64Array) return first.map((_, k) => mean(at(k) as number[]));
    if (Array.isArray(first)) return first.map((_, k) => meanOf(at(k)));
    if (typeof first !== 'object') return first;
    return Object.fromEntries(Object.keys(first).map((key) => [key, meanOf(at(key))]));
  };
  return merged() as T;
}

/** The place of the least. */
const least = (values: readonly number[]) => values.reduce((best, value, k) => (value < values[best]! ? k : best), 0);

/** Metrics whose numbers are means. The node is the one with the least mean fidelity; no single step belongs to it. */
function meanMetrics(samples: readonly Metrics[], nodes: readonly string[]): Metrics {
  const of = meanOf(samples);
  const weakest = nodes[least(of.node_fidelity.slice(0, Math.max(1, nodes.length - 1)))]!;
  const certified = samples.every(({ minimax_fidelity: one }) => one.certified);
  return { ...of, minimax_fidelity: { ...of.minimax_fidelity, certified, node: weakest, time: null } };
}

/** What heads together have, as means. Which head is best differs from sample to sample, so none is. */
const meanTogether = <T extends Together>(samples: readonly T[], nodes: readonly string[]): T => {
  const numbers = spreadsOf(samples.map(numbersTogether));
  const combined = samples.map((of) => of.combined);
  return {
    ...meanOf(samples),
    combined: meanMetrics(combined, nodes),
    best_head_decided: false,
    synergy: numbers.get('synergy')!.mean,
    cross_head_share: numbers.get('cross_head_share')!.mean,
  };
};

/** The documents of a layer on its samples as one. It is for figures: `spreadsOf` counts what is infinite. */
export const meanDocument = (samples: readonly SystemDocument[]): SystemDocument => {
  const { nodes, heads } = samples[0]!;
  const head = (h: number) => samples.map((of) => of.heads[h]!);
  return { ...meanTogether(samples, nodes), heads: heads.map((of, h) => ({ ...of, ...meanMetrics(head(h), nodes) })) };
};

/** A mix on every sample: means, and the spreads that are shown. */
export interface MeanMix extends Mix {
  spreads: Map<string, Spread>;
}

export const isMean = (mix: Mix): mix is MeanMix => 'spreads' in mix;

export const meanMix = (samples: readonly Mix[], nodes: readonly string[]): MeanMix => ({
  ...meanTogether(samples, nodes),
  spreads: spreadsOf(samples.map(numbersTogether)),
});

/** Curves of the same steps, averaged at every step. */
export const meanCurves: (samples: readonly Curves[]) => Curves = meanOf;

/** The set of every size whose mean value is largest: a choice among values of the core. */
function bestSets(table: Float64Array, heads: number): { subset: number; value: number }[] {
  const best = Array.from({ length: heads + 1 }, () => ({ subset: 0, value: -Infinity }));
  table.forEach((value, subset) => {
    const of = size(subset);
    if (value > best[of]!.value) best[of] = { subset, value };
  });
  return best;
}

/** The mean value of every set. Shapley values and interactions are linear in the values: they are means, too. */
export function meanSubsets(samples: readonly Subsets[]): Subsets {
  const of = meanOf(samples);
  const values = of.values.map((one) => ({ ...one, best: bestSets(one.table, of.heads) }));
  return { ...of, gap: Math.max(...samples.map(({ gap }) => gap)), values };
}

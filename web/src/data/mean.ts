/**
 * Means over samples, for display. The core measures every number on each sample; this file only averages, as `synergraph analyze` does, and
 * computes no metric. Nothing is measured on mean attention. Infinite numbers, and numbers that do not exist, are counted beside the
 * mean of the others.
 */
import type { Curves, Maybe, Metrics, Mix, Subsets, SystemDocument, Together } from '../core';
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

const meanList = (lists: readonly ArrayLike<number>[]): number[] =>
  Array.from(lists[0]!, (_, k) => mean(lists.map((list) => list[k]!)));

/** The mean of the finite ones; null: none is. */
const meanFinite = (values: readonly Maybe[]): Maybe => spreadOf(values).mean;
const meanLists = (lists: readonly Maybe[][]): Maybe[] => lists[0]!.map((_, k) => meanFinite(lists.map((list) => list[k]!)));

/** The place of the least. */
const least = (values: readonly number[]) => values.reduce((best, value, k) => (value < values[best]! ? k : best), 0);

/** Metrics whose numbers are means. The node is the one with the least mean fidelity; no single step belongs to it. */
function meanMetrics(samples: readonly Metrics[], nodes: readonly string[]): Metrics {
  const first = samples[0]!;
  const hitting = (pick: (of: Metrics) => Metrics['hitting_time']) => ({
    ...pick(first),
    mean: meanFinite(samples.map((of) => pick(of).mean)),
    max: meanFinite(samples.map((of) => pick(of).max)),
    node: meanLists(samples.map((of) => pick(of).node)),
  });
  const node_fidelity = meanList(samples.map((of) => of.node_fidelity));
  return {
    ...first,
    forward_probability: meanFinite(samples.map((of) => of.forward_probability)),
    mixing_time: first.mixing_time.map(({ eps }, i) => ({
      eps,
      steps: meanFinite(samples.map((of) => of.mixing_time[i]!.steps)),
    })),
    hitting_time: hitting((of) => of.hitting_time),
    truncated_hitting_time: hitting((of) => of.truncated_hitting_time),
    minimax_fidelity: {
      ...first.minimax_fidelity,
      value: mean(samples.map((of) => of.minimax_fidelity.value)),
      upper: mean(samples.map((of) => of.minimax_fidelity.upper)),
      certified: samples.every((of) => of.minimax_fidelity.certified),
      node: nodes[least(node_fidelity.slice(0, Math.max(1, nodes.length - 1)))]!,
      time: null,
    },
    node_fidelity,
    node_fidelity_upper: meanList(samples.map((of) => of.node_fidelity_upper)),
    optimal_time: meanLists(samples.map((of) => of.optimal_time)),
  };
}

/** What heads together have, as means. Which head is best differs from sample to sample, so none is. */
const meanTogether = <T extends Together>(samples: readonly T[], nodes: readonly string[]): T => {
  const numbers = spreadsOf(samples.map(numbersTogether));
  return {
    ...samples[0]!,
    combined: meanMetrics(
      samples.map((of) => of.combined),
      nodes,
    ),
    best_head_decided: false,
    best_head_fidelity: mean(samples.map((of) => of.best_head_fidelity)),
    synergy: numbers.get('synergy')!.mean,
    cross_head_share: numbers.get('cross_head_share')!.mean,
  };
};

/** The documents of a layer on its samples as one. It is for figures: `spreadsOf` counts what is infinite. */
export const meanDocument = (samples: readonly SystemDocument[]): SystemDocument => {
  const { nodes, heads } = samples[0]!;
  return {
    ...meanTogether(samples, nodes),
    heads: heads.map((head, h) => ({
      ...head,
      ...meanMetrics(
        samples.map((of) => of.heads[h]!),
        nodes,
      ),
    })),
  };
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

const meanArray = (arrays: readonly Float64Array[]) => Float64Array.from(meanList(arrays));

/** Curves of the same steps, averaged at every step. */
export const meanCurves = (samples: readonly Curves[]): Curves => ({
  ...samples[0]!,
  series: samples[0]!.series.map((one, i) => {
    const of = samples.map((curves) => curves.series[i]!);
    return {
      name: one.name,
      survival: meanArray(of.map((series) => series.survival)),
      meanSurvival: meanArray(of.map((series) => series.meanSurvival)),
      signal: meanArray(of.map((series) => series.signal)),
      minimax: meanArray(of.map((series) => series.minimax)),
    };
  }),
});

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
export const meanSubsets = (samples: readonly Subsets[]): Subsets => ({
  heads: samples[0]!.heads,
  gap: Math.max(...samples.map(({ gap }) => gap)),
  values: samples[0]!.values.map((one, i) => {
    const of = samples.map(({ values }) => values[i]!);
    const table = meanArray(of.map((value) => value.table));
    return {
      value: one.value,
      table,
      shapley: meanList(of.map((value) => value.shapley)),
      banzhaf: meanList(of.map((value) => value.banzhaf)),
      pairs: one.pairs.map(({ heads }, k) => ({ heads, interaction: mean(of.map((value) => value.pairs[k]!.interaction)) })),
      best: bestSets(table, samples[0]!.heads),
    };
  }),
});

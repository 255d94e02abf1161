/** What the page relies on in the program's documents (docs/formats.md, "JSON schema"). */
import {
  all,
  count,
  either,
  list,
  number,
  numberOrNull,
  object,
  one,
  optional,
  record,
  such,
  text,
  yesOrNo,
  type Check,
} from './check';

const numbers = list(number);
const none = such<unknown>((value) => value === null, 'null');
const numbersOrNull = list(numberOrNull);
const convention = one('exact', 'published');
const document = (schema: string, versions: number[], fields: Record<string, Check>) =>
  object({ schema: one(schema), schema_version: one(...versions), program: optional(text), ...fields });

const settings = object({
  normalization: one('per-head', 'pooled', 'published'),
  cutoff: count,
  eps: list(number, 1),
  fidelity_nodes: one('sources', 'all'),
  horizon: either(count, one('certified')),
  step_limit: optional(count),
});

const summary = object({
  mean: numberOrNull,
  std: numberOrNull,
  min: numberOrNull,
  median: numberOrNull,
  max: numberOrNull,
  never: count,
  samples: count,
});

const source = { source: text, weights: text, range: optional(list(numberOrNull)), missing_mass: optional(text) };
const model = {
  model: optional(object({ heads: count, layers: count })),
  task: optional(object({ name: text, accuracy: numberOrNull })),
};

const analyzedLayer = all(
  object({
    name: text,
    samples: count,
    tokens: count,
    combined: record(summary),
    best_head: count,
    best_head_fidelity: summary,
    best_head_undecided: optional(count),
    synergy: summary,
    synergy_share: number,
    synergy_undecided: optional(count),
    cross_head_share: summary,
    mixing_synergy: optional(summary),
    effective_forward_probability: optional(summary),
    heads: list(all(object({ head: count, weight: number, best_share: number }), record(either(number, summary))), 1),
  }),
  such<{ best_head: number; heads: unknown[] }>((of) => of.best_head < of.heads.length, 'a layer that has its best head'),
);

const analyze = document('synergraph.analyze', [2, 3], {
  ...source,
  ...model,
  conventions: list(object({ convention, settings, layers: list(analyzedLayer, 1) }), 1),
});

const estimate = object({ mean: numberOrNull, error: numberOrNull });
const heads = list(count);
const path = object({ order: heads, value: numbers });
const worth = object({
  value: one('fidelity', 'speed'),
  all: estimate,
  gap: optional(number),
  heads: list(object({ head: count, shapley: estimate, banzhaf: estimate, alone: estimate, dropped: estimate }), 1),
  pairs: list(all(estimate, object({ heads: list(count, 2) }))),
  pruning: object({
    samples: count,
    best: list(object({ heads, value: number })),
    greedy_addition: path,
    greedy_removal: path,
    shapley: path,
  }),
  best_weights: optional(object({ samples: count, weights: numbers })),
});
const importance = document('synergraph.heads', [1, 2], {
  ...source,
  ...model,
  convention,
  settings,
  head_names: optional(list(text)),
  token_names: optional(list(text)),
  summary: list(text),
  layers: list(object({ name: text, samples: count, tokens: count, weights: list(number, 1), values: list(worth, 1) }), 1),
  stack: optional(object({ samples: count, layers: list(object({ heads: list(estimate) })) })),
});

const hitting = object({ mean: numberOrNull, max: numberOrNull, node: numbersOrNull });
const metrics = object({
  forward_probability: numberOrNull,
  mixing_time: list(object({ eps: number, steps: numberOrNull })),
  hitting_time: hitting,
  truncated_hitting_time: hitting,
  minimax_fidelity: object({ value: number, upper: number, certified: yesOrNo, node: text, time: numberOrNull }),
  node_fidelity: numbers,
  node_fidelity_upper: numbers,
  optimal_time: numbersOrNull,
});
const graph = document('synergraph.graph', [1], {
  settings,
  nodes: list(text, 1),
  heads: list(all(metrics, object({ name: text, weight: number })), 1),
  combined: metrics,
  best_head: text,
  best_head_decided: yesOrNo,
  best_head_fidelity: number,
  best_head_fidelity_upper: number,
  synergy: numberOrNull,
  synergy_lower: numberOrNull,
  synergy_upper: numberOrNull,
  synergy_present: either(yesOrNo, none),
  cross_head_share: numberOrNull,
});

const layerOfModel = record(either(numberOrNull, summary));
const interval = object({ estimate: numberOrNull, low: numberOrNull, high: numberOrNull });
const test = object({ statistic: numberOrNull, effect: numberOrNull, p: numberOrNull, smallest_p: numberOrNull, method: text });
/** A number of subsets: how many of how many layers, or one a seed with their mean. */
const tally = object({ count, of: count });
const ofSeeds = object({ values: numbersOrNull, mean: interval });
const ofSubsets: Check = (value, place) => {
  if (typeof value === 'object' && value !== null)
    (Object.hasOwn(value, 'count') && !Object.hasOwn(value, 'mean') ? tally : ofSeeds)(value, place);
};
const study = document('synergraph.reproduce', [2], {
  settings: object({
    tasks: list(text),
    heads: numbers,
    seeds: numbers,
    samples: count,
    eps: numbers,
    cutoff: count,
    horizon: count,
  }),
  cells: list(
    object({
      task: text,
      heads: count,
      seed: count,
      accuracy: numberOrNull,
      loss: numberOrNull,
      learned: yesOrNo,
      exact: list(layerOfModel),
      published: list(layerOfModel),
    }),
    1,
  ),
  findings: object({
    seeds: count,
    statements: list(text),
    summaries: list(
      object({
        task: text,
        heads: count,
        layer: count,
        convention,
        quantity: text,
        values: numbersOrNull,
        mean: interval,
        std: numberOrNull,
      }),
    ),
    trends: list(object({ task: text, layer: count, convention: text, claim: text, test, corrected_p: numberOrNull })),
    synergy: list(
      object({ task: text, heads: count, layer: count, convention: text, samples: interval, seeds: interval, seed_count: count }),
    ),
    speed_fidelity: list(object({ task: text, convention: text, points: count, test, within_models: numberOrNull })),
    subsets: optional(list(all(object({ task: text, heads: count, value: text, layer: numberOrNull }), record(ofSubsets)))),
  }),
});

export const SCHEMAS: Record<string, Check> = {
  'synergraph.analyze': analyze,
  'synergraph.heads': importance,
  'synergraph.graph': graph,
  'synergraph.reproduce': study,
};

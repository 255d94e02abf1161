/** The documents of the program, as docs/formats.md describes them ("JSON schema"). `null` is infinity, or what does not exist. */

/** A quantity over samples. */
export interface Summary {
  samples: number;
  never: number;
  undefined: number;
  mean: number | null;
  std: number | null;
  min: number | null;
  median: number | null;
  max: number | null;
}

export interface Settings {
  normalization: string;
  cutoff: number;
  eps: number[];
  fidelity_nodes: 'sources' | 'all';
  horizon: number | 'certified';
}

/** Summaries by the names of quantities. */
export type Summaries = Record<string, Summary>;

export interface AnalyzeHead {
  head: number;
  weight: number;
  best_share: number;
}

export interface AnalyzeLayer {
  name: string;
  samples: number;
  tokens: number;
  combined: Summaries;
  best_head: number | null;
  best_head_fidelity: Summary;
  best_head_undecided: number;
  synergy: Summary;
  synergy_share: number;
  synergy_undecided: number;
  cross_head_share: Summary;
  mixing_synergy?: Summary;
  effective_forward_probability?: Summary;
  heads: (AnalyzeHead & Record<string, unknown>)[];
}

export interface ModelInfo {
  vocabulary: number;
  length: number;
  width: number;
  heads: number;
  layers: number;
  hidden: number;
}

export interface InputInfo {
  program: string;
  schema: string;
  schema_version: number;
  source: 'attention' | 'model' | 'graph';
  weights: 'uniform' | 'learned' | 'given';
  range?: [number, number | null];
  missing_mass?: 'node';
  model?: ModelInfo;
  task?: { name: string; accuracy: number; loss: number };
}

export interface AnalyzeDocument extends InputInfo {
  conventions: { convention: 'exact' | 'published'; settings: Settings; layers: AnalyzeLayer[] }[];
}

export interface Estimate {
  mean: number | null;
  error: number | null;
}

export interface HeadsValue {
  value: 'fidelity' | 'speed';
  all: Estimate;
  gap: number;
  heads: { head: number; shapley: Estimate; banzhaf: Estimate; alone: Estimate; dropped: Estimate }[];
  carriers: { heads: number[]; share: number };
  better_without: number[];
  pairs: { heads: [number, number]; mean: number; error: number | null }[];
  triples?: { heads: [number, number, number]; mean: number; error: number | null }[];
  pruning: {
    samples: number;
    best: { heads: number[]; value: number; certified: boolean }[];
    greedy_addition: PruningPath;
    greedy_removal: PruningPath;
    shapley: PruningPath;
  };
  smallest: { heads: number[]; value: number };
  beating: number;
  better: { heads: number[]; value: number } | null;
  best_weights?: {
    samples: number;
    weights: number[];
    value: number;
    given_value: number;
    bound: number | null;
    simple_bound: number | null;
    optimal: boolean;
  };
}

export interface PruningPath {
  order: number[];
  value: number[];
  loss: number[];
}

export interface HeadsLayer {
  name: string;
  samples: number;
  tokens: number;
  weights: number[];
  exact: boolean;
  permutations?: number;
  precise?: boolean;
  values: HeadsValue[];
}

export interface HeadsDocument extends InputInfo {
  convention: 'exact' | 'published';
  settings: Settings & { keep: number; exact_heads: number };
  head_names?: string[];
  token_names?: string[];
  summary: string[];
  layers: HeadsLayer[];
  stack?: {
    residual: number;
    token: number | null;
    samples: number;
    without_signal: number;
    fidelity: Estimate;
    effective_tokens: Estimate;
    signal: Estimate[];
    weakest: number[];
    layers: { name: string; residual: Estimate; heads: Estimate[] }[];
  };
}

/** What is measured of one walk and one diffusion. */
export interface GraphMetrics {
  forward_probability: number;
  mixing_bound: { steps: number | null; valid_from_eps: number | null };
  mixing_time: { eps: number; steps: number | null }[];
  hitting_time: NodeTimes;
  truncated_hitting_time: NodeTimes;
  minimax_fidelity: {
    value: number;
    upper: number;
    certified: boolean;
    node: number;
    time: number | null;
    steps: number;
  };
  node_fidelity: number[];
  node_fidelity_upper: number[];
  optimal_time: (number | null)[];
}

export interface NodeTimes {
  mean: number | null;
  max: number | null;
  worst_node: number;
  node: (number | null)[];
}

export interface GraphDocument {
  program: string;
  schema: string;
  schema_version: number;
  settings: Settings;
  nodes: string[];
  heads: (GraphMetrics & { name: string; weight: number })[];
  combined: GraphMetrics;
  effective_forward_probability: number;
  effective_bound: { steps: number | null; valid_from_eps: number | null };
  adaptive_bound: { steps: number | null; valid_from_eps: number | null };
  best_head: number;
  best_head_decided: boolean;
  best_head_fidelity: number;
  best_head_fidelity_upper: number;
  synergy: number | null;
  synergy_lower: number | null;
  synergy_upper: number | null;
  synergy_present: boolean | null;
  mixing_synergy: number | null;
  mixing_synergy_present: boolean | null;
  cross_head_share: number | null;
}

export interface Interval {
  estimate: number | null;
  low: number | null;
  high: number | null;
}

export interface Test {
  statistic: number;
  effect: number;
  p: number;
  smallest_p: number;
  method: string;
}

/** A layer of a cell: summaries by name, and a few numbers. */
export type CellLayer = Summaries & { with_synergy?: never; rank_correlation?: never };

export interface Cell {
  task: string;
  heads: number;
  seed: number;
  accuracy: number;
  loss: number;
  learned: boolean;
  exact: Record<string, Summary | number>[];
  published: Record<string, Summary | number>[];
  subsets?: unknown;
}

export interface ReproduceDocument {
  program: string;
  schema: string;
  schema_version: number;
  results_version: number;
  settings: {
    tasks: string[];
    heads: number[];
    seeds: number[];
    training: Record<string, string>;
    samples: number;
    eps: number[];
    cutoff: number;
    horizon: number;
    subset_samples?: number;
  };
  cells: Cell[];
  findings: {
    seeds: number;
    statements: string[];
    summaries: {
      task: string;
      heads: number;
      layer: number;
      convention: string;
      quantity: string;
      values: (number | null)[];
      mean: Interval;
      std: number | null;
    }[];
    trends: { task: string; layer: number; convention: string; claim: string; test: Test; corrected_p: number }[];
    synergy: {
      task: string;
      heads: number;
      layer: number;
      convention: string;
      samples: Interval;
      seeds: Interval;
      seed_count: number;
    }[];
    speed_fidelity: { task: string; convention: string; points: number; test: Test; within_models: number | null }[];
    subsets?: Record<string, unknown>[];
  };
}

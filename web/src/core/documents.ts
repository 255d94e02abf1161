/** What the core answers with: the JSON documents of the program (docs/formats.md), by the same names. */

/** `null`: a time that is never reached, or a number that does not exist. */
export type Maybe = number | null;

export type Convention = 'exact' | 'published';
export type Normalization = 'per-head' | 'pooled' | 'published';

export interface Settings {
  normalization: Normalization;
  cutoff: number;
  eps: number[];
  fidelity_nodes: 'sources' | 'all';
  horizon: number | 'certified';
  /** 0: none. */
  step_limit?: number;
}

export interface MixingBound {
  steps: Maybe;
  valid_from_eps: number;
}

export interface HittingTime {
  mean: Maybe;
  max: Maybe;
  worst_node: string;
  /** One a node. */
  node: Maybe[];
}

export interface MinimaxFidelity {
  value: number;
  /** Equal to `value` unless a step limit was hit. */
  upper: number;
  certified: boolean;
  node: string;
  /** `null`: approached, never attained. */
  time: Maybe;
  steps: number;
}

/** Speed and fidelity of one head, or of all heads together. */
export interface Metrics {
  forward_probability: Maybe;
  mixing_bound: MixingBound;
  mixing_time: { eps: number; steps: Maybe }[];
  hitting_time: HittingTime;
  truncated_hitting_time: HittingTime;
  minimax_fidelity: MinimaxFidelity;
  node_fidelity: number[];
  node_fidelity_upper: number[];
  optimal_time: Maybe[];
}

export interface HeadMetrics extends Metrics {
  name: string;
  /** Normalised. */
  weight: number;
}

/** What is said of all heads together. */
export interface Together {
  combined: Metrics;
  effective_forward_probability: Maybe;
  effective_bound: MixingBound;
  adaptive_bound: MixingBound;
  /** Its name. */
  best_head: string;
  best_head_decided: boolean;
  best_head_fidelity: number;
  best_head_fidelity_upper: number;
  synergy: Maybe;
  synergy_lower: Maybe;
  synergy_upper: Maybe;
  synergy_present: boolean | null;
  mixing_synergy: Maybe;
  mixing_synergy_present: boolean;
  cross_head_share: Maybe;
}

interface Document {
  schema: string;
  schema_version: number;
  program: string;
  isa: string;
}

/** One multi-head system: `synergraph graph --json`. Also what is measured of a layer on one sample. */
export interface SystemDocument extends Document, Together {
  settings: Settings;
  /** Names, the sink last. */
  nodes: string[];
  heads: HeadMetrics[];
}

/** A number over samples. */
export interface Summary {
  samples: number;
  never: number;
  undefined: number;
  mean: Maybe;
  std: Maybe;
  min: Maybe;
  median: Maybe;
  max: Maybe;
}

/** By quantity: "minimax_fidelity", "mixing_time_0.25", ... */
export type Summaries = Record<string, Summary>;

export interface LayerDocument {
  name: string;
  samples: number;
  tokens: number;
  combined: Summaries;
  best_head: number;
  best_head_fidelity: Summary;
  best_head_undecided?: number;
  synergy: Summary;
  synergy_share: number;
  synergy_undecided?: number;
  cross_head_share: Summary;
  mixing_synergy?: Summary;
  effective_forward_probability?: Summary;
  heads: ({ head: number; weight: number; best_share: number } & Record<string, Summary | number>)[];
}

/** `synergraph analyze --json`. */
export interface AnalyzeDocument extends Document {
  source: 'attention' | 'model';
  weights: 'uniform' | 'learned' | 'given';
  range: (number | null)[];
  conventions: { convention: Convention; settings: Settings; layers: LayerDocument[] }[];
}

/** A mean over samples and its standard error. */
export interface Estimate {
  mean: Maybe;
  error: Maybe;
}

export interface SubsetChoice {
  heads: number[];
  value: number;
}

export interface PruningPath {
  order: number[];
  value: number[];
  loss: number[];
}

export type HeadValue = 'fidelity' | 'speed';

/** What the heads of a layer are worth. */
export interface LayerValue {
  value: HeadValue;
  all: Estimate;
  gap: number;
  heads: { head: number; shapley: Estimate; banzhaf: Estimate; alone: Estimate; dropped: Estimate }[];
  carriers: { heads: number[]; share: Maybe };
  better_without: number[];
  pairs: ({ heads: number[] } & Estimate)[];
  triples: ({ heads: number[] } & Estimate)[];
  pruning: {
    samples: number;
    best: (SubsetChoice & { certified: boolean })[];
    greedy_addition: PruningPath;
    greedy_removal: PruningPath;
    shapley: PruningPath;
  };
  smallest: SubsetChoice;
  beating: number;
  better: SubsetChoice | null;
  best_weights?: BestWeights;
}

export interface BestWeights {
  samples: number;
  weights: number[];
  value: Maybe;
  given_value: Maybe;
  bound: Maybe;
  simple_bound: Maybe;
  optimal: boolean;
  gradient_norm: Maybe;
  starts: number;
  iterations: number;
  adaptive: { head: number; forward_probability: number; value: Maybe; steps: Maybe; valid_from_eps: number };
}

/** `synergraph heads --json`. */
export interface HeadsDocument extends Document {
  range?: (number | null)[];
  source: 'attention' | 'model' | 'graph';
  weights: 'uniform' | 'learned' | 'given' | 'graph';
  convention: Convention;
  settings: Settings & { keep: number; exact_heads: number };
  head_names?: string[];
  token_names?: string[];
  summary: string[];
  layers: {
    name: string;
    samples: number;
    tokens: number;
    weights: number[];
    exact: boolean;
    values: LayerValue[];
  }[];
}

/** `synergraph inspect --json`. */
export interface InspectDocument {
  file: string;
  format: 'NumPy array' | 'NumPy archive' | 'safetensors' | 'PyTorch archive';
  tensors: { name: string; dtype: string; shape: number[]; elements: number; bytes: number }[];
  skipped: { name: string; reason: string }[];
  metadata: Record<string, string>;
}

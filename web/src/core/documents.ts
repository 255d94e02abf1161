/** What the documents of the program are (docs/formats.md). Made by scripts/generate_documents.py: do not edit. */

/** `null`: a time that is never reached, or a number that does not exist. */
export type Maybe = number | null;

/** The tensor files that the page reads, in the order of texts. */
export const TENSOR_ENDINGS = ['.npy', '.npz', '.safetensors'];

/** Definitions to measure by. */
export type Convention = 'exact' | 'published';

/** What the value of a set of heads measures. */
export type HeadValue = 'fidelity' | 'speed';

/** How metrics were measured. */
export interface Settings {
  /** how the heads are combined into one walk: per-head (as in the theory), pooled, or published */
  normalization: 'per-head' | 'pooled' | 'published';
  /** nodes that count for the minimax fidelity: sources or all */
  fidelity_nodes: 'sources' | 'all';
  /**
   * tokens whose fidelity counts, counted from the first measured token: such as 5, 0-7, 0,3,9 or ::4; negative numbers count
   * from the end. Of several, the weakest counts
   */
  from_tokens?: string;
  /** number of diffusion steps to search, or 'certified': as many as the proof needs */
  horizon: 'certified' | number;
  /** threshold of T_mix */
  eps: number[];
  /** cutoff for truncated hitting times, in steps */
  cutoff: number;
  /**
   * limit on diffusion steps; a fidelity that is not certified by then is reported as an interval. 0: no limit, later steps are
   * searched by squaring
   */
  step_limit?: number;
  /**
   * also measure averaged mixing times, the backward walk to the first token, and how close fidelity comes to its bound; the CPU
   * measures these numbers
   */
  backward?: boolean;
}

/** A number over samples. */
export interface Summary {
  /** of the finite values */
  mean: Maybe;
  /** standard deviation of the finite values, that of the population */
  std: Maybe;
  /** of all values that exist, null if infinite */
  min: Maybe;
  /** likewise */
  median: Maybe;
  /** likewise */
  max: Maybe;
  /** number of samples with an infinite value */
  never: number;
  /** number of samples without a value */
  undefined?: number;
  /** number of samples */
  samples: number;
}

/** A mean over samples and its standard error. */
export interface Estimate {
  /** over the samples */
  mean: Maybe;
  /** standard error; null: one sample */
  error: Maybe;
}

/** An estimate and its 95 % interval. */
export interface Interval {
  estimate: Maybe;
  low: Maybe;
  high: Maybe;
}

/** A bound on the mixing time. */
export interface MixingBound {
  /** null: no bound */
  steps: Maybe;
  /** least eps for which it holds */
  valid_from_eps: number;
}

/** Expected steps to the sink. */
export interface HittingTime {
  /** over the nodes */
  mean: Maybe;
  /** over the nodes */
  max: Maybe;
  /** Slowest token: the start token with the largest hitting time */
  worst_node: string;
  /** of each node */
  node: Maybe[];
}

/** The weakest peak signal. */
export interface MinimaxFidelity {
  /** the fidelity, as a fraction */
  value: number;
  /** what the fidelity is at most: equal unless a step limit was reached */
  upper: number;
  /** Fidelity is certified: no later step can change the minimax fidelity */
  certified: boolean;
  /** Weakest token: the token with the weakest peak signal */
  node: string;
  /** Time of the minimax fidelity: the step at which the weakest token’s signal peaks; null: approached, never attained */
  time: Maybe;
  /** number of steps that were searched */
  steps: number;
}

/** Speed and fidelity of one head, or of all heads together. */
export interface Metrics {
  /** Forward probability: least probability of a step forward, over the sources */
  forward_probability: Maybe;
  /** the paper's bound on T_mix from p */
  mixing_bound: MixingBound;
  /** one for each eps */
  mixing_time: {
    /** threshold of T_mix */
    eps: number;
    /** Mixing time T_mix(EPS): steps after which a walk from any token has reached the last one but for a chance of EPS */
    steps: Maybe;
  }[];
  /** numbers of steps to the sink */
  hitting_time: HittingTime;
  /** the same, every walk cut at the cutoff */
  truncated_hitting_time: HittingTime;
  /** Minimax fidelity: the weakest peak signal that any token delivers to the last one */
  minimax_fidelity: MinimaxFidelity;
  /** Node fidelity: the peak of this token’s signal at the last one */
  node_fidelity: number[];
  /** Node fidelity, upper end: what the node fidelity is at most; the same where it is certified */
  node_fidelity_upper: number[];
  /** Optimal fidelity time: the step at which this token’s signal peaks */
  optimal_time: Maybe[];
  /**
   * Averaged mixing time T_avg(EPS): steps after which the L1 distance to the last token, mean over all start tokens, is below
   * EPS
   */
  averaged_mixing_time?: {
    /** threshold of T_mix */
    eps: number;
    /**
     * Averaged mixing time T_avg(EPS): steps after which the L1 distance to the last token, mean over all start tokens, is below
     * EPS
     */
    steps: Maybe;
  }[];
  /** Averaged mixing time T_avg(EPS) by total variation: the same by the total variation, which is half of the L1 distance */
  averaged_mixing_time_tv?: {
    /** threshold of T_mix */
    eps: number;
    /** Averaged mixing time T_avg(EPS) by total variation: the same by the total variation, which is half of the L1 distance */
    steps: Maybe;
  }[];
  /**
   * Backward mixing time T_bwd(EPS): steps after which the backward walk from any token has reached the first one but for a
   * chance of EPS
   */
  backward_mixing_time?: {
    /** threshold of T_mix */
    eps: number;
    /**
     * Backward mixing time T_bwd(EPS): steps after which the backward walk from any token has reached the first one but for a
     * chance of EPS
     */
    steps: Maybe;
  }[];
  /** Normalised fidelity: minimax fidelity times the number of tokens; 1 where every token attends to all before it equally */
  normalised_fidelity?: Maybe;
  /** Normalised fidelity, upper end: what the normalised fidelity is at most; the same where it is certified */
  normalised_fidelity_upper?: Maybe;
  /**
   * Backward hitting time: expected steps of the backward walk, from each token to a token it attends to, from the last token to
   * the first
   */
  backward_hitting_time?: Maybe;
  /**
   * Bound of the minimax fidelity: backward hitting time over the number of tokens that count; the minimax fidelity never
   * exceeds it
   */
  fidelity_bound?: Maybe;
  /** Tightness of the bound: minimax fidelity over its bound; 1 where the bound is attained */
  fidelity_tightness?: Maybe;
  /** Tightness of the bound, upper end: what the tightness is at most; the same where the fidelity is certified */
  fidelity_tightness_upper?: Maybe;
}

/** The metrics of a head. */
export interface HeadMetrics {
  /** name of the head */
  name: string;
  /** Head weight: what the head counts in the combination */
  weight: number;
  /** Forward probability: least probability of a step forward, over the sources */
  forward_probability: Maybe;
  /** the paper's bound on T_mix from p */
  mixing_bound: MixingBound;
  /** one for each eps */
  mixing_time: {
    /** threshold of T_mix */
    eps: number;
    /** Mixing time T_mix(EPS): steps after which a walk from any token has reached the last one but for a chance of EPS */
    steps: Maybe;
  }[];
  /** numbers of steps to the sink */
  hitting_time: HittingTime;
  /** the same, every walk cut at the cutoff */
  truncated_hitting_time: HittingTime;
  /** Minimax fidelity: the weakest peak signal that any token delivers to the last one */
  minimax_fidelity: MinimaxFidelity;
  /** Node fidelity: the peak of this token’s signal at the last one */
  node_fidelity: number[];
  /** Node fidelity, upper end: what the node fidelity is at most; the same where it is certified */
  node_fidelity_upper: number[];
  /** Optimal fidelity time: the step at which this token’s signal peaks */
  optimal_time: Maybe[];
  /**
   * Averaged mixing time T_avg(EPS): steps after which the L1 distance to the last token, mean over all start tokens, is below
   * EPS
   */
  averaged_mixing_time?: {
    /** threshold of T_mix */
    eps: number;
    /**
     * Averaged mixing time T_avg(EPS): steps after which the L1 distance to the last token, mean over all start tokens, is below
     * EPS
     */
    steps: Maybe;
  }[];
  /** Averaged mixing time T_avg(EPS) by total variation: the same by the total variation, which is half of the L1 distance */
  averaged_mixing_time_tv?: {
    /** threshold of T_mix */
    eps: number;
    /** Averaged mixing time T_avg(EPS) by total variation: the same by the total variation, which is half of the L1 distance */
    steps: Maybe;
  }[];
  /**
   * Backward mixing time T_bwd(EPS): steps after which the backward walk from any token has reached the first one but for a
   * chance of EPS
   */
  backward_mixing_time?: {
    /** threshold of T_mix */
    eps: number;
    /**
     * Backward mixing time T_bwd(EPS): steps after which the backward walk from any token has reached the first one but for a
     * chance of EPS
     */
    steps: Maybe;
  }[];
  /** Normalised fidelity: minimax fidelity times the number of tokens; 1 where every token attends to all before it equally */
  normalised_fidelity?: Maybe;
  /** Normalised fidelity, upper end: what the normalised fidelity is at most; the same where it is certified */
  normalised_fidelity_upper?: Maybe;
  /**
   * Backward hitting time: expected steps of the backward walk, from each token to a token it attends to, from the last token to
   * the first
   */
  backward_hitting_time?: Maybe;
  /**
   * Bound of the minimax fidelity: backward hitting time over the number of tokens that count; the minimax fidelity never
   * exceeds it
   */
  fidelity_bound?: Maybe;
  /** Tightness of the bound: minimax fidelity over its bound; 1 where the bound is attained */
  fidelity_tightness?: Maybe;
  /** Tightness of the bound, upper end: what the tightness is at most; the same where the fidelity is certified */
  fidelity_tightness_upper?: Maybe;
}

/** One system of heads: `synergraph graph --json`. */
export interface SystemDocument {
  /** name of the document */
  schema: 'synergraph.graph';
  /** grows when a field changes its meaning or is removed */
  schema_version: 1;
  /** version of the program */
  program: string;
  /** instruction set of the kernels */
  isa?: string;
  /** how it was measured */
  settings: Settings;
  /** names of the nodes, the sink last */
  nodes: string[];
  /** each head alone */
  heads: HeadMetrics[];
  /** all heads together */
  combined: Metrics;
  /** the paper's bound from effective_forward_probability */
  effective_bound: MixingBound;
  /** the same with the best weights */
  adaptive_bound: MixingBound;
  /** name of the best head */
  best_head: string;
  /** Best head is decided: no other head can be more faithful */
  best_head_decided: boolean;
  /** Fidelity of the best head, upper end: what the fidelity of the best head is at most; the same where it is certified */
  best_head_fidelity_upper: number;
  /** Synergy, lower end: what the synergy is at least; the same where fidelities are certified */
  synergy_lower: Maybe;
  /** Synergy, upper end: what the synergy is at most; the same where fidelities are certified */
  synergy_upper: Maybe;
  /** whether the synergy is above 1; null: undecided */
  synergy_present: boolean | null;
  /** whether the mixing synergy is above 1 */
  mixing_synergy_present: boolean;
  /** Fidelity of the best head: minimax fidelity of the head that is best alone, on each sample its own */
  best_head_fidelity: number;
  /** Synergy: fidelity of all heads together over that of the best head; above 1 they beat their best member */
  synergy: Maybe;
  /** Mixing synergy: mixing time of the fastest head over that of all together, both by the per-head walk and the first eps */
  mixing_synergy: Maybe;
  /** Cross-head share: share of the weakest signal that changes head on its way */
  cross_head_share: Maybe;
  /** Effective forward probability: the heads’ forward probabilities, weighted */
  effective_forward_probability: Maybe;
  /** with --monte-carlo: estimate of the same mean */
  monte_carlo?: {
    /**
     * Hitting time, mean, cut: expected steps of a random walk to the last token, every walk cut at the cutoff, mean over all
     * start tokens: the paper’s mixing time
     */
    truncated_hitting_mean: number;
    /** of the mean */
    standard_error: number;
    /** holds with probability 0.95, even if no walk met a rare event */
    error_bound_95: number;
  };
}

/** Sizes of a model. */
export interface ModelShape {
  /** number of different tokens */
  vocabulary: number;
  /** tokens per sequence */
  length: number;
  /** features per token */
  width: number;
  /** heads per layer */
  heads: number;
  /** number of layers */
  layers: number;
  /** hidden units of each MLP */
  hidden: number;
  /** if only the file name gives the number of heads */
  heads_from?: 'file name';
  /** device that ran the model, if not the CPU */
  device?: string;
}

/** How well a model does its task. */
export interface Score {
  /** share of the tokens that are right */
  accuracy: Maybe;
  /** mean cross entropy */
  loss: Maybe;
}

/** How well a model does a task, and what attention adds. */
export interface TaskScore {
  /** name of the task */
  name: string;
  /** share of the tokens that are right */
  accuracy: Maybe;
  /** mean cross entropy */
  loss: Maybe;
  /** with every head off */
  without_attention?: Score;
  /** with the heads of each layer off */
  without_layer?: Score[];
}

/** Numbers over samples, by quantity. Numbers that were not measured are absent. */
export interface Summaries {
  [quantity: string]: Summary;
}

/** A head over samples. */
export interface LayerHead {
  /** number of the head */
  head: number;
  /** Head weight: what the head counts in the combination */
  weight: number;
  /** Samples in which it is the best head: share of the samples in which this head has the largest fidelity */
  best_share: number;
  [quantity: string]: number | Summary;
}

/** A layer over samples. */
export interface LayerDocument {
  /** name of the tensor, or number of the layer */
  name: string;
  /** number of samples, or of their sequences if there are several sinks */
  samples: number;
  /** number of sinks of each sample, if several; the summaries are over means over the sinks */
  sinks?: number;
  /** number of tokens */
  tokens: number;
  /** all heads together */
  combined: Summaries;
  /** the head that is best in most samples */
  best_head: number;
  /** number of samples in which fidelities that are not certified leave the best head open */
  best_head_undecided?: number;
  /** Samples with synergy: share of the samples in which the synergy is above 1 */
  synergy_share: number;
  /** number of samples in which such fidelities leave the synergy open */
  synergy_undecided?: number;
  /** Fidelity of the best head: minimax fidelity of the head that is best alone, on each sample its own */
  best_head_fidelity: Summary;
  /** Synergy: fidelity of all heads together over that of the best head; above 1 they beat their best member */
  synergy: Summary;
  /** Mixing synergy: mixing time of the fastest head over that of all together, both by the per-head walk and the first eps */
  mixing_synergy?: Summary;
  /** Cross-head share: share of the weakest signal that changes head on its way */
  cross_head_share: Summary;
  /** Effective forward probability: the heads’ forward probabilities, weighted */
  effective_forward_probability?: Summary;
  /** each head alone; numbers of walks with --per-head only */
  heads: LayerHead[];
}

/** Layers over samples: `synergraph analyze --json`. */
export interface AnalyzeDocument {
  /** name of the document */
  schema: 'synergraph.analyze';
  /** grows when a field changes its meaning or is removed */
  schema_version: 2 | 3;
  /** version of the program */
  program: string;
  /** instruction set of the kernels */
  isa?: string;
  /** what was measured */
  source: 'attention' | 'model';
  /** where the head weights come from */
  weights: 'uniform' | 'learned' | 'given' | 'moved';
  /** first token and end that were chosen; an end of null: to the last. null: see sequences */
  range: [number | null, number | null] | null;
  /** sample, first token and end of each sequence, if samples are cut differently */
  sequences?: [number, number, number][];
  /** a node takes the missing mass */
  missing_mass?: 'node';
  /** weights of the edges, if not attention; weights of heads are then means over tokens and samples */
  edges?: 'norm' | 'contribution';
  /** for a checkpoint */
  model?: ModelShape;
  /** with --task */
  task?: TaskScore;
  /**
   * devices that measured, with their precision, and how many systems the CPU measured instead; absent: the CPU measured
   * everything, in float64
   */
  device?: string;
  /** one, or two with --convention both */
  conventions: {
    /** definitions to measure by */
    convention: Convention;
    /** how it was measured */
    settings: Settings;
    /** each layer */
    layers: LayerDocument[];
  }[];
}

/** How values of heads were measured. */
export interface HeadsSettings {
  /** how the heads are combined into one walk: per-head (as in the theory), pooled, or published */
  normalization: 'per-head' | 'pooled' | 'published';
  /** nodes that count for the minimax fidelity: sources or all */
  fidelity_nodes: 'sources' | 'all';
  /**
   * tokens whose fidelity counts, counted from the first measured token: such as 5, 0-7, 0,3,9 or ::4; negative numbers count
   * from the end. Of several, the weakest counts
   */
  from_tokens?: string;
  /** number of diffusion steps to search, or 'certified': as many as the proof needs */
  horizon: 'certified' | number;
  /** threshold of T_mix */
  eps: number[];
  /** cutoff for truncated hitting times, in steps */
  cutoff: number;
  /**
   * limit on diffusion steps; a fidelity that is not certified by then is reported as an interval. 0: no limit, later steps are
   * searched by squaring
   */
  step_limit?: number;
  /** share of the value of all heads that the smallest subset keeps */
  keep: number;
  /** largest number of heads for which all subsets of a layer are measured; larger layers are sampled */
  exact_heads: number;
  /**
   * number of first samples whose heads are also measured with the weights of each row permuted among its allowed keys, to tell
   * structure from chance; doubles the time of these samples. 0: no claims about pairs, better sets or other weights
   */
  null_samples?: number;
  /** if a layer was sampled */
  sampling?: {
    /** seed of the random orders */
    seed: number;
    /** standard error at which sampling stops, as a share of the value of all heads */
    precision: number;
    /** limit on the random orders of heads drawn per sample of a sampled layer (drawn in whole balanced sets, at least eight) */
    max_permutations: number;
  };
}

/** A set of heads and its value. */
export interface SubsetChoice {
  /** numbers of the heads */
  heads: number[];
  /** value of the set */
  value: number;
}

/** Values of the first heads in an order. */
export interface PruningPath {
  /** numbers of the heads */
  order: number[];
  /** value of the first k heads, k from 0 */
  value: number[];
  /** loss against the best k heads */
  loss?: number[];
}

/** Shapley interaction index of a set of heads. */
export interface Interaction {
  /** numbers of the heads */
  heads: number[];
  /** over the samples */
  mean: Maybe;
  /** standard error */
  error: Maybe;
}

/** A claim about heads, judged on samples that did not choose it. */
export interface HeldOutClaim {
  /** numbers of the heads */
  heads: number[];
  /** share of the value of all heads */
  size: Maybe;
  /** bound on the chance that permuted rows do as well */
  chance: Maybe;
  /** whether the summary says it */
  named: boolean;
}

/** Claims about a layer that other samples judged. */
export interface HeldOutClaims {
  /** number of samples that judge */
  samples: number;
  /** the most redundant pair */
  redundant: HeldOutClaim | null;
  /** the most complementary pair */
  complementary: HeldOutClaim | null;
  /** the set that is worth most more than all heads */
  better_set: HeldOutClaim | null;
  /** the head whose removal gains most */
  better_without: HeldOutClaim | null;
  /** the best weights */
  other_weights: HeldOutClaim | null;
}

/** The outcome of a search for weights. */
export interface BestWeights {
  /** number of samples of the search */
  samples: number;
  /** the best weights that were found */
  weights: number[];
  /** value with these weights */
  value: Maybe;
  /** value with the given weights */
  given_value: Maybe;
  /** no weights are worth more */
  bound: Maybe;
  /** the bound if every node could choose its head at every step */
  simple_bound: Maybe;
  /** the value is only approached as some positive weight tends to 0 */
  limit?: boolean;
  /** no other weights are better */
  optimal: boolean;
  /** norm of the projected gradient at the end */
  gradient_norm: Maybe;
  /** number of starts of the search */
  starts: number;
  /** number of iterations of the search */
  iterations: number;
  /** the paper's choice of one head */
  adaptive: {
    /** the head with the largest forward probability: the paper's theorem gives it all weight */
    head: number;
    /** Forward probability: least probability of a step forward, over the sources */
    forward_probability: number;
    /** value of this head alone */
    value: Maybe;
    /** the paper's bound on its T_mix */
    steps: Maybe;
    /** least eps for which the bound holds */
    valid_from_eps: Maybe;
  };
}

/** What the heads of a layer are worth, by one value. */
export interface LayerValue {
  /** what the value of a set of heads measures */
  value: HeadValue;
  /** value of all heads together */
  all: Estimate;
  /** no set's value is further than this above its number; 0: all are certified */
  gap: number;
  /** each head */
  heads: {
    /** number of the head */
    head: number;
    /** Shapley value: the head’s part of the value of all: what it adds to those before it in a random order, on average */
    shapley: Estimate;
    /** Banzhaf value: what the head adds to a random set of the others */
    banzhaf: Estimate;
    /** Value alone: the value of this head as the only one */
    alone: Estimate;
    /** Lost without it: what all heads lose without this one; below 0 they are better without it */
    dropped: Estimate;
  }[];
  /** heads that carry the value */
  carriers?: {
    /** the fewest heads whose Shapley values make 80 % of the value of all */
    heads: number[];
    /** share that they make */
    share: Maybe;
  };
  /** heads without which the layer is better, clear of chance, the worst first */
  better_without?: number[];
  /** Interaction: Shapley interaction index of a pair: above 0 complementary, below 0 redundant */
  pairs: Interaction[];
  /** the same of three heads; none if sampled */
  triples: Interaction[];
  /** what fewer heads are worth */
  pruning: {
    /** number of samples in the means */
    samples: number;
    /** the best set of every size from 0 */
    best: {
      /** the best set */
      heads: number[];
      /** its value */
      value: number;
      /** no other set of this size is better */
      certified: boolean;
    }[];
    /** greedy addition takes the heads in this order */
    greedy_addition: PruningPath;
    /** greedy removal leaves the heads in this order */
    greedy_removal: PruningPath;
    /** heads by falling Shapley value */
    shapley: PruningPath;
  };
  /** the fewest heads that keep `keep` of the value of all */
  smallest: SubsetChoice;
  /** number of sets that are worth more than all heads; if sampled, of those in pruning.best */
  beating: number;
  /** the best of these sets */
  better: SubsetChoice | null;
  /** claims that are chosen on one half of the samples and judged on the other; null: too few samples */
  held_out?: HeldOutClaims | null;
  /** after a search for weights */
  best_weights?: BestWeights;
}

/** What the loss needs of the heads of a layer: of ablations. */
export interface LossValue {
  /** what the value of a set of heads measures */
  value: 'loss';
  /** value of all heads together */
  all: Estimate;
  /** no set's value is further than this above its number; 0: all are certified */
  gap: number;
  /** each head */
  heads: {
    /** number of the head */
    head: number;
    /** Shapley value: the head’s part of the value of all: what it adds to those before it in a random order, on average */
    shapley: Estimate;
    /** Banzhaf value: what the head adds to a random set of the others */
    banzhaf: Estimate;
    /** Value alone: the value of this head as the only one */
    alone: Estimate;
    /** Lost without it: what all heads lose without this one; below 0 they are better without it */
    dropped: Estimate;
  }[];
  /** heads that carry the value */
  carriers?: {
    /** the fewest heads whose Shapley values make 80 % of the value of all */
    heads: number[];
    /** share that they make */
    share: Maybe;
  };
  /** heads without which the layer is better, clear of chance, the worst first */
  better_without?: number[];
  /** Interaction: Shapley interaction index of a pair: above 0 complementary, below 0 redundant */
  pairs: Interaction[];
  /** the same of three heads; none if sampled */
  triples: Interaction[];
  /** what fewer heads are worth */
  pruning: {
    /** number of samples in the means */
    samples: number;
    /** the best set of every size from 0 */
    best: {
      /** the best set */
      heads: number[];
      /** its value */
      value: number;
      /** no other set of this size is better */
      certified: boolean;
    }[];
    /** greedy addition takes the heads in this order */
    greedy_addition: PruningPath;
    /** greedy removal leaves the heads in this order */
    greedy_removal: PruningPath;
    /** heads by falling Shapley value */
    shapley: PruningPath;
  };
  /** the fewest heads that keep `keep` of the value of all */
  smallest: SubsetChoice;
  /** number of sets that are worth more than all heads; if sampled, of those in pruning.best */
  beating: number;
  /** the best of these sets */
  better: SubsetChoice | null;
  /** claims that are chosen on one half of the samples and judged on the other; null: too few samples */
  held_out?: HeldOutClaims | null;
  /** after a search for weights */
  best_weights?: BestWeights;
}

/** Signals through all layers, each applied once. */
export interface Stack {
  /** share of the signal that passes beside the heads; measured: see shares */
  residual: number | 'measured';
  /** token that is followed; null: the weakest of each sample */
  token: number | null;
  /** number of samples */
  samples: number;
  /** number of samples in which the token has no signal */
  without_signal: number;
  /** the weakest signal through all layers */
  fidelity: Estimate;
  /** 1: the sink hears one token; n: it hears all n tokens equally */
  effective_tokens: Estimate;
  /** signal of each node */
  signal: Estimate[];
  /** number of samples in which each node is the weakest */
  weakest: number[];
  /** each layer */
  layers: {
    /** name of the layer */
    name: string;
    /** share of the token's signal that passes beside the heads */
    residual: Estimate;
    /**
     * Share of the weakest token’s signal: of the signal that the followed token sends through all layers, the part that passes
     * through this head; the rest of a layer passes beside its heads
     */
    heads: Estimate[];
  }[];
  /** the same of all that reaches the sink from the tokens of --from, or from any token */
  shares?: {
    /** name of the layer */
    name: string;
    /** share of the token's signal that passes beside the heads */
    residual: Estimate;
    /**
     * Share of the weakest token’s signal: of the signal that the followed token sends through all layers, the part that passes
     * through this head; the rest of a layer passes beside its heads
     */
    heads: Estimate[];
  }[];
  /** maximum flow of each node to the sink, with method flow */
  flow?: Estimate[];
}

/** What heads are worth: `synergraph heads --json`. */
export interface HeadsDocument {
  /** name of the document */
  schema: 'synergraph.heads';
  /** grows when a field changes its meaning or is removed */
  schema_version: 1 | 2;
  /** version of the program */
  program: string;
  /** instruction set of the kernels */
  isa?: string;
  /** what was measured */
  source: 'attention' | 'model' | 'graph';
  /** where the head weights come from */
  weights: 'uniform' | 'learned' | 'given' | 'graph' | 'moved';
  /** first token and end that were chosen; an end of null: to the last. null: see sequences */
  range: [number | null, number | null] | null;
  /** sample, first token and end of each sequence, if samples are cut differently */
  sequences?: [number, number, number][];
  /** a node takes the missing mass */
  missing_mass?: 'node';
  /** weights of the edges, if not attention; weights of heads are then means over tokens and samples */
  edges?: 'norm' | 'contribution';
  /** for a checkpoint */
  model?: ModelShape;
  /** with --task */
  task?: TaskScore;
  /**
   * devices that measured, with their precision, and how many systems the CPU measured instead; absent: the CPU measured
   * everything, in float64
   */
  device?: string;
  /** definitions to measure by */
  convention: Convention;
  /** how it was measured */
  settings: HeadsSettings;
  /** for a graph */
  head_names?: string[];
  /** for a graph */
  token_names?: string[];
  /** the findings in words */
  summary: string[];
  /** each layer */
  layers: {
    /** name of the tensor, or number of the layer */
    name: string;
    /** number of samples */
    samples: number;
    /** number of tokens */
    tokens: number;
    /** of the heads, normalised */
    weights: number[];
    /** false: subsets were sampled */
    exact: boolean;
    /** number of sampled orders of the heads */
    permutations: number;
    /** whether sampling reached the precision */
    precise: boolean;
    /** one for each value */
    values: LayerValue[];
    /** for a checkpoint whose loss was measured */
    loss?: {
      /** nats that all heads win over none */
      won: number;
      /** nats of each head */
      shapley: number[];
      /** of these with the Shapley values of each value */
      rank_correlation: Record<string, Maybe>;
      /** what heads that are off give */
      ablation?: 'zero' | 'mean';
      /** all indices of the loss; no standard errors: of the mean over all sequences */
      value?: LossValue;
      /** the same of the accuracy */
      accuracy?: {
        /** accuracy that all heads win over none */
        won: number;
        /** of each head */
        shapley: number[];
      };
    };
    /**
     * for a checkpoint that runs on the CPU: L1 contribution of each head beside the residual's, mean over tokens of the first
     * 20 samples
     */
    moved?: number[];
  }[];
  /** with --stack */
  stack?: Stack;
}

/** What the loss loses without heads: `sg.ablate`. */
export interface AblationDocument {
  /** name of the document */
  schema: 'synergraph.ablation';
  /** grows when a field changes its meaning or is removed */
  schema_version: 1;
  /** version of the program */
  program: string;
  /** instruction set of the kernels */
  isa?: string;
  /** what is ablated */
  loss: {
    /** name of the loss */
    name: string;
    /** loss of the model as it is */
    intact: Estimate;
    /** with every head of every layer off */
    without_attention: Estimate;
    /** the difference */
    needed: Estimate;
  };
  /** how it was measured */
  settings: {
    /** what heads that are off give */
    kind: 'zero' | 'mean';
    /** share of the value of all heads that the smallest subset keeps */
    keep: number;
    /** largest number of heads for which all subsets of a layer are measured; larger layers are sampled */
    exact_heads: number;
    /** standard error at which sampling stops, as a share of the value of all heads */
    precision: number;
    /** limit on the random orders of heads drawn per sample of a sampled layer (drawn in whole balanced sets, at least eight) */
    orders: number;
    /** seed of the random orders */
    seed: number;
    /** whether pairs of sampled layers were measured */
    pairs: boolean;
  };
  /** the findings in words */
  summary: string[];
  /** each layer */
  layers: {
    /** name of the tensor, or number of the layer */
    name: string;
    /** number of samples */
    samples: number;
    /** number of tokens */
    tokens: number;
    /** null: heads are on or off */
    weights: null;
    /** false: subsets were sampled */
    exact: boolean;
    /** number of sampled orders of the heads */
    permutations: number;
    /** whether sampling reached the precision */
    precise: boolean;
    /** one for each value */
    values: LossValue[];
  }[];
}

/** How numbers agree with the loss: `sg.ablate(...).compare(...)`. */
export interface AgreementDocument {
  /** name of the document */
  schema: 'synergraph.agreement';
  /** grows when a field changes its meaning or is removed */
  schema_version: 1;
  /** version of the program */
  program: string;
  /** instruction set of the kernels */
  isa?: string;
  /** name of the loss's index */
  reference: string;
  /** numbers that are compared with the loss */
  numbers: {
    /** name of the number */
    name: string;
    /** ranked within layers, all layers together */
    pooled: {
      /** Spearman's rank correlation; null: numbers do not vary */
      rho: Maybe;
      /** by permutations within layers */
      p: Maybe;
      /** the smallest p that so many heads can give */
      smallest_p: Maybe;
    };
    /** number of heads behind pooled */
    heads: number;
    /** each layer */
    layers: {
      /** Spearman's rank correlation; null: numbers do not vary */
      rho: Maybe;
      /** by permutations within layers */
      p: Maybe;
      /** the smallest p that so many heads can give */
      smallest_p: Maybe;
      /** name of the layer */
      layer: string;
      /** number of heads */
      heads: number;
    }[];
  }[];
}

/** How one number differs between two results. */
export interface NumberComparison {
  /** mean of the finite values in A; of pairs, of those that are finite in both */
  a: Maybe;
  /** likewise in B */
  b: Maybe;
  /** b - a */
  difference: Maybe;
  /** lower end of the interval; null: no interval is possible */
  low: Maybe;
  /** upper end */
  high: Maybe;
  /** two-sided p-value of Student's t, not corrected */
  p: Maybe;
  /** the same after Holm's correction */
  p_corrected: Maybe;
  /** number of values behind the mean in A */
  samples_a: number;
  /** likewise in B */
  samples_b: number;
  /** number of samples of A with an infinite value, left out */
  never_a: number;
  /** likewise of B */
  never_b: number;
}

/** What differs between two results: `synergraph compare --json`. */
export interface CompareDocument {
  /** name of the document */
  schema: 'synergraph.compare';
  /** grows when a field changes its meaning or is removed */
  schema_version: 1;
  /** version of the program */
  program: string;
  /** instruction set of the kernels */
  isa?: string;
  /** name of result A */
  a: string;
  /** name of result B */
  b: string;
  /** definitions that both were measured by */
  convention: Convention;
  /** whether sample k of A is compared with sample k of B */
  paired: boolean;
  /** why samples are paired, or not */
  why: string;
  /** what was left out */
  notes: string[];
  /** coverage of the intervals */
  level: number;
  /** number of tests that are corrected together: all layers and quantities */
  layer_tests: number;
  /** the same of single heads */
  head_tests: number;
  /** each layer */
  layers: {
    /** name of the layer in A */
    name: string;
    /** name of the layer in B */
    name_b: string;
    /** all heads together */
    combined: {
      [quantity: string]: NumberComparison;
    };
    /** each head alone; empty if A and B have other numbers of heads */
    heads: {
      [quantity: string]: NumberComparison;
    }[];
  }[];
}

/** Graphs of families: `synergraph families --json`, `sg.families`. */
export interface FamiliesDocument {
  /** name of the document */
  schema: 'synergraph.families';
  /** grows when a field changes its meaning or is removed */
  schema_version: 1;
  /** version of the program */
  program: string;
  /** instruction set of the kernels */
  isa?: string;
  /** what the graphs were measured with */
  settings: {
    /** threshold of the mixing times */
    eps: number;
    /** limit on the steps of walks and diffusion */
    step_limit: number;
  };
  /** each graph, in the order of families, numbers of nodes and seeds */
  graphs: {
    /** description of the family, or name of the file */
    family: string;
    /** number of nodes */
    nodes: number;
    /** seed of the graph; null: not random */
    seed: number | null;
    /** number of edges, self-loops included */
    edges: number;
    /** of the graph */
    numbers: {
      /** as in docs/graphs.md; null: infinite */
      averaged_mixing_time: Maybe;
      /** as in docs/graphs.md; null: infinite */
      averaged_mixing_time_tv: Maybe;
      /** as in docs/graphs.md; null: infinite */
      mixing_time: Maybe;
      /** as in docs/graphs.md; null: infinite */
      hitting_mean: Maybe;
      /** as in docs/graphs.md; null: infinite */
      minimax_fidelity: Maybe;
      /** as in docs/graphs.md; null: infinite */
      minimax_fidelity_upper: Maybe;
      /** as in docs/graphs.md; null: infinite */
      normalised_fidelity: Maybe;
      /** as in docs/graphs.md; null: infinite */
      backward_hitting_time: Maybe;
      /** as in docs/graphs.md; null: infinite */
      backward_mixing_time: Maybe;
      /** as in docs/graphs.md; null: infinite */
      fidelity_bound: Maybe;
    };
    /** no step limit was reached; otherwise mixing times are lower limits */
    exact: boolean;
  }[];
}

/** Designs that a search found: `synergraph design --json`, `sg.design`. */
export interface DesignDocument {
  /** name of the document */
  schema: 'synergraph.design';
  /** grows when a field changes its meaning or is removed */
  schema_version: 1;
  /** version of the program */
  program: string;
  /** instruction set of the kernels */
  isa?: string;
  /** what was looked for */
  settings: {
    /** number of nodes */
    size: number;
    /** number of heads */
    heads: number;
    /** budget of edges, self-loops included */
    edges: number;
    /** limit on the averaged mixing time */
    averaged_mixing: number;
    /** limit on the mixing time; null: none */
    mixing: number | null;
    /** threshold of the mixing times */
    eps: number;
    /** what searches started from */
    starts: string[];
    /** number of budgets and of limits */
    levels: number;
    /** seed of the searches */
    seed: number;
  };
  /** number of searches */
  searches: number;
  /** moves that each search tried */
  steps: number;
  /** all moves that were asked for were tried */
  finished: boolean;
  /** the best design of each search, the most faithful first */
  designs: {
    /** what the search started from */
    start: string;
    /** budget of this search */
    edge_limit: number;
    /** its limit on the averaged mixing time */
    averaged_mixing_limit: number;
    /** no other design is better in edges, time or fidelity and not worse in the others */
    front: boolean;
    /** measured anew: exact, within the limits, and not below what the search had */
    certified: boolean;
    /** edges of all heads, self-loops included */
    edges: number;
    /** of the heads together */
    numbers: {
      /** as in docs/graphs.md; null: infinite */
      averaged_mixing_time: Maybe;
      /** as in docs/graphs.md; null: infinite */
      averaged_mixing_time_tv: Maybe;
      /** as in docs/graphs.md; null: infinite */
      mixing_time: Maybe;
      /** as in docs/graphs.md; null: infinite */
      hitting_mean: Maybe;
      /** as in docs/graphs.md; null: infinite */
      minimax_fidelity: Maybe;
      /** as in docs/graphs.md; null: infinite */
      minimax_fidelity_upper: Maybe;
      /** as in docs/graphs.md; null: infinite */
      normalised_fidelity: Maybe;
      /** as in docs/graphs.md; null: infinite */
      backward_hitting_time: Maybe;
      /** as in docs/graphs.md; null: infinite */
      backward_mixing_time: Maybe;
      /** as in docs/graphs.md; null: infinite */
      fidelity_bound: Maybe;
    };
    /** each head */
    heads: {
      /** self-loops included */
      edges: number;
      /** of the head alone */
      minimax_fidelity: number;
    }[];
    /** fidelity of the heads together over that of the best head; null: all heads have 0 */
    synergy: Maybe;
  }[];
}

/** Tensors in a file: `synergraph inspect --json`. */
export interface InspectDocument {
  /** name of the document */
  schema: 'synergraph.inspect';
  /** grows when a field changes its meaning or is removed */
  schema_version: 1;
  /** version of the program */
  program: string;
  /** as given */
  file: string;
  /** format of the file */
  format: 'NumPy array' | 'NumPy archive' | 'safetensors' | 'PyTorch archive';
  /** arrays that can be read */
  tensors: {
    /** name of the tensor */
    name: string;
    /** type of the elements */
    dtype: 'bool' | 'uint8' | 'int8' | 'uint16' | 'int16' | 'uint32' | 'int32' | 'uint64' | 'int64' | 'float16' | 'bfloat16' | 'float32' | 'float64';
    /** extents */
    shape: number[];
    /** number of elements */
    elements: number;
    /** size */
    bytes: number;
  }[];
  /** arrays that cannot be read */
  skipped: {
    /** name of the array */
    name: string;
    /** why it is skipped */
    reason: string;
  }[];
  /** texts by their keys */
  metadata: Record<string, string>;
}

/** A layer of a trained model. Numbers that do not exist on any sample are absent. */
export interface LayerOfModel {
  /** number of samples in which all heads together beat the best head */
  with_synergy: number;
  /** Spearman's, of truncated hitting time and fidelity over the samples */
  rank_correlation: Maybe;
  [quantity: string]: Summary | number | Maybe;
}

/** A value beside the paper's. */
export interface Compared {
  /** the paper's value */
  published: {
    mean: Maybe;
    std: Maybe;
  };
  /** the value that was measured */
  ours: {
    mean: Maybe;
    std: Maybe;
  };
  /** of the means */
  difference: Maybe;
  /** of the difference */
  standard_error: Maybe;
  /** in standard errors, beyond rounding */
  deviation: Maybe;
  /** whether the deviation is at most `agreement` */
  agrees: boolean;
}

/** The paper's models measured again: `synergraph verify --json`. */
export interface VerifyDocument {
  /** name of the document */
  schema: 'synergraph.verify';
  /** grows when a field changes its meaning or is removed */
  schema_version: 2;
  /** version of the program */
  program: string;
  /** instruction set of the kernels */
  isa?: string;
  /** number of random sequences */
  samples: number;
  /** seed of the sequences */
  seed: number;
  /** number of standard errors up to which a value agrees */
  agreement: number;
  /** each model */
  models: {
    /** task of the model */
    task: string;
    /** heads per layer */
    heads: number;
    /** on the random sequences */
    accuracy: number;
    /** whether all values agree */
    agrees: boolean;
    /** each layer */
    layers: {
      /** number of the layer, from 1 as in the paper */
      layer: number;
      /**
       * Hitting time, mean, cut: expected steps of a random walk to the last token, every walk cut at the cutoff, mean over all
       * start tokens: the paper’s mixing time
       */
      mixing_time: Compared;
      /** Minimax fidelity: the weakest peak signal that any token delivers to the last one */
      fidelity: Compared;
      /** Fidelity of the best head: minimax fidelity of the head that is best alone, on each sample its own */
      best_head_fidelity: Interval;
      /** Minimax fidelity: the weakest peak signal that any token delivers to the last one */
      combined_fidelity: Interval;
      /** Samples with synergy: share of the samples in which the synergy is above 1 */
      synergy_share: Interval;
      /** if the paper has them */
      published_single_sequence?: {
        /** Fidelity of the best head: minimax fidelity of the head that is best alone, on each sample its own */
        best_head_fidelity: number;
        /** Minimax fidelity: the weakest peak signal that any token delivers to the last one */
        combined_fidelity: number;
      };
      /** by the exact convention */
      exact: LayerOfModel;
      /** by the published convention */
      published: LayerOfModel;
    }[];
  }[];
}

/** Settings of a study. */
export interface StudySettings {
  /** tasks of the models */
  tasks: string[];
  /** head counts of the models */
  heads: number[];
  /** seeds of the models */
  seeds: number[];
  /** as in checkpoints */
  training: {
    batch: string;
    beta1: string;
    beta2: string;
    dropout: string;
    epochs: string;
    epsilon: string;
    hidden: string;
    layers: string;
    learning_rate: string;
    length: string;
    sequences: string;
    vocabulary: string;
    width: string;
  };
  /** number of sequences that are measured */
  samples: number;
  /** threshold of T_mix */
  eps: number[];
  /** cutoff for truncated hitting times, in steps */
  cutoff: number;
  /** steps of the published convention's fidelity */
  horizon: number;
  /** number of sequences on which all subsets are measured */
  subset_samples?: number;
}

/** Numbers of a layer's subsets. */
export interface SubsetNumbers {
  all: Maybe;
  best_head: Maybe;
  best_subset: Maybe;
  equal_weights: Maybe;
  best_weights: Maybe;
  bound: Maybe;
  largest_share: Maybe;
  best_size: Maybe;
  sufficient: Maybe;
  synergy_size: Maybe;
  dispensable: Maybe;
  redundant_pairs: Maybe;
  complementary_pairs: Maybe;
}

/** A trained model. */
export interface Cell {
  /** task of the model */
  task: string;
  /** heads per layer */
  heads: number;
  /** seed of the model */
  seed: number;
  /** share of the tokens that are right */
  accuracy: Maybe;
  /** mean cross entropy */
  loss: Maybe;
  /** whether the model learned its task */
  learned: boolean;
  /** the same sequences with heads switched off */
  control?: {
    /** with every head off */
    without_attention: Score;
    /** with the heads of each layer off */
    without_layer: Score[];
  };
  /** each layer by the exact convention */
  exact: LayerOfModel[];
  /** each layer by the published convention */
  published: LayerOfModel[];
  /** each layer; none if subsets were not measured */
  subsets?: {
    /** by this value */
    fidelity: SubsetNumbers;
    /** by this value */
    speed: SubsetNumbers;
  }[];
}

/** A test by ranks. */
export interface Test {
  /** of the test */
  statistic: Maybe;
  /** size of the effect, from -1 to 1 */
  effect: Maybe;
  /** p value */
  p: Maybe;
  /** the smallest p that data of this shape can give */
  smallest_p: Maybe;
  /** how p was computed */
  method: 'exact' | 'permutations';
}

/** A number over seeds. */
export interface OfSeeds {
  /** one per seed */
  values: Maybe[];
  /** with Student's 95 % interval */
  mean: Interval;
}

/** How many of how many layers. */
export interface Tally {
  count: number;
  of: number;
}

/** Subsets of heads over seeds. */
export interface SubsetFinding {
  /** task of the models */
  task: string;
  /** heads per layer */
  heads: number;
  /** number of the layer, from 1; null: means over the layers of a model */
  layer: number | null;
  /** value of the subsets */
  value: HeadValue;
  /** number of sequences of each model */
  samples: number;
  all: OfSeeds;
  best_head: OfSeeds;
  best_subset: OfSeeds;
  equal_weights: OfSeeds;
  best_weights: OfSeeds;
  bound: OfSeeds;
  largest_share: OfSeeds;
  best_size: OfSeeds;
  sufficient: OfSeeds;
  synergy_size: OfSeeds;
  dispensable: OfSeeds;
  redundant_pairs: OfSeeds;
  complementary_pairs: OfSeeds;
  /** `all` over `best_weights` */
  learned_share: OfSeeds;
  /** `equal_weights` over `best_weights` */
  equal_share: OfSeeds;
  /** `all` over `bound` */
  proven_share: OfSeeds;
  /** layers in which some subset is worth more than the best head */
  synergy: Tally;
  /** those of them in which fewer than all heads suffice for that */
  fewer_synergy: Tally;
  /** layers in which some subset is worth more than all heads */
  better: Tally;
}

/** What the models of a study say over seeds. */
export interface Findings {
  /** number of seeds */
  seeds: number;
  /** the findings in words */
  statements: string[];
  /** every quantity over seeds */
  summaries: {
    /** task of the models */
    task: string;
    /** heads per layer */
    heads: number;
    /** number of the layer, from 1 as in the paper */
    layer: number;
    /** definitions to measure by */
    convention: Convention;
    /** key of the quantity */
    quantity: string;
    /** one per seed */
    values: Maybe[];
    /** with Student's 95 % interval */
    mean: Interval;
    /** over the seeds */
    std: Maybe;
  }[];
  /** trends along the head counts */
  trends: {
    /** task of the models */
    task: string;
    /** number of the layer, from 1 as in the paper */
    layer: number;
    /** definitions to measure by */
    convention: Convention;
    /** claim of the paper */
    claim: 'more heads mix faster' | 'more heads are more faithful';
    /** test of the claim */
    test: Test;
    /** p for all claims together */
    corrected_p: Maybe;
  }[];
  /** how often all heads beat the best head */
  synergy: {
    /** task of the models */
    task: string;
    /** heads per layer */
    heads: number;
    /** number of the layer, from 1 as in the paper */
    layer: number;
    /** definitions to measure by */
    convention: Convention;
    /** share of the samples with synergy, with Wilson's 95 % interval */
    samples: Interval;
    /** share of the seeds with synergy, likewise */
    seeds: Interval;
    /** number of seeds */
    seed_count: number;
  }[];
  /** how speed and fidelity go together */
  speed_fidelity: {
    /** task of the models */
    task: string;
    /** definitions to measure by */
    convention: Convention;
    /** number of points */
    points: number;
    /** rank correlation of hitting time and fidelity */
    test: Test;
    /** median, over the points, of the correlation across samples */
    within_models: Maybe;
  }[];
  /** subsets of heads over seeds */
  subsets?: SubsetFinding[];
}

/** A study: `results.json` of `synergraph reproduce`. */
export interface Study {
  /** name of the document */
  schema: 'synergraph.reproduce';
  /** grows when a field changes its meaning or is removed */
  schema_version: 2;
  /** version of the program */
  program: string;
  /** instruction set of the kernels */
  isa?: string;
  /** devices that took part, in alphabetical order */
  devices?: {
    /** devices that trained the models */
    training: string[];
    /** devices that ran the models for measurement */
    forward_pass: string[];
  };
  /** grows when equal settings give other results */
  results_version: number;
  /** the grid of models, and how they are measured */
  settings: StudySettings;
  /** each model */
  cells: Cell[];
  /** what the models say over seeds */
  findings: Findings;
}

/** A layer in the file of a cell. */
export interface KeptLayer {
  /** samples, never, undefined, mean, std, min, median, max, 10 % and 90 % quantile */
  numbers: {
    [quantity: string]: [number | 'inf' | 'nan', number | 'inf' | 'nan', number | 'inf' | 'nan', number | 'inf' | 'nan', number | 'inf' | 'nan', number | 'inf' | 'nan', number | 'inf' | 'nan', number | 'inf' | 'nan', number | 'inf' | 'nan', number | 'inf' | 'nan'];
  };
  with_synergy: number;
  synergy_undecided: number;
  rank_correlation: number | 'inf' | 'nan';
}

/** The result of one model of a study, from which an interrupted study resumes. Infinite numbers are texts. */
export interface KeptCell {
  /** name of the file's format */
  schema: 'synergraph.cell';
  /** settings that the result belongs to */
  cell: string;
  loss: number | 'inf' | 'nan';
  accuracy: number;
  exact: KeptLayer[];
  published: KeptLayer[];
  subsets: {
    fidelity: {
      all: number | 'inf' | 'nan';
      best_head: number | 'inf' | 'nan';
      best_subset: number | 'inf' | 'nan';
      equal_weights: number | 'inf' | 'nan';
      best_weights: number | 'inf' | 'nan';
      bound: number | 'inf' | 'nan';
      largest_share: number | 'inf' | 'nan';
      best_size: number | 'inf' | 'nan';
      sufficient: number | 'inf' | 'nan';
      synergy_size: number | 'inf' | 'nan';
      dispensable: number | 'inf' | 'nan';
      redundant_pairs: number | 'inf' | 'nan';
      complementary_pairs: number | 'inf' | 'nan';
    };
    speed: {
      all: number | 'inf' | 'nan';
      best_head: number | 'inf' | 'nan';
      best_subset: number | 'inf' | 'nan';
      equal_weights: number | 'inf' | 'nan';
      best_weights: number | 'inf' | 'nan';
      bound: number | 'inf' | 'nan';
      largest_share: number | 'inf' | 'nan';
      best_size: number | 'inf' | 'nan';
      sufficient: number | 'inf' | 'nan';
      synergy_size: number | 'inf' | 'nan';
      dispensable: number | 'inf' | 'nan';
      redundant_pairs: number | 'inf' | 'nan';
      complementary_pairs: number | 'inf' | 'nan';
    };
  }[];
  /** loss and accuracy: intact, all heads off, each layer's heads off */
  control?: ([number | 'inf' | 'nan', number | 'inf' | 'nan'])[];
  /** devices */
  trained_on?: string[];
  /** device */
  run_on?: string;
  /** of what stands before it */
  checksum: string;
}

/** Notes of a training run. */
export interface RunNotes {
  /** name of the file's format */
  format: 'synergraph run 1';
  /** up to the last checkpoint */
  seconds: number;
  /** layers are measured every so many epochs; 0: never */
  track: number;
  /** whether held-out pairs judge the model */
  held_out: boolean;
  /** devices that trained the run, in the order of first use */
  devices?: string[];
}

/** A line of a training run's log. */
export interface LogLine {
  /** number of finished steps */
  step: number;
  /** number of begun epochs */
  epoch: number;
  /** of the last step */
  loss: Maybe;
  /** of the last step */
  accuracy: Maybe;
  /** with --track: numbers of each layer */
  layers?: {
    /** Mixing time T_mix(EPS): steps after which a walk from any token has reached the last one but for a chance of EPS */
    mixing_time: Maybe;
    /** Hitting time, mean: expected steps of a random walk to the last token, mean over all start tokens */
    hitting_time: Maybe;
    /**
     * Hitting time, mean, cut: expected steps of a random walk to the last token, every walk cut at the cutoff, mean over all
     * start tokens: the paper’s mixing time
     */
    truncated_time: Maybe;
    /** Minimax fidelity: the weakest peak signal that any token delivers to the last one */
    fidelity: Maybe;
    /** Fidelity of the best head: minimax fidelity of the head that is best alone, on each sample its own */
    best_head_fidelity: Maybe;
  }[];
  /** of the pairs that judge the model */
  held_out_loss?: Maybe;
  /** of the pairs that judge the model */
  held_out_accuracy?: Maybe;
  /** of the pairs that judge the model */
  training_pairs_loss?: Maybe;
  /** of the pairs that judge the model */
  training_pairs_accuracy?: Maybe;
  /** with --promote: what is promoted besides the task */
  promoted?: {
    /** mean over the sequences of the last epoch and all layers */
    fidelity?: Maybe;
    /** mean over the sequences of the last epoch and all layers */
    speed?: Maybe;
    /** mean over the sequences of the last epoch and all layers */
    entropy?: Maybe;
    /** layers of sequences whose speed is not finite */
    left_out?: number;
  };
  /** time since the run began */
  seconds: number;
}

/** Attention of some samples in a page. */
export interface EmbeddedAttention {
  /** number of tokens */
  tokens: number;
  /** names of the tokens */
  labels: string[] | null;
  /** the samples */
  samples: {
    /** number of the sample */
    number: number;
    /** if each sample has its own */
    labels?: string[];
  }[];
  /** the layers */
  layers: {
    /** name of the layer */
    name: string;
    /** names of the heads */
    heads: string[];
    /** in use */
    weights: number[];
    /** null: not known */
    learned_weights: number[] | null;
    /** the arrays */
    samples: {
      /** number of the sample */
      sample: number;
      /** one array for each head */
      heads: {
        /** first byte in the decoded arrays */
        offset: number;
        /** type of the elements, little endian */
        dtype: 'float16' | 'bfloat16' | 'float32' | 'float64';
        /** row i has the columns 0 to i */
        rows: 'lower';
      }[];
    }[];
  }[];
}

/** Tables and figures of a study. */
export interface StudyReport {
  /** tables that the document does not have */
  sections: {
    /** heading of the section */
    title: string;
    /** tables of the section */
    tables: {
      /** heading of the table */
      title: string;
      /** what its numbers are */
      caption: string;
      /** the first names the columns */
      rows: string[][];
      /** cells that stand out: row, counted without the first, and column */
      bold?: [number, number][];
    }[];
  }[];
  /** figures of the study's directory */
  figures?: {
    /** what the figure shows */
    caption: string;
    /** the figure as SVG */
    svg: string;
  }[];
}

/** A value of the paper. */
export interface PublishedValue {
  task: string;
  heads: number;
  /** from 1 */
  layer: number;
  quantity: 'truncated_hitting_mean' | 'minimax_fidelity';
  mean: number;
  std: number;
}

/** Data of a page: `--page`. */
export interface PageData {
  /** name of these data */
  format: 'synergraph.page';
  /** of these data */
  version: 1;
  /** command that wrote the page */
  command: 'analyze' | 'heads' | 'graph' | 'reproduce';
  /** file name of the input */
  title: string;
  /** version of the program */
  program: string;
  /** what is not in the page */
  left_out?: string | null;
  /** attention of some samples */
  attention: EmbeddedAttention | null;
  /** text of a graph, with the weights that were measured */
  graphs: string | null;
  /** for reproduce: what the report has beside the document */
  report: StudyReport | null;
  /** the paper's values for these models */
  published?: PublishedValue[];
  /** document of the command; for analyze the one of --per-head */
  document: object;
  /** other documents of the same input */
  also?: object[];
}

/** Outcome of a training run. */
export interface Training {
  /** path of the model */
  model: string;
  /** number of steps */
  steps: number;
  /** of the last step */
  loss: Maybe;
  /** of the last step */
  accuracy: Maybe;
  /** of the pairs that judge the model */
  held_out_loss?: Maybe;
  /** of the pairs that judge the model */
  held_out_accuracy?: Maybe;
  /** of the pairs that judge the model */
  training_pairs_loss?: Maybe;
  /** of the pairs that judge the model */
  training_pairs_accuracy?: Maybe;
  /** with --promote: what is promoted besides the task */
  promoted?: {
    /** mean over the sequences of the last epoch and all layers */
    fidelity?: Maybe;
    /** mean over the sequences of the last epoch and all layers */
    speed?: Maybe;
    /** mean over the sequences of the last epoch and all layers */
    entropy?: Maybe;
    /** layers of sequences whose speed is not finite */
    left_out?: number;
  };
  /** time since the run began */
  seconds: number;
}

/** Sizes of a model. */
export interface ModelSizes {
  /** number of different tokens */
  vocabulary: number;
  /** tokens per sequence */
  length: number;
  /** features per token */
  width: number;
  /** heads per layer */
  heads: number;
  /** number of layers */
  layers: number;
  /** hidden units of each MLP */
  hidden: number;
}

/** Layers of attention. */
export type AttentionLayers = {
  /** name of the layer */
  name: string;
  /** number of samples */
  samples: number;
  /** number of heads */
  heads: number;
  /** number of nodes */
  tokens: number;
}[];

/** A graph as it was read. */
export interface GraphContents {
  /** names, the sink last */
  nodes: string[];
  /** each head */
  heads: {
    /** name of the head */
    name: string;
    /** as it was given, not normalised */
    weight: number;
    /** graph: edges with self-loops; matrix: attention, whose entries are edges from key to query */
    kind: 'graph' | 'matrix';
    /** by numbers of nodes */
    edges: {
      from: number;
      to: number;
      weight: number;
    }[];
  }[];
}

/** Names along the axes of curves and matrices. */
export interface ArrayNames {
  /** names of the heads */
  heads: string[];
  /** names of the nodes, the sink last */
  nodes: string[];
}

/** A system at other weights, without its heads. */
export interface MixerUpdate {
  /** normalised */
  weights: number[];
  /** name of the document */
  schema: 'synergraph.graph';
  /** grows when a field changes its meaning or is removed */
  schema_version: 1;
  /** version of the program */
  program: string;
  /** instruction set of the kernels */
  isa?: string;
  /** how it was measured */
  settings: Settings;
  /** names of the nodes, the sink last */
  nodes: string[];
  /** each head alone */
  heads: HeadMetrics[];
  /** all heads together */
  combined: Metrics;
  /** the paper's bound from effective_forward_probability */
  effective_bound: MixingBound;
  /** the same with the best weights */
  adaptive_bound: MixingBound;
  /** name of the best head */
  best_head: string;
  /** Best head is decided: no other head can be more faithful */
  best_head_decided: boolean;
  /** Fidelity of the best head, upper end: what the fidelity of the best head is at most; the same where it is certified */
  best_head_fidelity_upper: number;
  /** Synergy, lower end: what the synergy is at least; the same where fidelities are certified */
  synergy_lower: Maybe;
  /** Synergy, upper end: what the synergy is at most; the same where fidelities are certified */
  synergy_upper: Maybe;
  /** whether the synergy is above 1; null: undecided */
  synergy_present: boolean | null;
  /** whether the mixing synergy is above 1 */
  mixing_synergy_present: boolean;
  /** Fidelity of the best head: minimax fidelity of the head that is best alone, on each sample its own */
  best_head_fidelity: number;
  /** Synergy: fidelity of all heads together over that of the best head; above 1 they beat their best member */
  synergy: Maybe;
  /** Mixing synergy: mixing time of the fastest head over that of all together, both by the per-head walk and the first eps */
  mixing_synergy: Maybe;
  /** Cross-head share: share of the weakest signal that changes head on its way */
  cross_head_share: Maybe;
  /** Effective forward probability: the heads’ forward probabilities, weighted */
  effective_forward_probability: Maybe;
  /** with --monte-carlo: estimate of the same mean */
  monte_carlo?: {
    /**
     * Hitting time, mean, cut: expected steps of a random walk to the last token, every walk cut at the cutoff, mean over all
     * start tokens: the paper’s mixing time
     */
    truncated_hitting_mean: number;
    /** of the mean */
    standard_error: number;
    /** holds with probability 0.95, even if no walk met a rare event */
    error_bound_95: number;
  };
}

/** Values of all subsets of the heads. */
export interface MixerSubsets {
  /** number of heads */
  heads: number;
  /** no fidelity is further than this above its number; 0: all are certified */
  gap: number;
  /** by each value */
  values: {
    /** what is measured */
    value: HeadValue;
    /** value of every subset; bit h of the index: head h is in it */
    table: number[];
    /** Shapley value: the head’s part of the value of all: what it adds to those before it in a random order, on average */
    shapley: number[];
    /** Banzhaf value: what the head adds to a random set of the others */
    banzhaf: number[];
    /** each pair */
    pairs: {
      /** numbers of the heads */
      heads: [number, number];
      /** Interaction: Shapley interaction index of a pair: above 0 complementary, below 0 redundant */
      interaction: number;
    }[];
    /** best subset of every size */
    best: {
      /** bits of the heads */
      subset: number;
      /** its value */
      value: number;
    }[];
  }[];
}

/** The outcome of a search for weights. */
export type MixerWeights = BestWeights;

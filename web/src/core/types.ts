/** What the core is asked for. */

import type {
  AnalyzeDocument,
  AttentionLayers,
  BestWeights,
  GraphContents,
  HeadValue,
  InspectDocument,
  Metrics,
  MixerSubsets,
  Settings,
  SystemDocument,
} from './documents';
import type { EdgeKind, MeasureOptions } from './settings';

export type Normalization = Settings['normalization'];

/** What is said of all heads together. */
export type Together = Omit<
  SystemDocument,
  'schema' | 'schema_version' | 'program' | 'isa' | 'settings' | 'nodes' | 'heads' | 'monte_carlo'
>;

export type DataType = 'float16' | 'bfloat16' | 'float32' | 'float64';

/** One head on one sample: causal attention A[query][key]. */
export interface HeadArray {
  /** Little-endian elements, row after row, no gaps; need not be aligned. */
  bytes: Uint8Array;
  dtype: DataType;
  /** "full": n columns a row. "lower": row i has columns 0 to i, as a page embeds them. */
  rows: 'full' | 'lower';
}

/** The heads of one layer on one sample, in memory. */
export interface ArraySystem {
  tokens: number;
  heads: HeadArray[];
  /** Of the heads; unless given "0", "1", ... */
  headNames?: string[];
  /** Of the tokens, the sink last; unless given "0", "1", ... */
  tokenNames?: string[];
}

/** A multi-head graph in the text format of docs/formats.md: its heads walk along their own edges. */
export interface GraphSystem {
  graph: string;
}

/** A layer on one sample of a file that was opened; both count from 0. */
export interface FileSystem {
  file: AttentionFile;
  layer: number;
  sample: number;
}

/** A multi-head system: heads on the same nodes, the last of which is the sink. */
export type System = ArraySystem | GraphSystem | FileSystem;

export { EDGES, type EdgeKind, type MeasureOptions } from './settings';

/** How a call that may take long is carried out. */
export interface CallOptions {
  /** Ends the call, whose promise is then rejected with the signal's reason. */
  signal?: AbortSignal;
}

/** Curves over time of each head and, last, of all together (of one head, only that one). */
export interface Curves {
  steps: number;
  nodes: number;
  series: {
    /** The head's name; "combined". */
    name: string;
    /** survival[t] = max over the nodes of P(T > t), t = 0 to steps: T_mix is where it falls to eps. */
    survival: Float64Array;
    /** mean_survival[t]: the mean over the nodes. */
    meanSurvival: Float64Array;
    /** signal[t * nodes + j] = (D^t)(sink, j). */
    signal: Float64Array;
    /** The minimax fidelity within the first t steps, over the nodes that count, up to the horizon. */
    minimax: Float64Array;
  }[];
}

export interface CurveOptions extends MeasureOptions {
  steps: number;
  /** Raw weights of the heads; unless given, a graph's own or equal ones. */
  weights?: ArrayLike<number>;
  /** Without signals of every node (minimax is there all the same). */
  withoutSignal?: boolean;
}

/** What follows from the weights. The heads themselves do not change: `Mixer.heads`. */
export interface Mix extends Together {
  /** Normalised. */
  weights: number[];
}

/** The values of all subsets of the heads, and what they say of each head. */
export interface Subsets extends Omit<MixerSubsets, 'values'> {
  values: (Omit<MixerSubsets['values'][number], 'table'> & { table: Float64Array })[];
}

/** The heads of one system, ready for any weights. */
export interface Mixer {
  readonly headNames: readonly string[];
  readonly nodeNames: readonly string[];
  /** Of each head alone; they do not depend on weights. */
  readonly heads: readonly Metrics[];
  /** A graph's weights, or equal ones; normalised. */
  readonly initialWeights: readonly number[];

  /**
   * Measures with these raw weights, not negative, not all 0. Only the newest update is computed: one that a newer one
   * replaced before it began is answered with `null`.
   */
  update(weights: ArrayLike<number>): Promise<Mix | null>;

  /** All subsets, with these weights of the heads; at most 16 heads. In the background. */
  subsets(weights: ArrayLike<number>, call?: CallOptions): Promise<Subsets>;

  /** The best weights for a value, starting from these. In the background. */
  bestWeights(weights: ArrayLike<number>, value: HeadValue, call?: CallOptions): Promise<BestWeights>;

  /** Forgets the heads. */
  close(): void;
}

/** A graph as it was read. */
export interface ParsedGraph extends GraphContents {
  /** In the text format, as the program writes it. */
  text: string;
}

/** Where graphs come from. */
export type GraphSource =
  | { text: string; /** Names the text in messages. */ source?: string }
  | { example: 1 | 2 }
  /** "chain:N", "complete:N", "window:N:WIDTH", "powers:N", "star:N", "random:N:PROBABILITY[:SEED]"; one a head. */
  | { generators: string[]; selfLoops?: boolean };

/** The walk and the diffusion, step by step. Matrices (steps + 1, nodes, nodes) are left out above 64 nodes. */
export interface GraphSteps {
  steps: number;
  nodes: number;
  series: {
    /** The head's name; "combined". */
    name: string;
    /** walk[j * nodes + i]: the probability of a step from j to i. */
    walk: Float64Array;
    /** diffusion[i * nodes + j]: what receiver i takes from sender j. */
    diffusion: Float64Array;
    /** walkers[(t * nodes + j) * nodes + i]: the probability that a walker from j is at i after t steps. */
    walkers: Float64Array | null;
    /** reached[(t * nodes + i) * nodes + j] = (D^t)(i, j): the share of j's signal in i after t steps. */
    reached: Float64Array | null;
  }[];
}

/** Attention in a file. Layers and samples count from 0. */
export interface AttentionFile {
  readonly name: string;
  readonly layers: Readonly<AttentionLayers>;
  /** Every layer on every sample: `synergraph analyze --json`. In the background. */
  analyze(
    options?: MeasureOptions & { per_head?: boolean; weights?: ArrayLike<number> },
    call?: CallOptions,
  ): Promise<AnalyzeDocument>;
  close(): void;
}

export interface AttentionFileOptions {
  /** Regular expression that chooses an archive's tensors. */
  layers?: string;
  /** What the arrays' axes are: "layer,head,query,key". */
  axes?: string;
  /** Tokens that are measured; an end of null: up to the last. */
  range?: [number, number | null];
  row_tolerance?: number;
  missing_mass?: 'error' | 'node';
  /** An archive of what the heads move, for edges other than attention. */
  moved?: { name: string; bytes: Blob };
}

export interface Version {
  /** "0.1.0" */
  version: string;
  /** The instruction set of the kernels. */
  isa: string;
}

/** The exact core, in workers of its own. */
export interface Core {
  version(): Promise<Version>;

  /** Each head and all together: `synergraph graph --json`. In the background. */
  measure(
    system: System,
    options?: MeasureOptions & { weights?: ArrayLike<number> },
    call?: CallOptions,
  ): Promise<SystemDocument>;

  curves(system: System, options: CurveOptions, call?: CallOptions): Promise<Curves>;

  /** Head h as it is measured, or all together with these weights: (nodes, nodes), row after row, rows summing to one. */
  matrix(
    system: System,
    head: number | { weights: ArrayLike<number> },
    edges?: EdgeKind,
  ): Promise<{ nodes: number; values: Float64Array }>;

  mixer(system: System, options?: MeasureOptions): Promise<Mixer>;

  graph(source: GraphSource): Promise<ParsedGraph>;
  graphSteps(graph: string, options: MeasureOptions & { steps: number; weights?: ArrayLike<number> }): Promise<GraphSteps>;

  /** The tensors in a file: `synergraph inspect --json`. */
  inspect(name: string, bytes: Blob | Uint8Array): Promise<InspectDocument>;
  /** Opens a file as `synergraph analyze FILE` does. Nothing is read but what is asked for. */
  open(name: string, bytes: Blob | Uint8Array, options?: AttentionFileOptions, call?: CallOptions): Promise<AttentionFile>;

  /** Ends the workers. */
  close(): void;
}

/** Why a call failed, in the one line that the program prints. */
export class CoreError extends Error {
  override readonly name = 'CoreError';
  constructor(
    message: string,
    /** "input": the data is wrong. "usage": the request is. "memory": there is not enough. "internal": a defect. */
    readonly kind: 'input' | 'usage' | 'memory' | 'internal',
  ) {
    super(message);
  }
}

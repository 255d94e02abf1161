/** Documents that the core does not make: those of models and studies (docs/formats.md, "JSON schema"). */
import type { AnalyzeDocument, Estimate, HeadsDocument, Maybe, Summary } from '../core';

/** Of a checkpoint. */
export interface OfModel {
  model?: { vocabulary: number; length: number; width: number; heads: number; layers: number; hidden: number };
  task?: { name: string; accuracy: Maybe; loss: Maybe };
  missing_mass?: 'node';
}

export type Analyze = AnalyzeDocument & OfModel;

export type Heads = HeadsDocument &
  OfModel & {
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
  };

export interface Interval {
  estimate: Maybe;
  low: Maybe;
  high: Maybe;
}

export interface Test {
  statistic: Maybe;
  effect: Maybe;
  p: Maybe;
  smallest_p: Maybe;
  method: string;
}

export interface Cell {
  task: string;
  heads: number;
  seed: number;
  accuracy: Maybe;
  loss: Maybe;
  learned: boolean;
  exact: Record<string, Summary | number>[];
  published: Record<string, Summary | number>[];
}

/** Numbers of a layer's subsets over seeds: `values` and `mean` by quantity. */
export interface SubsetFinding {
  task: string;
  heads: number;
  value: string;
  layer: number | null;
  [quantity: string]: unknown;
}

/** `results.json` of `synergraph reproduce`. */
export interface Study {
  program: string;
  settings: {
    tasks: string[];
    heads: number[];
    seeds: number[];
    training: Record<string, string>;
    samples: number;
    eps: number[];
    cutoff: number;
    horizon: number;
  };
  cells: Cell[];
  findings: {
    seeds: number;
    statements: string[];
    summaries: {
      task: string;
      heads: number;
      layer: number;
      convention: 'exact' | 'published';
      quantity: string;
      values: Maybe[];
      mean: Interval;
      std: Maybe;
    }[];
    trends: { task: string; layer: number; convention: string; claim: string; test: Test; corrected_p: Maybe }[];
    synergy: {
      task: string;
      heads: number;
      layer: number;
      convention: string;
      samples: Interval;
      seeds: Interval;
      seed_count: number;
    }[];
    speed_fidelity: { task: string; convention: string; points: number; test: Test; within_models: Maybe }[];
    subsets?: SubsetFinding[];
  };
}

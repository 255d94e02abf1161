/** Messages between the page and a worker of the core. */

import type { AnalyzeDocument, BestWeights, HeadValue, InspectDocument, SystemDocument } from './documents';
import type { EdgeKind, MeasureOptions } from './settings';
import type {
  AttentionFileOptions,
  Curves,
  CurveOptions,
  GraphSource,
  GraphSteps,
  HeadArray,
  Mix,
  ParsedGraph,
  Subsets,
  Version,
} from './types';

/** What a worker keeps under a number until it is dropped. */
export type Resource =
  | { kind: 'arrays'; tokens: number; heads: HeadArray[]; headNames?: string[]; tokenNames?: string[] }
  | { kind: 'file'; name: string; blob: Blob; options: Omit<AttentionFileOptions, 'moved'>; moved: { name: string; bytes: Blob } | null }
  | { kind: 'mixer'; place: Place; options: MeasureOptions };

/** A system: a graph's text, or a resource with layer and sample. */
export type Place = { graph: string } | { resource: number; layer: number; sample: number };

type Weights = { weights?: number[] };

/** What a worker computes. */
export interface Calls {
  version(): Version;
  measure(place: Place, options: MeasureOptions & Weights): SystemDocument;
  curves(place: Place, options: Omit<CurveOptions, 'weights'> & Weights): Curves;
  matrix(place: Place, head: number, options: Weights & { edges?: EdgeKind }): { nodes: number; values: Float64Array };
  graph(source: GraphSource): ParsedGraph;
  steps(graph: string, options: MeasureOptions & { steps: number } & Weights): GraphSteps;
  inspect(file: number): InspectDocument;
  layers(file: number): { name: string; samples: number; heads: number; tokens: number }[];
  analyze(file: number, options: MeasureOptions & Weights): AnalyzeDocument;
  mixer(mixer: number): SystemDocument;
  update(mixer: number, weights: number[]): Mix;
  subsets(mixer: number, weights: number[]): Subsets;
  bestWeights(mixer: number, weights: number[], value: HeadValue): BestWeights;
}

export type Name = keyof Calls;

export type Message =
  | { module: WebAssembly.Module }
  | { keep: number; resource: Resource }
  | { drop: number }
  | { [Call in Name]: { id: number; call: Call; args: Parameters<Calls[Call]> } }[Name];

export type Answer = { id: number; value: unknown } | { id: number; message: string; kind: 'input' | 'usage' | 'memory' | 'internal' };

/** What the client needs of a worker. */
export interface WorkerLike {
  postMessage(message: Message, transfer: Transferable[]): void;
  onmessage: ((event: MessageEvent<Answer>) => void) | null;
  onerror: ((event: ErrorEvent) => void) | null;
  terminate(): void;
}

import type { DataType, SystemDocument } from '../core';
import type { Analyze, Heads, Study } from './documents';

/** One head on one sample: rows 0 .. n-1, row i with its columns 0 .. i, one after the other, little endian. */
export interface EmbeddedHead {
  offset: number;
  dtype: DataType;
  rows: 'lower';
}

export interface EmbeddedLayer {
  name: string;
  heads: string[];
  weights: number[];
  learned_weights: number[] | null;
  samples: { sample: number; heads: EmbeddedHead[] }[];
}

export interface EmbeddedAttention {
  tokens: number;
  labels: string[] | null;
  samples: { number: number }[];
  layers: EmbeddedLayer[];
}

/** A table of the static report; the first row has the columns' names. */
export interface ReportTable {
  caption: string;
  rows: string[][];
}

/** The static report of a study as text and tables. */
export interface Report {
  sections: { title: string; paragraphs: string[]; tables: ReportTable[] }[];
}

/** A value that the paper has printed: the mean over 50 sequences. */
export interface PublishedValue {
  task: string;
  heads: number;
  layer: number;
  quantity: 'truncated_hitting_mean' | 'minimax_fidelity';
  mean: number;
  std: number;
}

interface Shared {
  format: 'synergraph.page';
  version: 1;
  title: string;
  program: string;
  attention: EmbeddedAttention | null;
  graphs: string | null;
  report: Report | null;
  published?: PublishedValue[];
  /** What did not fit into the page, in a line. */
  left_out?: string | null;
  /** `--step-limit`, where it was given. */
  step_limit?: number | null;
}

/** What the program puts into the page (`--page`). */
export type PageData = Shared &
  (
    | { command: 'analyze'; document: Analyze }
    | { command: 'heads'; document: Heads }
    | { command: 'graph'; document: SystemDocument }
    | { command: 'reproduce'; document: Study }
  );

/** The data in a page, or null: a page without. */
export function readPage(page: Document): PageData | null {
  const text = page.getElementById('synergraph-data')?.textContent ?? 'null';
  const data = JSON.parse(text) as PageData | null;
  if (data === null) return null;
  if (data.format !== 'synergraph.page' || data.version !== 1)
    throw new Error(`this page shows data of synergraph.page, version 1; these are of ${data.format}, version ${data.version}`);
  return data;
}

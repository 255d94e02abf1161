import type { DataType, SystemDocument } from '../core';
import { checked } from './check';
import type { Analyze, Heads, Study } from './documents';
import { SCHEMAS } from './schemas';

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
  /** With texts of their tokens, where each sample has its own. */
  samples: { number: number; labels?: string[] }[];
  layers: EmbeddedLayer[];
}

/** A table of a study's report; the first row has the columns' names. */
export interface ReportTable {
  title: string;
  /** What its numbers are. */
  caption: string;
  rows: string[][];
  /** Cells that stand out: row, counted without the first, and column. */
  bold?: [row: number, column: number][];
}

/** A figure of the study's folder: the text of an SVG file. */
export interface ReportFigure {
  caption: string;
  svg: string;
}

/** What the report of a study has beside its document. */
export interface Report {
  sections: { title: string; tables: ReportTable[] }[];
  figures?: ReportFigure[];
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
}

/** What the program puts into the page (`--page`): the command's document, and others of the same input. */
export interface PageData extends Shared {
  command: Schema;
  document: AnyDocument;
  also?: AnyDocument[] | null;
}

type AnyDocument = Analyze | Heads | SystemDocument | Study;

/** The documents that a page shows, by what they are. */
export interface Documents {
  analyze: Analyze | null;
  heads: Heads | null;
  graph: SystemDocument | null;
  study: Study | null;
}

const KINDS = { analyze: 'analyze', heads: 'heads', graph: 'graph', reproduce: 'study' } as const;
type Schema = keyof typeof KINDS;

export const noDocuments = (): Documents => ({ analyze: null, heads: null, graph: null, study: null });

/** A document by its schema; one that is damaged gives an error of one line. */
export function documentOf(name: string, document: unknown): Partial<Documents> {
  const { schema } = (document ?? {}) as { schema?: unknown };
  const said = typeof schema === 'string' ? schema : '';
  const kind = KINDS[said.replace('synergraph.', '') as Schema];
  if (!kind || !Object.hasOwn(SCHEMAS, said))
    throw new Error(
      `${name}: no document of synergraph ${said ? `that this page shows ('${said.slice(0, 60)}')` : '(it has no schema)'}`,
    );
  return { [kind]: checked(name, document, SCHEMAS[said]!) };
}

export const documentsOf = ({ title, document, also }: PageData): Documents =>
  Object.assign(noDocuments(), ...[document, ...(also ?? [])].map((one) => documentOf(title, one))) as Documents;

/** The data in a page, or null: a page without. */
export function readPage(page: Document): PageData | null {
  const text = page.getElementById('synergraph-data')?.textContent ?? 'null';
  const data = JSON.parse(text) as PageData | null;
  if (data === null) return null;
  if (data.format !== 'synergraph.page' || data.version !== 1)
    throw new Error(`this page shows data of synergraph.page, version 1; it contains ${data.format}, version ${data.version}`);
  return data;
}

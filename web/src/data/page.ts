import type { AnalyzeDocument, EmbeddedAttention, HeadsDocument, PageData as Embedded, Study, SystemDocument } from '../core';
import { checked, isDocument } from './check';

export type EmbeddedLayer = EmbeddedAttention['layers'][number];
/** One head on one sample: rows 0 .. n-1, row i with its columns 0 .. i, one after the other, little endian. */
export type EmbeddedHead = EmbeddedLayer['samples'][number]['heads'][number];
/** What the report of a study has beside its document. */
export type Report = NonNullable<Embedded['report']>;
/** A table of a study's report; the first row has the columns' names. */
export type ReportTable = Report['sections'][number]['tables'][number];
/** A figure of the study's folder: the text of an SVG file. */
export type ReportFigure = NonNullable<Report['figures']>[number];

/** What the program puts into the page (`--page`): the command's document, and others of the same input. */
export interface PageData extends Omit<Embedded, 'document' | 'also'> {
  document: AnyDocument;
  also?: AnyDocument[];
}

type AnyDocument = AnalyzeDocument | HeadsDocument | SystemDocument | Study;

/** The documents that a page shows, by what they are. */
export interface Documents {
  analyze: AnalyzeDocument | null;
  heads: HeadsDocument | null;
  graph: SystemDocument | null;
  study: Study | null;
}

const KINDS = { analyze: 'analyze', heads: 'heads', graph: 'graph', reproduce: 'study' } as const;

export const noDocuments = (): Documents => ({ analyze: null, heads: null, graph: null, study: null });

/** What no schema says: the best head of a layer is one of its heads. */
function checkBestHeads(name: string, { conventions }: AnalyzeDocument): void {
  conventions.forEach(({ layers }, c) =>
    layers.forEach((layer, l) => {
      if (layer.best_head >= layer.heads.length)
        throw new Error(`${name}: conventions[${c}].layers[${l}] is not a layer that has its best head`);
    }),
  );
}

/** A document by its schema; one that is damaged gives an error of one line. */
export function documentOf(name: string, document: unknown): Partial<Documents> {
  const { schema } = (document ?? {}) as { schema?: unknown };
  const said = typeof schema === 'string' ? schema : '';
  const kind = KINDS[said.replace('synergraph.', '') as keyof typeof KINDS];
  if (!kind || !isDocument(said))
    throw new Error(
      `${name}: no document of synergraph ${said ? `that this page shows ('${said.slice(0, 60)}')` : '(it has no schema)'}`,
    );
  const right = checked<AnyDocument>(name, document, said);
  if (kind === 'analyze') checkBestHeads(name, right as AnalyzeDocument);
  return { [kind]: right };
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
  return checked<PageData>('this page', data, 'synergraph.page');
}

import type {
  AnalyzeDocument,
  AttentionFile,
  DataType,
  EdgeKind,
  EmbeddedAttention,
  HeadArray,
  HeadsDocument,
  PublishedValue,
  System,
  SystemDocument,
} from '../core';
import type { ViewName } from '../state';
import { slice } from './base64';
import { documentsOf, type Documents, type PageData, type Report } from './page';

/** A layer whose attention is at hand. */
export interface AttentionLayer {
  name: string;
  /** Its place among the layers of the document, which may be more. */
  index: number;
  /** Samples that the document has. */
  measured: number;
  tokens: number;
  /** Names of the heads. */
  heads: string[];
  /** Numbers of the samples that are at hand. */
  samples: number[];
  /** Those that the documents were made with, and others where they are known. */
  weights: number[];
  learned: number[] | null;
}

/** Attention at hand, wherever it is. */
export interface Attention {
  /** Texts of the tokens, the same on every sample. */
  labels: string[] | null;
  /** Texts of the tokens of every sample, by its position, where each has its own. */
  sampleLabels?: (string[] | null)[] | null;
  /** Node 0 stands for the mass that rows lack. */
  missing?: boolean;
  /** The edges that can be measured, where they are more than attention. */
  edges?: readonly EdgeKind[];
  layers: AttentionLayer[];
  /** The heads of a layer on a sample (a position in its list). */
  system(layer: number, sample: number): System;
}

/** What the page shows. */
export interface Session extends Documents {
  title: string;
  program: string;
  /** The text of a graph. */
  graphText: string | null;
  report: Report | null;
  published: PublishedValue[];
  attention: Attention | null;
  /** What did not fit into the page. */
  leftOut: string | null;
}

export const emptySession = (): Session => ({
  title: '',
  program: '',
  analyze: null,
  heads: null,
  graph: null,
  graphText: null,
  study: null,
  report: null,
  published: [],
  attention: null,
  leftOut: null,
});

/** The view that opens first. */
export function startView(session: Session): ViewName {
  if (session.analyze || session.heads) return 'overview';
  if (session.study) return 'study';
  if (session.graphText || session.graph) return 'graph';
  return session.attention ? 'layer' : 'files';
}

const BYTES: Record<DataType, number> = { float64: 8, float32: 4, float16: 2, bfloat16: 2 };

/** Arrays in the page that stay decoded, in bytes. */
const MOST_KEPT = 64 << 20;

/** Attention that is in the page. Arrays are decoded when they are wanted; those wanted last stay. */
function embedded(attention: EmbeddedAttention, layers: { name: string; samples: number }[], base64: () => string): Attention {
  const n = attention.tokens;
  let text: string | null = null;
  const kept = new Map<string, HeadArray[]>();
  const size = (heads: HeadArray[]) => heads.reduce((sum, { bytes }) => sum + bytes.length, 0);
  let held = 0;
  return {
    labels: attention.labels,
    sampleLabels: attention.samples.some((one) => one.labels) ? attention.samples.map((one) => one.labels ?? null) : null,
    layers: attention.layers.map((layer, position) => ({
      name: layer.name,
      index:
        layers.length === attention.layers.length
          ? position
          : Math.max(
              0,
              layers.findIndex(({ name }) => name === layer.name),
            ),
      measured: layers.find(({ name }) => name === layer.name)?.samples ?? layer.samples.length,
      tokens: n,
      heads: layer.heads,
      samples: layer.samples.map(({ sample }) => sample),
      weights: layer.weights,
      learned: layer.learned_weights,
    })),
    system(layer, sample) {
      const key = `${layer} ${sample}`;
      const source = attention.layers[layer]!;
      let heads = kept.get(key);
      if (!heads) {
        text ??= base64();
        const whole = text;
        heads = source.samples[sample]!.heads.map(({ offset, dtype, rows }) => ({
          bytes: slice(whole, offset, ((n * (n + 1)) / 2) * BYTES[dtype]),
          dtype,
          rows,
        }));
        held += size(heads);
        for (const [old, arrays] of kept) {
          if (held <= MOST_KEPT) break;
          kept.delete(old);
          held -= size(arrays);
        }
        kept.set(key, heads);
      }
      return {
        tokens: n,
        heads,
        headNames: source.heads,
      };
    },
  };
}

/** The layers that documents tell of. */
const documentLayers = ({ analyze, heads }: Documents): { name: string; samples: number }[] =>
  analyze?.conventions[0]?.layers ?? heads?.layers ?? [];

/** The heads of a graph as one layer on one sample. */
function graphAttention(text: string, nodes: readonly string[], heads: readonly string[], weights: readonly number[]): Attention {
  return {
    labels: [...nodes],
    layers: [
      {
        name: 'graph',
        index: 0,
        measured: 1,
        tokens: nodes.length,
        heads: [...heads],
        samples: [0],
        weights: [...weights],
        learned: null,
      },
    ],
    system: () => ({ graph: text }),
  };
}

function ofGraph(text: string | null, { graph, heads }: Documents): Attention | null {
  if (!text) return null;
  if (graph) return graphSession(text, graph).attention;
  if (!heads?.token_names || !heads.head_names) return null;
  return graphAttention(text, heads.token_names, heads.head_names, heads.layers[0]?.weights ?? []);
}

/** A graph that was measured. */
export function graphSession(text: string, document: SystemDocument): Session {
  return {
    ...emptySession(),
    title: 'graph',
    program: document.program,
    graph: document,
    graphText: text,
    attention: graphAttention(
      text,
      document.nodes,
      document.heads.map(({ name }) => name),
      document.heads.map(({ weight }) => weight),
    ),
  };
}

/** The data of a page; `arrays` gives its binary part as base64. */
export function pageSession(data: PageData | null, arrays: () => string): Session {
  if (!data) return emptySession();
  const documents = documentsOf(data);
  const { analyze, heads } = documents;
  return {
    ...emptySession(),
    ...documents,
    title: data.title,
    program: data.program,
    graphText: data.graphs,
    report: data.report,
    published: data.published ?? [],
    leftOut: data.left_out ?? null,
    attention: data.attention
      ? {
          ...embedded(data.attention, documentLayers(documents), arrays),
          missing: (analyze ?? heads)?.missing_mass === 'node',
        }
      : ofGraph(data.graphs, documents),
  };
}

/** A file that was opened, and what has been measured of it. */
export function fileSession(
  file: AttentionFile,
  analyze: AnalyzeDocument | null,
  heads: HeadsDocument | null,
  missing = analyze?.missing_mass === 'node',
  edges: readonly EdgeKind[] = [],
): Session {
  return {
    ...emptySession(),
    title: file.name,
    program: analyze?.program ?? heads?.program ?? '',
    analyze,
    heads,
    attention: {
      labels: null,
      missing,
      edges,
      layers: file.layers.map((layer, index) => ({
        name: layer.name,
        index,
        measured: layer.samples,
        tokens: layer.tokens,
        heads: Array.from({ length: layer.heads }, (_, h) => String(h)),
        samples: Array.from({ length: layer.samples }, (_, i) => i),
        weights: Array.from({ length: layer.heads }, () => 1 / layer.heads),
        learned: null,
      })),
      system: (layer, sample) => ({ file, layer, sample }),
    },
  };
}

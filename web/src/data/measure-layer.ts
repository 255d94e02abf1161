/** A layer on a sample, or on all of them. */
import type { Core, Curves, EdgeKind, MeasureOptions, SystemDocument } from '../core';
import { edgesOf } from './settings';
import { meanCurves, meanDocument, numbersOf, numbersTogether, spreadsOf } from './mean';
import { layerTable, type Spread } from './layers';
import type { Selection } from './selection';
import type { Attention, Session } from './session';
import type { State } from '../state';

export interface MeasuredLayer {
  document: SystemDocument;
  curves: Curves;
  /** Of a mean: the numbers of every sample that was measured. */
  samples: SystemDocument[] | null;
}

interface Matrix {
  nodes: number;
  values: Float64Array;
}

/** The attention of a head or of all; of all samples, its mean. */
export async function matrixFor(
  core: Core,
  attention: Attention,
  of: Selection,
  head: number | 'all',
  edges: EdgeKind,
): Promise<Matrix> {
  const which = head === 'all' ? { weights: of.weights } : head;
  if (of.sample !== 'mean') return core.matrix(attention.system(of.layer, of.sample), which, edges);
  let total: Matrix | null = null;
  const count = of.info.samples.length;
  for (let sample = 0; sample < count; ++sample) {
    const { nodes, values } = await core.matrix(attention.system(of.layer, sample), which, edges);
    total ??= { nodes, values: new Float64Array(values.length) };
    for (let k = 0; k < values.length; ++k) total.values[k]! += values[k]! / count;
  }
  return total!;
}

/** Steps that show the mixing time and the minimax time of all heads together. */
function stepsFor(document: SystemDocument): number {
  const times = [
    document.combined.mixing_time[0]?.steps,
    document.combined.minimax_fidelity.time,
    ...document.heads.map((head) => head.minimax_fidelity.time),
  ];
  const wanted = Math.max(...times.slice(0, 2).map((t) => t ?? 0), Math.min(60, ...times.slice(2).map((t) => t ?? 0)));
  return Math.max(12, Math.min(400, Math.ceil(wanted * 1.4)));
}

/** Measures a layer. `wanted` says whether the result is still waited for. */
export async function measureLayer(
  core: Core,
  attention: Attention,
  of: Selection,
  options: MeasureOptions,
  wanted: () => boolean,
): Promise<MeasuredLayer> {
  const samples = of.sample === 'mean' ? [...of.info.samples.keys()] : [of.sample];
  const documents: SystemDocument[] = [];
  for (const sample of samples) {
    if (!wanted()) throw new Error('Another layer was chosen.');
    documents.push(await core.measure(attention.system(of.layer, sample), { ...options, weights: of.weights }));
  }
  const steps = Math.max(...documents.map(stepsFor));
  const curves: Curves[] = [];
  for (const sample of samples) {
    if (!wanted()) throw new Error('Another layer was chosen.');
    curves.push(await core.curves(attention.system(of.layer, sample), { ...options, steps, weights: of.weights }));
  }
  if (of.sample !== 'mean') return { document: documents[0]!, curves: curves[0]!, samples: null };
  return { document: meanDocument(documents), curves: meanCurves(curves), samples: documents };
}

export interface MeanNumbers {
  get(id: string): Spread | null;
  /** Over how many samples. */
  samples: number;
  /** They are those of the overview. */
  ofDocument: boolean;
}

/**
 * The means that are shown: those of the document, as the overview prints them; where the document does not have them (other weights,
 * none measured), of the samples at hand.
 */
export function meanNumbers(session: Session, state: State, of: Selection, measured: readonly SystemDocument[]): MeanNumbers {
  const sameEdges = (session.analyze?.edges ?? 'attention') === edgesOf(session, state.edges);
  if (session.analyze && !of.mixed && sameEdges) {
    const { measures, layers } = layerTable(session, state.convention)!;
    const index = of.info.index;
    return {
      get: (id) => measures.find((one) => one.id === id)?.get(index, of.head) ?? null,
      samples: layers[index]?.samples ?? 0,
      ofDocument: true,
    };
  }
  const { head } = of;
  const spreads = spreadsOf(measured.map((one) => (head === 'all' ? numbersTogether(one) : numbersOf(one.heads[head]!))));
  return { get: (id) => spreads.get(id) ?? null, samples: measured.length, ofDocument: false };
}

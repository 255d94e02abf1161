/** Layers and heads as a table of quantities, whichever document they come from. */
import type { Convention, Estimate, LayerDocument, Summary } from '../core';
import { COMPARING, digits, format, formatSpread, percent, placeOf, quantityOf, type Quantity } from '../quantities';
import type { Session } from './session';

/** A number over samples. */
export interface Spread {
  mean: number | null;
  /** Standard deviation over samples, or standard error of the mean. */
  spread: number | null;
  isError: boolean;
  min?: number | null;
  median?: number | null;
  max?: number | null;
  samples: number;
  /** Samples in which it is infinite. */
  never: number;
  /** What the mean is at most, where fidelities are not certified. */
  upper?: number;
  /** Samples in which such fidelities leave it open. */
  undecided?: number;
  /** The mean is of lower ends. */
  atLeast?: boolean;
}

/** Something that is known of layers or of their heads. */
export interface Measure {
  id: string;
  quantity: Quantity;
  label: string;
  group: string;
  /** What the numbers of whole layers are, where that is something else. */
  whole?: string;
  /** How it was measured, where that does not follow the convention that is chosen. */
  convention?: Convention;
  ofHeads: boolean;
  ofLayers: boolean;
  get(layer: number, head: number | 'all'): Spread | null;
}

export interface LayerInfo {
  name: string;
  samples: number;
  tokens: number;
  heads: number;
}

export interface LayerTable {
  layers: LayerInfo[];
  headNames: string[];
  measures: Measure[];
  /** The best head of a layer: which, how sure, and what the best is. */
  bestHead(layer: number): { head: number; note: string } | null;
  bestHeadAbout: string;
  conventions: Convention[];
}

const ofSummary = (summary: Summary | undefined): Spread | null =>
  summary
    ? {
        mean: summary.never === summary.samples && summary.samples > 0 ? null : summary.mean,
        spread: summary.std,
        isError: false,
        min: summary.min,
        median: summary.median,
        max: summary.max,
        samples: summary.samples,
        never: summary.never,
      }
    : null;

/** A fidelity beside its upper end. */
const withUpper = (spread: Spread | null, upper: unknown): Spread | null =>
  spread && isSummary(upper) && spread.mean !== null && upper.mean !== null && upper.mean > spread.mean * (1 + 1e-9)
    ? { ...spread, upper: upper.mean }
    : spread;

/** As it is read: an interval where it is one; infinite and undecided are not nothing. */
export function spreadText(q: Quantity, of: Spread, precision = 4, withSpread = false): string {
  if (of.mean === null) {
    if (q.kind !== 'ratio') return format(q, null);
    return of.never === of.samples && of.samples > 0 ? '∞' : (of.undecided ?? 0) > 0 ? 'undecided' : 'none';
  }
  const mean = withSpread ? formatSpread(q, of.mean, of.spread, precision) : format(q, of.mean, precision);
  if (of.upper !== undefined) return `${mean} to ${digits(of.upper, precision)}`;
  return of.atLeast ? `at least ${mean}` : mean;
}

const ofEstimate = (estimate: Estimate | undefined, samples: number): Spread | null =>
  estimate && estimate.mean !== null ? { mean: estimate.mean, spread: estimate.error, isError: true, samples, never: 0 } : null;

const ofNumber = (value: unknown, samples: number): Spread | null =>
  typeof value === 'number' ? { mean: value, spread: null, isError: false, samples, never: 0 } : null;

const isSummary = (value: unknown): value is Summary => typeof value === 'object' && value !== null && 'median' in value;

const names = (count: number, given?: readonly string[]) => Array.from({ length: count }, (_, h) => given?.[h] ?? String(h));

/** What is known of layers and heads, or null: the layers' measurements first, then what heads are worth. */
export function layerTable(session: Session, convention: Convention): LayerTable | null {
  const analyzed = session.analyze ? ofAnalyze(session, convention) : null;
  const worth = session.heads ? ofHeads(session) : null;
  if (!analyzed || !worth) return analyzed ?? worth;
  const known = new Set(analyzed.measures.map(({ id }) => id));
  return { ...analyzed, measures: [...analyzed.measures, ...worth.measures.filter(({ id }) => !known.has(id))] };
}

/** A measure by what layers and heads have of it; it is of layers, or of heads, if any has it. */
function measure(id: string, group: string, layers: LayerInfo[], get: Measure['get'], more: Partial<Measure> = {}): Measure {
  const quantity = quantityOf(id);
  const heads = (l: number) => [...Array(layers[l]!.heads).keys()];
  return {
    id,
    quantity,
    label: quantity.label,
    group,
    ofHeads: layers.some((_, l) => heads(l).some((head) => get(l, head) !== null)),
    ofLayers: layers.some((_, l) => get(l, 'all') !== null),
    get,
    ...more,
  };
}

function ofAnalyze(session: Session, convention: Convention): LayerTable {
  const conventions = session.analyze!.conventions;
  const { layers } = conventions.find((one) => one.convention === convention) ?? conventions[0]!;
  const infos = layers.map(({ name, samples, tokens, heads }) => ({ name, samples, tokens, heads: heads.length }));
  const rank = (id: string) => (id === 'minimax_fidelity' ? -1 : placeOf(id)); // what the page shows first
  const combined = [...new Set(layers.flatMap((layer) => Object.keys(layer.combined)))]
    .filter((id) => id !== 'minimax_fidelity_upper')
    .sort((a, b) => rank(a) - rank(b));
  const measured = (id: string): Measure['get'] => {
    const of = (values: Record<string, unknown> | undefined) => {
      const value = values?.[id];
      return isSummary(value) ? withUpper(ofSummary(value), upperOf(id, values)) : null;
    };
    return (l, h) => of(h === 'all' ? layers[l]!.combined : layers[l]!.heads[h]);
  };
  const number = (id: string): Measure['get'] => {
    return (l, h) => (h === 'all' ? null : ofNumber(layers[l]!.heads[h]?.[id], layers[l]!.samples));
  };
  return {
    layers: infos,
    headNames: names(Math.max(0, ...infos.map(({ heads }) => heads)), session.attention?.layers[0]?.heads),
    conventions: conventions.map((one) => one.convention),
    bestHeadAbout: 'the head with the largest fidelity alone in most samples; brackets: share of these samples',
    bestHead: (l) => {
      const { heads, best_head: head, best_head_undecided: open = 0, samples } = layers[l]!;
      if (heads.length < 2) return null;
      const share = heads[head]?.best_share ?? 1;
      const notes = [share < 1 ? percent(share) : '', open > 0 ? `${open} of ${samples} undecided` : ''].filter(Boolean);
      return { head, note: notes.join(', ') };
    },
    measures: [
      ...combined.map((id) => measure(id, 'Each head and all together', infos, measured(id))),
      ...COMPARING.map((id) => measure(id, 'All heads together', infos, (l, h) => (h === 'all' ? openOf(id, layers[l]!) : null))),
      ...['weight', 'best_share'].map((id) => measure(id, 'Each head', infos, number(id))),
    ].filter((one) => one.ofHeads || one.ofLayers),
  };
}

const upperOf = (id: string, of: Record<string, unknown> | undefined) =>
  id === 'minimax_fidelity' ? of?.['minimax_fidelity_upper'] : undefined;

/** Of all heads together, with what is open. */
function openOf(id: string, layer: LayerDocument): Spread | null {
  const spread = ofSummary((layer as unknown as Record<string, Summary>)[id]);
  if (!spread) return null;
  if (id === 'synergy') return { ...spread, undecided: layer.synergy_undecided ?? 0 };
  const open = layer.heads.some(
    (head) => withUpper(ofSummary(head['minimax_fidelity'] as Summary), upperOf('minimax_fidelity', head))?.upper,
  );
  return id === 'best_head_fidelity' && open ? { ...spread, atLeast: true } : spread;
}

function ofHeads(session: Session): LayerTable {
  const { layers, head_names, stack, convention } = session.heads!;
  const infos = layers.map(({ name, samples, tokens, weights }) => ({ name, samples, tokens, heads: weights.length }));
  const value = (l: number, name: string) => layers[l]!.values.find((one) => one.value === name);
  const measures: Measure[] = [];
  for (const name of ['fidelity', 'speed'] as const) {
    if (!layers.some((_, l) => value(l, name))) continue;
    const numbers = layers.flatMap((_, l) => Object.keys(value(l, name)?.heads[0] ?? {})).filter((id) => id !== 'head');
    for (const id of new Set(numbers)) {
      const ofAll = id === 'shapley' || id === 'alone';
      const get: Measure['get'] = (l, h) => {
        const of = value(l, name);
        const head = h === 'all' ? undefined : (of?.heads[h] as Record<string, unknown> | undefined)?.[id];
        return ofEstimate(h !== 'all' ? (head as Estimate | undefined) : ofAll ? of?.all : undefined, layers[l]!.samples);
      };
      const more = {
        id: `${name}/${id}`,
        label: `${quantityOf(id).label} (${name})`,
        whole: `${name === 'fidelity' ? 'Fidelity' : 'Speed'} of all heads together`,
        convention,
        ofHeads: true,
        ofLayers: ofAll,
      };
      measures.push(measure(id, `Values of heads: ${name}`, infos, get, more));
    }
  }
  const weight: Measure['get'] = (l, h) => (h === 'all' ? null : ofNumber(layers[l]!.weights[h], layers[l]!.samples));
  measures.push(measure('weight', 'Weights', infos, weight));
  if (stack) {
    const share: Measure['get'] = (l, h) => (h === 'all' ? null : ofEstimate(stack.layers[l]?.heads[h], stack.samples));
    measures.push(measure('stack_share', 'Through all layers', infos, share, { id: 'stack', convention }));
  }
  return {
    layers: infos,
    headNames: names(Math.max(0, ...infos.map(({ heads }) => heads)), head_names),
    conventions: [convention],
    measures,
    bestHead: (l) => {
      const heads = value(l, 'fidelity')?.heads ?? [];
      if (heads.length < 2) return null;
      return { head: heads.reduce((best, h) => ((h.alone.mean ?? -1) > (best.alone.mean ?? -1) ? h : best)).head, note: '' };
    },
    bestHeadAbout: 'the head with the largest fidelity alone, mean over samples',
  };
}

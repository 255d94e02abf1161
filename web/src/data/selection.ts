/** Which layer, sample and weights the state means, within what is at hand. */
import type { State } from '../state';
import type { Attention, AttentionLayer, Session } from './session';

/** One of a layer's samples, or all of them: numbers are then means over samples. */
export type Sample = number | 'mean';

export interface Selection {
  /** Its place in the attention at hand. */
  layer: number;
  /** A position in the layer's list, or the mean of all in it. */
  sample: Sample;
  head: number | 'all';
  info: AttentionLayer;
  /** Of the combination: those of the mixer, else those of the data; normalised. */
  weights: number[];
  /** Whether they are the mixer's. */
  mixed: boolean;
}

export const normalised = (weights: readonly number[]): number[] => {
  // By the largest first: a sum may be more than any number.
  const largest = Math.max(...weights);
  const shares = largest > 0 ? weights.map((w) => w / largest) : weights.map(() => 1);
  const total = shares.reduce((a, b) => a + b, 0);
  return shares.map((w) => w / total);
};

export function selected(attention: Attention, state: State): Selection {
  const clamp = (value: number, count: number) => Math.max(0, Math.min(value, count - 1));
  const layer = Math.max(
    0,
    attention.layers.findIndex(({ index }) => index === state.layer),
  );
  const info = attention.layers[layer]!;
  const mixed = state.weights !== null && state.weights.length === info.heads.length && state.weights.some((w) => w > 0);
  return {
    layer,
    info,
    sample: state.sample !== 'mean' ? clamp(state.sample, info.samples.length) : hasMean(info) ? 'mean' : 0,
    head: info.heads.length === 1 ? 0 : state.head === 'all' ? 'all' : clamp(state.head, info.heads.length),
    weights: normalised(mixed ? state.weights! : info.weights),
    mixed,
  };
}

/** The layers to choose from. */
export const layerOptions = (attention: Attention) => attention.layers.map(({ index, name }) => ({ value: index, label: name }));

/** Samples that are averaged in the page at most; the overview has the means of more. */
const MOST_AVERAGED = 200;

/** Whether there is a mean to choose. */
export const hasMean = ({ samples }: AttentionLayer) => samples.length > 1 && samples.length <= MOST_AVERAGED;

/** The samples to choose from, and all of them. */
export const sampleOptions = (layer: AttentionLayer): { value: Sample; label: string }[] => [
  ...layer.samples.map((number, value) => ({ value, label: String(number) })),
  ...(hasMean(layer) ? [{ value: 'mean' as const, label: 'mean of all samples' }] : []),
];

/** A sample in words. */
export const sampleWords = ({ samples }: AttentionLayer, sample: Sample): string =>
  sample === 'mean' ? `mean of ${samples.length} samples` : `sample ${samples[sample]}`;

/** What of a layer's samples is not in the page, where nothing else says so. */
export const leftOut = (session: Session, { samples, measured }: AttentionLayer) =>
  session.leftOut === null && samples.length < measured
    ? `The attention of ${samples.length} of ${measured} samples is in this page.`
    : '';

/** The number of a token in the input, of which --range may have left out the first; -1: the node of missing mass. */
function tokenNumber(session: Session): (node: number) => number {
  const first = (session.analyze ?? session.heads)?.range?.[0] ?? 0;
  const missing = session.attention?.missing ?? false;
  return (node) => (missing && node === 0 ? -1 : first + node - (missing ? 1 : 0));
}

/** The texts of a sample's tokens. Means have them where all samples have the same. */
const labelsOf = (session: Session, sample: Sample): readonly string[] | null => {
  const { labels = null, sampleLabels } = session.attention ?? {};
  return sampleLabels ? (sample === 'mean' ? null : (sampleLabels[sample] ?? null)) : labels;
};

/** What a token of a sample is called: its number in the input, with its text where that is known. */
export function tokenName(session: Session, sample: Sample = 0): (token: number) => string {
  const labels = labelsOf(session, sample);
  const number = tokenNumber(session);
  return (token) => {
    if (number(token) < 0) return 'missing mass';
    const label = labels?.[token];
    return label === undefined ? String(number(token)) : session.graphText ? label : `${number(token)} ${label}`;
  };
}

/** The same in a sentence. */
export function tokenPhrase(session: Session, sample: Sample = 0): (token: number) => string {
  const name = tokenName(session, sample);
  return (token) => (name(token) === 'missing mass' ? name(token) : `${session.graphText ? 'node' : 'token'} ${name(token)}`);
}

/** The same, short. */
export function tokenLabel(session: Session, sample: Sample = 0): (token: number) => string {
  const labels = labelsOf(session, sample);
  const name = tokenName(session, sample);
  return (token) => labels?.[token] ?? name(token);
}

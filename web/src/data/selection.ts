/** Which layer, sample and weights the state means, within what is at hand. */
import type { State } from '../state';
import type { Attention, AttentionLayer, Session } from './session';

export interface Selection {
  /** Its place in the attention at hand. */
  layer: number;
  sample: number;
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
    sample: clamp(state.sample, info.samples.length),
    head: info.heads.length === 1 ? 0 : state.head === 'all' ? 'all' : clamp(state.head, info.heads.length),
    weights: normalised(mixed ? state.weights! : info.weights),
    mixed,
  };
}

/** The layers to choose from. */
export const layerOptions = (attention: Attention) => attention.layers.map(({ index, name }) => ({ value: index, label: name }));

/** The samples to choose from, and what the list is called. */
export const sampleOptions = ({ samples }: AttentionLayer) => samples.map((number, value) => ({ value, label: String(number) }));

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

/** What a token is called: its number in the input, with its text where that is known. */
export function tokenName(session: Session): (token: number) => string {
  const labels = session.attention?.labels;
  const number = tokenNumber(session);
  return (token) => {
    if (number(token) < 0) return 'missing mass';
    const label = labels?.[token];
    return label === undefined ? String(number(token)) : session.graphText ? label : `${number(token)} ${label}`;
  };
}

/** The same in a sentence. */
export function tokenPhrase(session: Session): (token: number) => string {
  const name = tokenName(session);
  return (token) => (name(token) === 'missing mass' ? name(token) : `${session.graphText ? 'node' : 'token'} ${name(token)}`);
}

/** The same, short. */
export function tokenLabel(session: Session): (token: number) => string {
  const labels = session.attention?.labels;
  const name = tokenName(session);
  return (token) => labels?.[token] ?? name(token);
}

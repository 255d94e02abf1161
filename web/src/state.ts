/** What the page shows, and the address that says so: a link carries all of it. */

import { EDGES, type EdgeKind } from './core';

interface Field<T> {
  initial: T;
  write(value: T): string;
  read(text: string): T | undefined;
}

const text = (initial = ''): Field<string> => ({ initial, write: (v) => v, read: (v) => v });

const choice = <T extends string>(initial: T, ...others: T[]): Field<T> => ({
  initial,
  write: (v) => v,
  read: (v) => (([initial, ...others] as string[]).includes(v) ? (v as T) : undefined),
});

const count = (initial = 0): Field<number> => ({
  initial,
  write: String,
  read: (v) => (/^\d{1,9}$/.test(v) ? Number(v) : undefined),
});

/** A count or a word. */
const countOr = <W extends string>(word: W, initial: number | W): Field<number | W> => ({
  initial,
  write: String,
  read: (v) => (v === word ? word : count().read(v)),
});

/** Numbers that are not negative, or none: what the data say. */
const numbers = (): Field<number[] | null> => ({
  initial: null,
  write: (v) => (v ?? []).map((x) => String(Number(x.toPrecision(12)))).join(','),
  read: (v) => {
    const list = v.split(',').map(Number);
    return v !== '' && list.every((x) => Number.isFinite(x) && x >= 0) ? list : undefined;
  },
});

export const VIEWS = ['overview', 'study', 'layer', 'mixer', 'graph', 'files'] as const;
export type ViewName = (typeof VIEWS)[number];

/** Every field of the state, by its name in the address. */
const FIELDS = {
  view: choice<ViewName>(...VIEWS),
  /** What is shown of layers and heads: an id of src/quantities.ts. */
  quantity: text(),
  convention: choice<'exact' | 'published'>('exact', 'published'),
  /** What an edge of the graphs says, where values are at hand. */
  edges: choice<EdgeKind>(...EDGES),
  /** What the colours of the map of layers and heads span: all layers, or each layer by itself. */
  scale: choice<'all' | 'layer'>('all', 'layer'),
  layer: count(),
  sample: countOr('mean', 0),
  head: countOr('all', 'all'),
  /** How entries of a matrix become colours. */
  colours: choice<'linear' | 'root' | 'log'>('root', 'linear', 'log'),
  /** What the mixer gives each head; 0 is off. */
  weights: numbers(),
  /** The value whose subsets, Shapley values and pairs are shown. */
  value: choice<'fidelity' | 'speed'>('fidelity', 'speed'),
  /** What layers and heads are of: what the page has, or the graph of the address. */
  of: choice<'data' | 'graph'>('data', 'graph'),
  /** The playground: a graph's text, the steps made, where they began. */
  graph: text(),
  play: choice<'walk' | 'diffusion'>('walk', 'diffusion'),
  step: count(),
  start: count(),
  /** Of a study. */
  task: text(),
};

export type State = { -readonly [K in keyof typeof FIELDS]: (typeof FIELDS)[K]['initial'] };

export const initialState = (): State =>
  Object.fromEntries(Object.entries(FIELDS).map(([name, field]) => [name, field.initial])) as State;

/** The state as the part of an address after '#'; what is as in the beginning is left out. */
export function toHash(state: State): string {
  const parts = new URLSearchParams();
  for (const [name, field] of Object.entries(FIELDS) as [keyof State, Field<unknown>][]) {
    if (name === 'view' || state[name] === field.initial) continue;
    parts.set(name, field.write(state[name]));
  }
  const rest = parts.toString();
  return `#${state.view}${rest && `?${rest}`}`;
}

/** What of an address cannot be read, as it stands there. */
export function unreadable(hash: string): string[] {
  const [view = '', rest = ''] = hash.replace(/^#/, '').split(/\?(.*)/s);
  const parts = new URLSearchParams(rest);
  if (view) parts.set('view', view);
  const fields = FIELDS as Record<string, Field<unknown>>;
  return [...parts].flatMap(([name, value]) =>
    Object.hasOwn(fields, name) && fields[name]!.read(value) !== undefined ? [] : [`${name}=${value.slice(0, 40)}`],
  );
}

/** The state that an address says; what it does not say, or says wrongly, is as in the beginning. */
export function fromHash(hash: string): State {
  const [view = '', rest = ''] = hash.replace(/^#/, '').split(/\?(.*)/s);
  const state = initialState();
  const parts = new URLSearchParams(rest);
  parts.set('view', view);
  for (const [name, field] of Object.entries(FIELDS) as [keyof State, Field<unknown>][]) {
    const value = parts.get(name);
    const read = value === null ? undefined : field.read(value);
    if (read !== undefined) Object.assign(state, { [name]: read });
  }
  return state;
}

type Listener = (state: State, before: State) => void;

/** The state of the page. Those who listen hear of every change; the address follows. */
export class Store {
  private state: State;
  private readonly listeners = new Set<Listener>();
  private timer: number | undefined;

  constructor(
    private readonly window: Pick<Window, 'location' | 'history' | 'addEventListener' | 'setTimeout' | 'clearTimeout'>,
  ) {
    this.state = fromHash(window.location.hash);
    window.addEventListener('hashchange', () => this.change(fromHash(window.location.hash)));
  }

  get(): State {
    return this.state;
  }

  /** Changes fields. Another view, or an edit, is a new entry in the browser's history; all else replaces the one there is. */
  set(patch: Partial<State>, kind: 'change' | 'edit' = 'change'): void {
    const next = { ...this.state, ...patch };
    if (next.view !== this.state.view || (kind === 'edit' && toHash(next) !== toHash(this.state))) {
      this.flush();
      this.window.history.pushState(null, '', toHash(next));
    } else if (this.timer === undefined) {
      this.timer = this.window.setTimeout(() => this.flush(), 200);
    }
    this.change(next);
  }

  /** Brings the address up to date. */
  flush(): void {
    if (this.timer !== undefined) this.window.clearTimeout(this.timer);
    this.timer = undefined;
    const hash = toHash(this.state);
    if (hash !== this.window.location.hash) this.window.history.replaceState(null, '', hash);
  }

  subscribe(listener: Listener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  private change(next: State): void {
    const before = this.state;
    this.state = next;
    for (const listener of [...this.listeners]) listener(next, before);
  }
}

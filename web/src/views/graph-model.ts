/** A graph that was measured, and what the state chooses of it. */
import type { Core, Curves, GraphSource, GraphSteps, MeasureOptions, Metrics, ParsedGraph, SystemDocument } from '../core';
import { course } from '../data/graph';
import type { State } from '../state';

export interface Played {
  text: string;
  parsed: ParsedGraph;
  document: SystemDocument;
  curves: Curves;
  steps: GraphSteps;
}

/** Reads and measures a graph. `text`: as it was typed, where it was. */
export async function played(core: Core, source: GraphSource, text: string | null, options: MeasureOptions): Promise<Played> {
  const parsed = await core.graph(source);
  const document = await core.measure({ graph: parsed.text }, options);
  const time = Math.max(...[document.combined.minimax_fidelity.time, document.combined.mixing_time[0]?.steps].map((t) => t ?? 0));
  const steps = Math.max(12, Math.min(parsed.nodes.length > 64 ? 60 : 200, Math.ceil(1.3 * time)));
  const [curves, made] = await Promise.all([
    core.curves({ graph: parsed.text }, { ...options, steps, withoutSignal: true }),
    core.graphSteps(parsed.text, { ...options, steps }),
  ]);
  return { text: text ?? parsed.text, parsed, document, curves, steps: made };
}

export class Playing {
  readonly head: number | 'all';
  /** The head whose edges are edited. */
  readonly editHead: number;
  readonly start: number;
  readonly walk: boolean;

  constructor(
    readonly of: Played,
    readonly state: State,
  ) {
    const { heads, nodes } = of.parsed;
    this.head = state.head === 'all' || state.head >= heads.length ? 'all' : state.head;
    this.editHead = this.head === 'all' ? 0 : this.head;
    this.start = Math.min(state.start, nodes.length - 1);
    this.walk = state.play === 'walk';
  }

  /** Of a list that ends with all heads together. */
  index(list: readonly unknown[]): number {
    return this.head === 'all' ? list.length - 1 : this.head;
  }

  metrics(): Metrics {
    const { combined, heads } = this.of.document;
    return this.head === 'all' ? combined : heads[this.head]!;
  }

  minimax(): Float64Array {
    const { series } = this.of.curves;
    return series[this.index(series)]!.minimax;
  }

  /** What is at every node, step by step. */
  states(): Float64Array[] {
    const { nodes, steps, series } = this.of.steps;
    const of = series[this.index(series)]!;
    return course(this.walk ? of.walk : of.diffusion, nodes, this.start, steps, this.state.play);
  }

  /** What passes an edge in the next step. */
  flow(at: ArrayLike<number> | null, head: number, from: number, to: number): number {
    if (!at) return 0;
    const { nodes, series } = this.of.steps;
    const { walk, diffusion } = series[head]!;
    const share = this.head === 'all' && series.length > 1 ? this.of.document.heads[head]!.weight : 1;
    return share * at[from]! * (this.walk ? walk[from * nodes + to]! : diffusion[to * nodes + from]!);
  }
}

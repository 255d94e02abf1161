import type { EdgeKind, HeadValue, Mix, Mixer, Subsets } from '../core';
import { headName } from '../data/intervals';
import { bits, only, switched, weightlessWords, withAll } from '../data/mix';
import { sampleWords, selected, tokenName, tokenPhrase, type Selection } from '../data/selection';
import type { Attention } from '../data/session';
import { edgesOf, measurementOf } from '../data/settings';
import type { State } from '../state';
import type { Context } from '../view';
import { worthOfDocument, worthOfSubsets, type Worth } from './worth';

/** The heads of a layer, ready to be mixed. */
export interface Opened {
  key: string;
  mixer: Mixer;
  /** The mix with the weights of the data. */
  reference: Mix | null;
}

/** What the mixer shows, and what the reader changes of it. */
export class MixerModel {
  now: Selection;
  opened: Opened | null = null;
  mix: Mix | null = null;
  subsets: { key: string; of: Subsets } | null = null;
  readonly attention: Attention;

  constructor(readonly context: Context) {
    this.attention = context.session.attention!;
    this.now = selected(this.attention, context.store.get());
  }

  follow(state: State): void {
    this.now = selected(this.attention, state);
  }

  get heads(): readonly string[] {
    return this.now.info.heads;
  }
  /** The share of every head in the mix; 0 is off. */
  get shares(): readonly number[] {
    return this.now.weights;
  }
  /** Weights of all heads, those that are off too. */
  get allShares(): number[] {
    return withAll(this.shares, this.now.info.weights);
  }
  /** The heads that are on, as bits. */
  get current(): number {
    return bits(this.shares);
  }
  get isMean(): boolean {
    return this.now.sample === 'mean';
  }
  get value(): HeadValue {
    return this.context.store.get().value;
  }
  get edges(): EdgeKind {
    return edgesOf(this.context.session, this.context.store.get().edges);
  }
  get options() {
    const { convention, edges } = this.context.store.get();
    return measurementOf(this.context.session, convention, edges).options;
  }
  get sampleWords(): string {
    return sampleWords(this.now.info, this.now.sample);
  }
  get words(): string {
    return `layer ${this.now.info.name}, ${this.sampleWords}`;
  }
  get documentLayer() {
    return this.context.session.heads?.layers[this.now.info.index];
  }
  get documentValue() {
    return this.documentLayer?.values.find((one) => one.value === this.value);
  }
  /** Every subset by the chosen value, where they were measured. */
  get live() {
    return this.subsets?.of.values.find((one) => one.value === this.value);
  }
  /** Of the subsets that were measured here, else of the document. */
  get worth(): Worth | null {
    if (this.subsets && this.live) return worthOfSubsets(this.subsets.of, this.value, this.heads, this.sampleWords);
    const { documentValue, documentLayer } = this;
    return documentValue ? worthOfDocument(documentValue, documentLayer!.samples, this.heads) : null;
  }
  get weakest(): number {
    return this.opened!.mixer.nodeNames.indexOf(this.mix!.combined.minimax_fidelity.node);
  }
  /** The weakest token in a sentence. */
  get weakestPhrase(): string {
    return tokenPhrase(this.context.session, this.now.sample)(this.weakest);
  }
  readonly tokenName = (token: number) => tokenName(this.context.session, this.now.sample)(token);

  readonly fail = (line: string) => this.context.say(line, 'error');

  set(weights: readonly number[] | null, kind: 'change' | 'edit' = 'edit'): void {
    this.context.store.set({ weights: weights && [...weights] }, kind);
  }

  /** Turns on a set of heads, in the proportions of the sliders or in those given. */
  switchTo(set: number, weights: readonly number[] = this.allShares): void {
    const on = this.heads.map((_, head) => ((set >> head) & 1) === 1);
    const next = set === 0 ? null : only(weights, on);
    if (next) this.set(next);
    this.sayWeightless([...on.keys()].filter((head) => on[head] && weights[head] === 0));
  }

  switchHead(head: number): void {
    const next = switched(this.shares, head, this.now.info.weights);
    if (this.shares[head] === 0 && next[head] === 0) this.sayWeightless([head]);
    this.set(next);
  }

  /** Says which heads have no weight to be switched on with. */
  private sayWeightless(heads: readonly number[]): void {
    if (heads.length > 0) this.context.say(weightlessWords(heads.map((head) => this.heads[head]!)));
  }

  headName(head: number): string {
    return headName(this.heads[head]!);
  }
}

import { Latest } from '../async';
import { openMixer as openHeads } from '../data/mean-mixer';
import { bits } from '../data/mix';
import { layerOptions, leftOut, sampleOptions, type Sample } from '../data/selection';
import { fill, h } from '../dom';
import type { State } from '../state';
import { choose } from '../ui/controls';
import { explainedReadings } from '../ui/glossary';
import { button, card, div, note } from '../ui/parts';
import { saveJson } from '../ui/save';
import type { Context, Mounted, View } from '../view';
import { conventionControl, edgesControl, sessionHeader, settingsNote } from './facts';
import { meanMixWords } from './layer-words';
import { mixReadings } from './mix-readings';
import { mountDocument, valueControl } from './mixer-document';
import { setFigures, tokenFigure } from './mixer-figures';
import { headRows, presetButtons, seeker } from './mixer-heads';
import { MixerModel } from './mixer-model';
import { pruningFigure } from './pruning';
import { worthFigures } from './worth';

/** Up to so many heads all subsets follow the weights. */
const LIVE = 8;
/** Up to so many they can be asked for. */
const MOST = 16;

/** Heads on and off, with any weights, and what follows from it. */
export const mixer: View = {
  name: 'mixer',
  title: 'Mixer',
  shows: (session) => session.attention !== null || session.heads !== null,
  mount: (root, context) => (context.session.attention ? new MixerView(root, context) : mountDocument(root, context)),
};

class MixerView implements Mounted {
  private readonly model: MixerModel;
  private readonly opening = new Latest();
  private readonly counting = new Latest();
  private readonly controls: ReturnType<typeof mixerControls>;
  private readonly rows: ReturnType<typeof headRows>;
  private readonly seeker: ReturnType<typeof seeker>;
  private readonly presets: ReturnType<typeof presetButtons>;
  private readonly outside = note();
  private readonly where = h('p', { class: 'print-only' });
  private readonly numbers = explainedReadings();
  private readonly tokens: ReturnType<typeof tokenFigure>;
  private readonly sets: ReturnType<typeof setFigures>;
  private readonly worth: ReturnType<typeof worthFigures>;
  private readonly pruning: ReturnType<typeof pruningFigure>;
  private readonly ask = div('card');
  private timer = 0;
  private frame = 0;

  constructor(root: HTMLElement, context: Context) {
    const model = (this.model = new MixerModel(context));
    this.controls = mixerControls(model);
    this.rows = headRows(model);
    this.seeker = seeker(model);
    this.presets = presetButtons(model, this.seeker.seek);
    this.tokens = tokenFigure(model);
    this.sets = setFigures(model);
    this.worth = worthFigures(
      () => model.worth,
      () => model.now.info.name,
    );
    this.pruning = pruningFigure(
      () => model.documentValue,
      () => model.heads,
      (heads) =>
        model.switchTo(
          heads.reduce((set, head) => set | (1 << head), 0),
          model.now.info.weights,
        ),
    );
    const about = note('The share of each head in the mix. If one share changes, the others keep their proportions.');
    const mix = card(h('h2', {}, 'Heads'), about, this.outside, this.presets, this.rows, this.seeker);
    fill(
      root,
      this.controls.elements,
      this.where,
      div('mixer-grid', mix, div('stack', this.numbers.elements, this.tokens)),
      this.ask,
      div('grid', [...this.sets.list, ...this.worth.list, this.pruning]),
    );
  }

  update(state: State, before: State | null): void {
    const { model } = this;
    const place = () => `${model.now.layer} ${model.isMean}`;
    const old = place();
    model.follow(state);
    const { now, words, context } = model;
    this.controls.update(state);
    fill(this.where, `Layer ${words.slice('layer '.length)}`);
    fill(this.outside, leftOut(context.session, now.info), ' ', meanMixWords(now));
    if (!before || old !== place() || before.edges !== state.edges || !this.rows.fits()) {
      this.rows.draw();
      this.presets.draw();
      fill(this.seeker.element);
    }
    this.rows.update();
    this.open();
    const set = (of: State) => bits(of.weights ?? []);
    if (!before || before.value !== state.value || before.layer !== state.layer || set(before) !== set(state)) this.showWorth();
  }

  leave(): void {
    for (const one of [this.opening, this.counting, this.seeker]) one.stop();
    this.model.opened?.mixer.close();
  }

  /** Opens the heads that are chosen, if others are open. */
  private open(): void {
    const { model } = this;
    const { now: selection, context, options, attention } = model;
    const { convention, edges } = context.store.get();
    const key = `${selection.layer} ${selection.sample} ${convention} ${edges}`;
    if (model.opened?.key === key) return this.follow();
    model.opened?.mixer.close();
    model.opened = model.mix = model.subsets = null;
    this.showNumbers();
    void this.opening.run(
      async () => {
        const made = await openHeads(await context.core, attention, selection, options);
        return { key, mixer: made, reference: await made.update(selection.info.weights) };
      },
      (result) => {
        model.opened = result;
        this.follow();
      },
      model.fail,
    );
  }

  /** Measures the mix as it is now. */
  private follow(): void {
    const { model } = this;
    const { opened } = model;
    if (!opened) return;
    opened.mixer.update(model.shares).then(
      (result) => {
        if (!result || model.opened !== opened) return;
        model.mix = result;
        this.showNumbers();
      },
      (error: Error) => model.fail(error.message),
    );
    this.countSubsets(false);
  }

  private countSubsets(asked: boolean): void {
    const { model } = this;
    if (!model.opened) return;
    const { mixer: of, key: layer } = model.opened;
    const heads = model.heads.length;
    const weights = model.allShares;
    const key = `${layer} ${weights.map((w) => w.toPrecision(9)).join()}`;
    this.showAsk();
    if (model.subsets?.key === key) return this.showWorth();
    if (heads < 2 || heads > (asked ? MOST : LIVE)) {
      if (!model.subsets || asked) return;
      model.subsets = null;
      return this.showWorth();
    }
    const count = () => {
      if (asked) fill(this.ask, h('p', { class: 'note', role: 'status' }, `Measuring ${2 ** heads} sets of heads…`));
      void this.counting.run(
        () => of.subsets(weights),
        (result) => {
          model.subsets = { key, of: result };
          this.showWorth();
          this.showAsk();
        },
        model.fail,
      );
    };
    clearTimeout(this.timer);
    this.timer = window.setTimeout(count, asked || !model.subsets ? 0 : 120);
  }

  /** What to do where the sets are too many to be measured at once. */
  private showAsk(): void {
    const { heads, subsets, isMean, context } = this.model;
    const sets = `${heads.length} heads have ${(2 ** heads.length).toLocaleString('en')} sets`;
    const possible = heads.length > LIVE && heads.length <= MOST && !subsets;
    const beyond = heads.length > MOST && !context.session.heads;
    this.ask.hidden = !possible && !beyond;
    if (beyond)
      fill(
        this.ask,
        note(
          `${sets}, too many to measure here. “synergraph heads FILE --page heads.html” writes a page with the value of each head over all samples, and the best sets.`,
        ),
      );
    if (possible) {
      const measure = button(`Measure every set on ${isMean ? 'every' : 'this'} sample`, () => this.countSubsets(true));
      fill(this.ask, div('controls', note(`${sets}.`), measure));
    }
  }

  private showWorth(): void {
    this.sets.update();
    this.pruning.update();
    this.worth.redraw();
  }

  private showNumbers(): void {
    const { mix, opened, heads } = this.model;
    const list = mix ? mixReadings(mix, opened!.reference, heads.length, this.model.weakestPhrase) : [];
    this.numbers.update(list);
    this.tokens.element.hidden = !mix;
    if (!mix || this.frame) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      if (this.model.mix) this.tokens.redraw();
    });
  }
}

/** The title of the view, and what is chosen beside it. */
function mixerControls(model: MixerModel) {
  const { context, attention } = model;
  const { store, session } = context;
  const layers = choose<number>('Layer', layerOptions(attention), (layer) => store.set({ layer, weights: null }));
  const samples = choose<Sample>('Sample', [], (sample) => store.set({ sample }));
  const values = valueControl(context);
  const conventions = conventionControl(context);
  const measuredWith = settingsNote(session);
  /** What the program would say of this layer, sample and weights. */
  const measure = async () => {
    const { now, shares: weights, options } = model;
    const core = await context.core;
    return core.measure(attention.system(now.layer, now.sample as number), { ...options, weights });
  };
  const save = button(
    'Save JSON',
    () =>
      void new Latest().run(
        measure,
        (document) => saveJson(`mix-${model.words.replaceAll(/[ ,]+/g, '-')}`, document),
        model.fail,
      ),
  );
  const edges = edgesControl(context);
  const controls = [layers, samples, conventions, edges, values];
  return {
    elements: [sessionHeader(session, session.title, ...controls, save), measuredWith],
    update(state: State): void {
      const { value, convention } = state;
      const { info, sample } = model.now;
      layers.update(info.index);
      samples.update(sample, sampleOptions(info));
      values.update(value);
      conventions.update(convention);
      edges.update(state.edges);
      measuredWith.update(state);
      save.disabled = model.isMean;
    },
  };
}

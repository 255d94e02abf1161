import { Latest } from '../async';
import { meanNumbers, measureLayer, type MeanNumbers, type MeasuredLayer } from '../data/measure-layer';
import { layerOptions, leftOut, sampleOptions, sampleWords, selected, type Sample, type Selection } from '../data/selection';
import { measurementOf } from '../data/settings';
import { fill, h } from '../dom';
import type { State } from '../state';
import { choose, segments, type Reading } from '../ui/controls';
import { explainedReadings } from '../ui/glossary';
import { button, div, link, note } from '../ui/parts';
import { saveJson } from '../ui/save';
import type { Context, Mounted, View } from '../view';
import { conventionControl, edgesControl, sessionHeader, settingsNote } from './facts';
import { layerFigures } from './layer-figures';
import { LayerMatrix } from './layer-matrix';
import { ShownLayer, shownHead } from './layer-model';
import { metricReadings } from './layer-readings';
import { isLong, longWords, meanNoteWords } from './layer-words';
import { meanReadings } from './mean-readings';

/** One layer on one sample: its matrices, and how signals and walks go through them. */
export const layer: View = {
  name: 'layer',
  title: 'Layer',
  shows: (session) => session.attention !== null,
  mount: (root, context) => new LayerView(root, context),
};

class LayerView implements Mounted {
  private now: Selection;
  private measured: MeasuredLayer | null = null;
  private readonly measuring = new Latest();
  private readonly controls: ReturnType<typeof layerControls>;
  private readonly matrix: LayerMatrix;
  private readonly figures: ReturnType<typeof layerFigures>;
  private readonly numbers = explainedReadings();
  private readonly where = h('p', { class: 'print-only' });
  private readonly wait = div('card');
  private readonly weightsNote = note();
  private readonly meanNote = note();

  constructor(
    root: HTMLElement,
    private readonly context: Context,
  ) {
    this.now = selected(context.session.attention!, context.store.get());
    const words = () => sampleWords(this.now.info, this.now.sample).replaceAll(' ', '-');
    this.controls = layerControls(context, () => {
      if (this.measured) saveJson(`layer-${this.now.info.name}-${words()}`, this.measured.document);
    });
    this.matrix = new LayerMatrix(context, () => this.now);
    this.figures = layerFigures(
      () => this.shown!,
      () => this.title,
    );
    const { survival, signal, fidelity } = this.figures;
    fill(
      root,
      this.controls.elements,
      this.where,
      this.matrix.strip,
      this.weightsNote,
      this.meanNote,
      this.numbers.elements,
      div('layer-grid', div('stack', this.matrix.figure, fidelity), div('stack', this.wait, signal, survival)),
    );
  }

  update(state: State, before: State | null): void {
    this.now = selected(this.context.session.attention!, state);
    this.controls.update(state, this.now);
    fill(this.where, `L${this.title.slice(1)}`);
    this.showWeights();
    const changed = (...fields: (keyof State)[]) => !before || fields.some((field) => before[field] !== state[field]);
    const other = changed('layer', 'sample', 'weights', 'convention', 'edges');
    if (other) {
      this.matrix.showHeads(null);
      this.measure(false);
    } else if (changed('head')) {
      this.matrix.chooseHead();
      this.showNumbers();
    }
    if (other || changed('head', 'colours')) this.matrix.show(this.shown);
    if (before && changed('colours')) this.matrix.drawSmall();
  }

  leave(): void {
    this.matrix.stop();
    this.measuring.stop();
  }

  private get shown(): ShownLayer | null {
    return this.measured && new ShownLayer(this.measured, this.now, this.context.session);
  }

  /** What is shown, in words. */
  private get title(): string {
    const { info, sample } = this.now;
    return `layer ${info.name}, ${shownHead(this.now)}, ${sampleWords(info, sample)}`;
  }

  /** Says where weights are those of the mixer, and what is not in the page. */
  private showWeights(): void {
    const { session, store } = this.context;
    const missing = leftOut(session, this.now.info);
    const back = link('Use the weights of the data', () => store.set({ weights: null }));
    fill(this.weightsNote, missing, ' ', this.now.mixed && ['All heads together have the weights of the mixer. ', back]);
    this.weightsNote.hidden = !this.now.mixed && !missing;
  }

  private measure(asked: boolean): void {
    const { context, now: selection, wait } = this;
    const { session, store, core, say } = context;
    const { convention, edges } = store.get();
    const { options } = measurementOf(session, convention, edges);
    this.measured = null;
    this.showNumbers();
    if (isLong(selection) && !asked) {
      this.measuring.stop();
      const go = button('Measure this layer', () => this.measure(true));
      return fill(wait, note(`Walks and signals of ${longWords(selection)} take a while: `), go);
    }
    fill(wait, h('p', { class: 'note', role: 'status' }, 'Measuring…'));
    void this.measuring.run(
      async () => measureLayer(await core, session.attention!, selection, options, () => selection === this.now),
      (result) => {
        this.measured = result;
        this.showNumbers();
        this.matrix.showHeads(this.shown);
        this.matrix.show(this.shown);
      },
      (line) => {
        fill(wait, note(line));
        say(line, 'error');
      },
    );
  }

  private showNumbers(): void {
    const { shown, context, now } = this;
    const samples = shown?.measured.samples;
    const means = samples ? meanNumbers(context.session, context.store.get(), now, samples) : null;
    const list = shown ? readingsOf(shown, means) : [];
    this.wait.hidden = shown !== null;
    this.controls.saves(shown !== null && now.sample !== 'mean');
    this.numbers.update(list);
    fill(this.meanNote, means && meanNoteWords(means, now));
    this.meanNote.hidden = !means;
    this.figures.update(shown);
  }
}

const readingsOf = (shown: ShownLayer, means: MeanNumbers | null): Reading[] =>
  means ? meanReadings(means, shown.document.settings.eps, shown.together) : metricReadings(shown);

/** The title of the view, and what is chosen beside it. */
function layerControls(context: Context, save: () => void) {
  const { store, session } = context;
  const layers = choose<number>('Layer', layerOptions(session.attention!), (value) => store.set({ layer: value }));
  const samples = choose<Sample>('Sample', [], (sample) => store.set({ sample }));
  const colours = segments<State['colours']>('Colours', { linear: 'Linear', root: 'Root', log: 'Log' }, (value) =>
    store.set({ colours: value }),
  );
  const conventions = conventionControl(context);
  const measuredWith = settingsNote(session);
  const saveButton = button('Save JSON', save);
  const edges = edgesControl(context);
  const controls = [layers, samples, conventions, edges, colours];
  return {
    elements: [sessionHeader(session, session.title, ...controls, saveButton), measuredWith],
    saves: (possible: boolean) => (saveButton.disabled = !possible),
    update(state: State, { info, sample }: Selection): void {
      layers.update(info.index);
      samples.update(sample, sampleOptions(info));
      colours.update(state.colours);
      conventions.update(state.convention);
      edges.update(state.edges);
      measuredWith.update(state);
    },
  };
}

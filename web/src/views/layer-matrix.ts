/** The matrices of a layer: one large, and the small ones of all heads to choose from. */
import { Latest } from '../async';
import { matrixView, thumbnail, type MatrixData } from '../charts/matrix';
import { headName } from '../data/intervals';
import { matrixFor } from '../data/measure-layer';
import { edgesOf } from '../data/settings';
import { sampleWords, tokenLabel, tokenName, type Selection } from '../data/selection';
import { fill, h } from '../dom';
import { currentTheme } from '../theme';
import { figure } from '../ui/figure';
import { button } from '../ui/parts';
import { number, numeric, words, type TableData } from '../ui/table';
import type { Context } from '../view';
import { shownHead, type ShownLayer } from './layer-model';
import { AT_ONCE, matrixWords } from './layer-words';

type Head = number | 'all';

/** Tokens of a matrix that is saved as numbers. */
const MOST_SAVED = 1024;
/** Heads, and tokens of a sample, up to which there are small matrices. */
const MOST_SMALL = 40;
const SMALL_TOKENS = 512;

export class LayerMatrix {
  /** The head buttons, each with a small matrix. */
  readonly strip = h('div', { class: 'heads-strip', role: 'group', 'aria-label': 'Heads' });
  readonly figure: ReturnType<typeof figure>;
  private readonly view = matrixView('Attention matrix');
  private readonly pictures = new Latest();
  private readonly small = new Latest();
  private readonly cache = new Map<string, Promise<MatrixData>>();
  private buttons: { head: Head; picture: HTMLCanvasElement | null; element: HTMLElement }[] = [];
  private matrices: MatrixData[] = [];
  /** The matrix that is shown. */
  private shown: MatrixData | null = null;

  constructor(
    private readonly context: Context,
    private readonly now: () => Selection,
  ) {
    const { view } = this;
    const redraw = view.element.redraw!;
    view.element.redraw = () => {
      redraw();
      this.drawSmall();
    };
    this.figure = figure({
      name: 'attention',
      of: () => sampleWords(this.now().info, this.now().sample),
      title: '',
      body: view.element,
      csv: () => this.table(),
      draw: (width, theme) => view.draw(width, theme),
    });
  }

  stop(): void {
    this.pictures.stop();
    this.small.stop();
  }

  /** Shows the matrix of the head that is chosen, and marks the weakest token. */
  show(measured: ShownLayer | null): void {
    const { context, view } = this;
    const selection = this.now();
    const label = tokenLabel(context.session, selection.sample);
    this.figure.title(`Layer ${selection.info.name}, ${shownHead(selection)}`);
    this.figure.caption(matrixWords(selection));
    if (selection.info.tokens > AT_ONCE) view.wait();
    void this.pictures.run(
      () => this.matrix(selection, selection.head),
      (data) => {
        this.shown = data;
        view.show(data, context.store.get().colours, label, measured?.weakest ?? null);
      },
      (line) => context.say(line, 'error'),
    );
  }

  /** A button for every head of a layer; the one with the largest fidelity alone has a dot. */
  showHeads(measured: ShownLayer | null): void {
    const selection = this.now();
    const { info, sample } = selection;
    const several = info.heads.length > 1;
    const list: Head[] = several ? ['all', ...info.heads.keys()] : [0];
    const tokens = info.tokens * (sample === 'mean' ? info.samples.length / 4 : 1);
    const small = several && tokens <= SMALL_TOKENS && list.length <= MOST_SMALL;
    const best = several && measured?.document.best_head_decided ? measured.document.best_head : null;
    this.buttons = list.map((head) => this.headButton(head, small, head !== 'all' && info.heads[head] === best));
    this.matrices = [];
    fill(this.strip, this.buttons);
    this.strip.hidden = !several;
    if (!small) return;
    void this.small.run(
      () => Promise.all(list.map((head) => this.matrix(selection, head))),
      (all) => {
        this.matrices = all;
        this.drawSmall();
      },
      () => {},
    );
  }

  private headButton(head: Head, small: boolean, best: boolean) {
    const { head: chosen, info } = this.now();
    const about = 'largest fidelity alone on this sample';
    const picture = small ? h('canvas', { width: 64, height: 64 }) : null;
    const name = h('span', {}, head === 'all' ? 'all heads' : headName(info.heads[head]!), best ? ' ●' : '');
    const element = button(
      [picture, name, best && h('span', { class: 'hidden-text' }, ` (${about})`)],
      () => this.context.store.set({ head }),
      { class: 'head-button', 'aria-pressed': String(head === chosen), title: best ? about : null },
    );
    return { head, picture, element };
  }

  /** Marks the head that is chosen. */
  chooseHead(): void {
    for (const { head, element } of this.buttons) element.setAttribute('aria-pressed', String(head === this.now().head));
  }

  drawSmall(): void {
    const theme = currentTheme();
    const { colours } = this.context.store.get();
    this.matrices.forEach((data, i) => thumbnail(this.buttons[i]!.picture!, data, theme, colours));
  }

  /** The matrix of a head or of all; what was wanted before is kept. */
  private matrix(selection: Selection, head: Head): Promise<MatrixData> {
    const { cache, context } = this;
    const edges = edgesOf(context.session, context.store.get().edges);
    const key = [selection.layer, selection.sample, head, head === 'all' ? selection.weights.join() : '', edges].join(' ');
    let found = cache.get(key);
    if (!found) {
      found = context.core.then((core) => matrixFor(core, context.session.attention!, selection, head, edges));
      if (cache.size > (selection.info.tokens > 1000 ? 2 : 80)) cache.delete(cache.keys().next().value!);
      cache.set(key, found);
      found.catch(() => cache.delete(key));
    }
    return found;
  }

  private table(): TableData {
    const { shown, context } = this;
    const { info, head, sample } = this.now();
    const all = shown?.nodes ?? 0;
    const nodes = Math.min(all, MOST_SAVED);
    if (nodes < all) context.say(`The file has the first ${nodes} of ${all} tokens: more would need hundreds of megabytes.`);
    const names = Array.from({ length: nodes }, (_, j) => tokenName(context.session, sample)(j));
    return {
      name: `attention-layer-${info.name}-${head === 'all' ? 'all' : `head-${info.heads[head]}`}`,
      caption: 'Attention: rows are queries, columns keys',
      columns: [{ label: 'query' }, ...numeric(...names)],
      rows: names.map((name, i) => ({
        cells: [words(name), ...names.map((_, j) => number(shown!.values[i * all + j]!))],
      })),
    };
  }
}

import { Latest } from '../async';
import type { SystemDocument } from '../core';
import { graphSession } from '../data/session';
import { graphMeasurement, settingsWords } from '../data/settings';
import { fill, h, uniqueId } from '../dom';
import type { State } from '../state';
import { glossaryOf } from '../ui/glossary';
import { card, cardHead, div, headRow, note, quiet } from '../ui/parts';
import { saveFile, saveJson } from '../ui/save';
import { csvButton, table } from '../ui/table';
import type { Context, Mounted, View } from '../view';
import { Edits } from './graph-edits';
import { graphFigures } from './graph-figures';
import { played, Playing, type Played } from './graph-model';
import { player } from './graph-player';
import { generatorCard, sourceControl } from './graph-sources';
import { inWords, measuredQuantities, measuredTable } from './graph-tables';

/** Graphs with several heads, drawn or typed, and walks and signals on them step by step. */
export const graph: View = {
  name: 'graph',
  title: 'Graphs',
  shows: () => true,
  mount: (root, context) => new GraphView(root, context),
};

class GraphView implements Mounted {
  private now: Played | null = null;
  private wanted: string | null = null;
  private readonly reading = new Latest();
  private readonly edits: Edits;
  private readonly source: ReturnType<typeof sourceControl>;
  private readonly player: ReturnType<typeof player>;
  private readonly figures: ReturnType<typeof graphFigures>;
  private readonly measured: ReturnType<typeof measuredCard>;
  private readonly text: ReturnType<typeof textCard>;
  private readonly graphOnly: HTMLElement;
  /** A document has the numbers of its graph and not its edges. */
  private readonly document: SystemDocument | null;

  constructor(
    root: HTMLElement,
    private readonly context: Context,
  ) {
    const { store, session } = context;
    this.document = session.graphText ? null : session.graph;
    const parsed = () => this.now?.parsed ?? null;
    this.edits = new Edits(context, parsed);
    this.source = sourceControl(session, this.edits);
    this.player = player(store);
    this.figures = graphFigures(context, this.edits, () => new Playing(this.now!, store.get()));
    this.measured = measuredCard(context, () => ({ now: this.now, document: this.now?.document ?? this.document }));
    this.text = textCard((text) => store.set({ graph: text, step: 0 }));
    const [drawn, ...curves] = this.figures.list;
    this.graphOnly = div('stack', this.measured, div('grid', ...curves));
    fill(
      root,
      headRow(
        (session.graph && session.title) || 'Graphs',
        note(
          'Every edge points forward; the last node is the sink. How fast does a walk reach the sink, and how much of each node’s signal arrives? Draw the graph or type it. Several heads make one graph.',
        ),
        this.source,
      ),
      div(
        'graph-grid',
        div('stack', drawn, this.player, this.graphOnly),
        div('stack', this.text, generatorCard(context, this.edits, parsed)),
      ),
    );
    this.hide(true);
    this.graphOnly.hidden = true;
  }

  update(state: State, before: State | null): void {
    const text = state.graph || null;
    if (!before || text !== this.wanted) this.read(text);
    else if ((['step', 'start', 'head', 'play'] as const).some((field) => before[field] !== state[field])) this.show();
  }

  leave(): void {
    this.player.stop();
    this.text.leave();
    this.reading.stop();
    this.edits.leave();
  }

  /** What only a graph has, and not its document. */
  private hide(hidden: boolean): void {
    for (const { element } of [this.player, ...this.figures.list]) element.hidden = hidden;
    this.graphOnly.hidden = false;
  }

  /** Reads and measures the text of the state. */
  private read(text: string | null): void {
    this.wanted = text;
    const { core, session } = this.context;
    if (text === null && this.document) {
      this.reading.stop();
      return this.showDocument(this.document);
    }
    const own = session.graphText ? { text: session.graphText } : { example: 2 as const };
    const source = text === null ? own : { text, source: 'graph' };
    void this.reading.run(
      async () => played(await core, source, text, graphMeasurement(session).options),
      (result) => {
        this.now = result;
        this.figures.reset();
        this.text.show(result.text, text === null);
        this.show();
      },
      (line) => {
        this.text.fail(line, text);
        this.source.update('');
      },
    );
  }

  /** What a document says, without its graph. */
  private showDocument(document: SystemDocument): void {
    this.now = null;
    this.hide(true);
    this.text.without(
      `${this.context.session.title} has the numbers of its graph but not its edges, so the page cannot draw, play or mix it. Open the text of the graph (synergraph graph --text), or a page with it (--page).`,
    );
    this.source.update('');
    this.measured.update(document);
  }

  /** Everything that follows from the graph and the step. */
  private show(): void {
    if (!this.now) return;
    const playing = new Playing(this.now, this.context.store.get());
    const { taken } = this.edits;
    this.hide(false);
    this.player.update(playing);
    this.source.update(taken.text === this.now.parsed.text || !playing.state.graph ? taken.value : '');
    this.measured.update(this.now.document);
    this.figures.update(playing);
  }
}

/** The graph as text, and what is wrong with it. */
function textCard(typed: (text: string) => void) {
  let timer = 0;
  const wait = () => {
    clearTimeout(timer);
    timer = window.setTimeout(() => typed(text.value), 300);
  };
  const text = h('textarea', { id: uniqueId('text'), rows: 16, spellcheck: 'false', autocomplete: 'off', oninput: wait });
  const problem = h('p', { class: 'problem', role: 'status' });
  const away = () => document.activeElement !== text;
  return {
    element: card(
      cardHead(
        h('label', { for: text.id }, 'As text'),
        quiet('Save', () => saveFile('graph.txt', text.value, 'text/plain')),
      ),
      text,
      problem,
    ),
    /** A graph that was read; what is being typed stays. */
    show(value: string, always: boolean): void {
      fill(problem);
      text.removeAttribute('aria-invalid');
      if (always || away()) text.value = value;
    },
    fail(line: string, value: string | null): void {
      fill(problem, line);
      text.setAttribute('aria-invalid', 'true');
      if (value !== null && away()) text.value = value;
    },
    without(line: string): void {
      text.value = '';
      fill(problem, line);
    },
    leave: () => clearTimeout(timer),
  };
}

/** The numbers of a graph, in words and as a table. */
function measuredCard(context: Context, get: () => { now: Played | null; document: SystemDocument | null }) {
  let shown: ReturnType<typeof table> | null = null;
  const numbers = h('div', {});
  const words = note();
  const mix = () => {
    const { now } = get();
    const text = now?.parsed.text;
    if (text) context.open(graphSession(text, now!.document), { view: 'mixer', of: 'graph', graph: text });
  };
  const save = () => {
    const { document } = get();
    if (document) saveJson('graph', document);
  };
  return {
    element: card(
      cardHead(
        'Measured',
        csvButton(() => measuredTable(get().document!)),
        quiet('Mix these heads', mix),
        quiet('Save JSON', save),
      ),
      words,
      h('p', { class: 'note settings' }, settingsWords(graphMeasurement(context.session))),
      numbers,
    ),
    update(document: SystemDocument): void {
      const data = measuredTable(document);
      if (shown) shown.update(data);
      else fill(numbers, (shown = table(data)), glossaryOf([...measuredQuantities(document), 'synergy']));
      fill(words, inWords(document));
    },
  };
}

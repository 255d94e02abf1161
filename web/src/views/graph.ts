import { Latest } from '../async';
import { arcs } from '../charts/arcs';
import { lines } from '../charts/lines';
import type { Curves, GraphSource, GraphSteps, Metrics, ParsedGraph, SystemDocument } from '../core';
import { graphSession } from '../data/session';
import { fidelityText } from '../data/intervals';
import { graphMeasurement, settingsWords } from '../data/settings';
import { addHead, addNode, course, graphText, removeHead, removeNode, toggleEdge, type Graph } from '../data/graph';
import { fill, h, uniqueId } from '../dom';
import { digits } from '../quantities';
import type { Theme } from '../theme';
import { choose, segments } from '../ui/controls';
import { figure } from '../ui/figure';
import { glossaryOf } from '../ui/glossary';
import { saveFile } from '../ui/save';
import { csvButton, table, type TableData } from '../ui/table';
import type { View } from '../view';
import { edgeTable, inWords, measuredQuantities, measuredTable } from './graph-tables';

interface Generator {
  name: string;
  label: string;
  /** What follows the number of nodes. */
  parameter?: { label: string; initial: string };
}

const GENERATORS: Generator[] = [
  { name: 'chain', label: 'Chain' },
  { name: 'complete', label: 'Complete' },
  { name: 'window', label: 'Window', parameter: { label: 'Width', initial: '3' } },
  { name: 'powers', label: 'Powers of two' },
  { name: 'star', label: 'Star' },
  { name: 'random', label: 'Random', parameter: { label: 'Probability', initial: '0.3' } },
];

/** Nodes that a generated graph may have here. */
const MOST_NODES = 512;

/** Nodes up to which a graph is drawn. */
const DRAWN = 128;

interface Played {
  text: string;
  parsed: ParsedGraph;
  document: SystemDocument;
  curves: Curves;
  steps: GraphSteps;
}

/** Graphs with several heads, drawn or typed, and walks and signals on them step by step. */
export const graph: View = {
  name: 'graph',
  title: 'Graphs',
  shows: () => true,
  mount(root, context) {
    const { store, session } = context;
    const { options } = graphMeasurement(session);
    let now: Played | null = null;
    let pending: number | null = null;
    let taken = { value: session.graphText ? 'data' : session.graph ? '' : '2', text: '' };
    let wanted: string | null = null;
    let timer = 0;
    let typing = 0;
    const reading = new Latest();
    /** Edits that the browser's history can take back. */
    let edits = 0;
    const undo = () => {
      if (edits === 0) return context.say('There is nothing to undo.');
      edits -= 1;
      history.back();
    };
    const undoKey = (event: KeyboardEvent) => {
      const typing_ = event.target instanceof HTMLElement && event.target.matches('input, textarea, select');
      if (!(event.ctrlKey || event.metaKey) || event.shiftKey || event.key !== 'z' || typing_) return;
      event.preventDefault();
      undo();
    };
    addEventListener('keydown', undoKey);

    /** Takes a graph from somewhere; its text becomes the state. */
    const take = (value: string, source: GraphSource) =>
      void new Latest().run(
        async () => (await context.core).graph(source),
        (parsed) => {
          taken = { value, text: parsed.text };
          edits += 1;
          store.set({ graph: parsed.text, step: 0, start: 0, head: 'all' }, 'edit');
        },
        (line) => context.say(line, 'error'),
      );
    const edit = (change: (graph: Graph) => Graph, also = {}) => {
      if (!now) return;
      const text = graphText(change(now.parsed));
      void new Latest().run(
        async () => (await context.core).graph({ text }),
        (parsed) => {
          edits += 1;
          store.set({ graph: parsed.text, ...also }, 'edit');
        },
        (line) => context.say(line, 'error'),
      );
    };

    // Where graphs come from.
    const source = choose<string>(
      'Begin with',
      [
        { value: '', label: 'A graph of your own' },
        ...(session.graphText ? [{ value: 'data', label: session.title || 'the page’s graph', group: 'This page' }] : []),
        { value: '1', label: 'Worked example 1: no head alone arrives', group: 'The paper' },
        { value: '2', label: 'Worked example 2: together more faithful', group: 'The paper' },
        { value: 'chain:12 powers:12', label: 'Chain and powers of two, 12 nodes', group: 'Generated' },
        { value: 'window:16:3 star:16', label: 'Window and star, 16 nodes', group: 'Generated' },
        {
          value: 'random:14:0.25:1 random:14:0.25:2 random:14:0.25:3',
          label: 'Three random heads, 14 nodes',
          group: 'Generated',
        },
        { value: 'complete:8', label: 'Complete, 8 nodes', group: 'Generated' },
      ],
      (value) => {
        if (value === '') return;
        if (value === 'data') take(value, { text: session.graphText! });
        else if (value === '1' || value === '2') take(value, { example: Number(value) as 1 | 2 });
        else take(value, { generators: value.split(' ') });
      },
    );
    const nodeCount = h('input', { type: 'number', id: uniqueId('nodes'), min: 1, max: MOST_NODES, value: 12 });
    const parameterLabel = h('label', {});
    const parameter = h('input', { type: 'text', id: uniqueId('parameter'), size: 5 });
    parameterLabel.htmlFor = parameter.id;
    const parameterField = h('div', { class: 'field' }, parameterLabel, parameter);
    let generator = GENERATORS[0]!;
    const kind = choose<string>(
      'Generator',
      GENERATORS.map(({ name, label }) => ({ value: name, label })),
      (name) => setGenerator(name),
    );
    const setGenerator = (name: string) => {
      generator = GENERATORS.find((one) => one.name === name)!;
      parameterField.hidden = !generator.parameter;
      fill(parameterLabel, generator.parameter?.label ?? '');
      parameter.value = generator.parameter?.initial ?? '';
    };
    setGenerator('chain');
    const specification = () => [generator.name, nodeCount.value, ...(generator.parameter ? [parameter.value] : [])].join(':');
    const newGraph = () => {
      if (nodeCount.validity.valid) take('', { generators: [specification()] });
      else context.say(`A graph that is made here has 1 to ${MOST_NODES} nodes; the program makes larger ones.`, 'error');
    };
    const addGenerated = () => {
      if (!now) return;
      const { parsed } = now;
      nodeCount.value = String(parsed.nodes.length);
      void new Latest().run(
        async () => (await context.core).graph({ generators: [specification()] }),
        (made) =>
          edit((graph) => ({
            nodes: graph.nodes,
            heads: [...graph.heads, { ...made.heads[0]!, name: uniqueName(graph, made.heads[0]!.name) }],
          })),
        (line) => context.say(line, 'error'),
      );
    };

    // The graph as text.
    const text = h('textarea', {
      id: uniqueId('text'),
      rows: 16,
      spellcheck: 'false',
      autocomplete: 'off',
      oninput: () => {
        clearTimeout(typing);
        typing = window.setTimeout(() => store.set({ graph: text.value, step: 0 }), 300);
      },
    });
    const problem = h('p', { class: 'problem', role: 'status' });

    // The play.
    const heads = segments<number | string>('Head', [], (value) => store.set({ head: value === 'all' ? 'all' : Number(value) }));
    const plays = segments<'walk' | 'diffusion'>(
      'Play',
      [
        { value: 'walk', label: 'Walk' },
        { value: 'diffusion', label: 'Diffusion' },
      ],
      (play) => store.set({ play }),
    );
    const starts = choose<number>('From', [], (start) => store.set({ start, step: 0 }));
    const slider = h('input', {
      type: 'range',
      min: 0,
      max: 1,
      step: 1,
      'aria-label': 'Step',
      oninput: () => store.set({ step: Number(slider.value) }),
    });
    const stepText = h('output', {});
    const playing = h('button', { type: 'button', class: 'main', onclick: () => (timer ? stop() : play()) }, 'Play');
    const stop = () => {
      clearInterval(timer);
      timer = 0;
      fill(playing, 'Play');
    };
    const play = () => {
      if (!now) return;
      if (store.get().step >= now.steps.steps) store.set({ step: 0 });
      fill(playing, 'Pause');
      timer = window.setInterval(() => {
        if (!now || store.get().step >= now.steps.steps) return stop();
        store.set({ step: store.get().step + 1 });
      }, 450);
    };
    const step = (by: number) => {
      stop();
      if (now) store.set({ step: Math.max(0, Math.min(now.steps.steps, store.get().step + by)) });
    };

    const selected = () => {
      const { head } = store.get();
      return head === 'all' || !now || head >= now.parsed.heads.length ? ('all' as const) : head;
    };
    const editHead = () => (selected() === 'all' ? 0 : (selected() as number));
    const series = <T>(list: readonly T[]) => list[selected() === 'all' ? list.length - 1 : (selected() as number)]!;
    const start = () => Math.min(store.get().start, now!.parsed.nodes.length - 1);
    const states = () => {
      const { nodes, steps } = now!.steps;
      const of = series(now!.steps.series);
      const kindNow = store.get().play;
      return course(kindNow === 'walk' ? of.walk : of.diffusion, nodes, start(), steps, kindNow);
    };

    const drawn = figure({
      name: 'graph',
      title: 'The graph',
      draw: (width, theme) => {
        const { parsed } = now!;
        const { nodes } = now!.steps;
        const at = states()[store.get().step] ?? null;
        const list = now!.steps.series;
        return arcs(
          {
            graph: parsed,
            active: selected(),
            at,
            start: start(),
            pending,
            flow: (head, from, to) => {
              if (!at) return 0;
              const of = list[head]!;
              const share = selected() === 'all' && list.length > 1 ? now!.document.heads[head]!.weight : 1;
              return (
                share *
                (store.get().play === 'walk'
                  ? at[from]! * of.walk[from * nodes + to]!
                  : at[from]! * of.diffusion[to * nodes + from]!)
              );
            },
            pick: (node) => {
              if (pending === null) pending = node;
              else {
                const from = pending;
                pending = null;
                if (parsed.heads[editHead()]?.kind === 'matrix') context.say('The entries of a matrix are edited in the text.');
                else edit((graph) => toggleEdge(graph, editHead(), from, node));
              }
              drawn.redraw();
            },
            cancel: () => {
              pending = null;
              drawn.redraw();
            },
            remove: (node) => {
              if (node === parsed.nodes.length - 1) context.say('The sink stays: every walk ends there.');
              else if (parsed.heads.some((head) => head.kind === 'matrix'))
                context.say('The entries of a matrix are edited in the text.');
              else edit((graph) => removeNode(graph, node));
            },
          },
          width,
          theme,
        );
      },
      table: () => edgeTable(now!.parsed),
      tools: [
        h('button', { type: 'button', class: 'quiet', onclick: undo, title: 'Ctrl+Z' }, 'Undo'),
        h('button', { type: 'button', class: 'quiet', onclick: () => edit(addNode) }, '+ node'),
        h(
          'button',
          {
            type: 'button',
            class: 'quiet',
            onclick: () => now && now.parsed.nodes.length > 2 && edit((graph) => removeNode(graph, graph.nodes.length - 2)),
          },
          '− node',
        ),
        h('button', { type: 'button', class: 'quiet', onclick: () => edit(addHead) }, '+ head'),
        h(
          'button',
          {
            type: 'button',
            class: 'quiet',
            onclick: () =>
              now &&
              now.parsed.heads.length > 1 &&
              edit((graph) => removeHead(graph, selected() === 'all' ? graph.heads.length - 1 : editHead()), { head: 'all' }),
          },
          '− head',
        ),
      ],
    });
    const arrival = figure({ name: 'course', title: '', draw: (w, t) => drawCourse(w, t), table: () => courseTable() });
    const survival = figure({
      name: 'survival',
      title: 'Survival of the slowest walk',
      caption: 'The chance that a walk from the slowest node has not reached the sink; T_mix is where it falls to ε.',
      draw: (w, t) => drawSurvival(w, t),
      table: () => survivalTable(),
    });
    /** A document has the numbers of its graph and not its edges. */
    const document_ = session.graphText ? null : session.graph;
    const numbers = h('div', {});
    let numbersTable: ReturnType<typeof table> | null = null;
    const words_ = h('p', { class: 'note' });
    const graphOnly = h('div', { class: 'stack' });
    let player: HTMLElement;
    fill(
      root,
      h(
        'div',
        { class: 'head-row' },
        h(
          'div',
          { class: 'title' },
          h('h1', {}, (session.graph && session.title) || 'Graphs'),
          h(
            'p',
            { class: 'note' },
            'Every edge points forward, the last node is the sink. How fast does a walk get there, and how much of each node’s signal arrives? Draw, or type; several heads make one graph.',
          ),
        ),
        h('div', { class: 'controls' }, source.element),
      ),
      h(
        'div',
        { class: 'graph-grid' },
        h(
          'div',
          { class: 'stack' },
          drawn.element,
          (player = h(
            'section',
            { class: 'card player screen-only', 'aria-label': 'Play' },
            h('div', { class: 'controls' }, plays.element, starts.element, heads.element),
            h(
              'div',
              { class: 'player-row' },
              playing,
              h('button', { type: 'button', 'aria-label': 'One step back', onclick: () => step(-1) }, '‹'),
              h('button', { type: 'button', 'aria-label': 'One step on', onclick: () => step(1) }, '›'),
              slider,
              stepText,
            ),
          )),
          graphOnly,
        ),
        h(
          'div',
          { class: 'stack' },
          h(
            'section',
            { class: 'card' },
            h(
              'div',
              { class: 'figure-head' },
              h('h2', { class: 'small' }, h('label', { for: text.id }, 'As text')),
              h(
                'div',
                { class: 'tools' },
                h(
                  'button',
                  { type: 'button', class: 'quiet', onclick: () => saveFile('graph.txt', text.value, 'text/plain') },
                  'Save',
                ),
              ),
            ),
            text,
            problem,
          ),
          h(
            'section',
            { class: 'card screen-only' },
            h('h2', { class: 'small' }, 'Add a head'),
            h(
              'div',
              { class: 'controls' },
              kind.element,
              h('div', { class: 'field' }, h('label', { for: nodeCount.id }, 'Nodes'), nodeCount),
              parameterField,
              h('button', { type: 'button', onclick: addGenerated }, 'Add to this graph'),
              h('button', { type: 'button', onclick: newGraph }, 'New graph'),
            ),
          ),
        ),
      ),
    );
    fill(
      graphOnly,
      h(
        'section',
        { class: 'card' },
        h(
          'div',
          { class: 'figure-head' },
          h('h2', { class: 'small' }, 'Measured'),
          h(
            'div',
            { class: 'tools' },
            csvButton(() => measuredTable((now?.document ?? document_)!)),
            h(
              'button',
              {
                type: 'button',
                class: 'quiet',
                onclick: () =>
                  now &&
                  context.open(graphSession(now.parsed.text, now.document), {
                    view: 'mixer',
                    of: 'graph',
                    graph: now.parsed.text,
                  }),
              },
              'Mix these heads',
            ),
            h(
              'button',
              {
                type: 'button',
                class: 'quiet',
                onclick: () => {
                  const of = now?.document ?? document_;
                  if (of) saveFile('graph.json', JSON.stringify(of, null, 2) + '\n', 'application/json');
                },
              },
              'Save JSON',
            ),
          ),
        ),
        words_,
        h('p', { class: 'note settings' }, settingsWords(graphMeasurement(session))),
        numbers,
      ),
      h('div', { class: 'grid' }, arrival.element, survival.element),
    );

    function drawCourse(width: number, theme: Theme): SVGSVGElement {
      const { parsed, steps, curves } = now!;
      const walk = store.get().play === 'walk';
      const all = states();
      const sink = parsed.nodes.length - 1;
      const { minimax_fidelity: best } = metrics();
      return lines(
        {
          label: walk ? 'Chance to have arrived at the sink' : 'Signal at the sink',
          xTitle: 'step t',
          yTitle: walk ? 'chance to be at the sink' : 'signal at the sink',
          height: 270,
          ...(walk ? { yDomain: [0, 1] as [number, number] } : {}),
          series: [
            {
              name: walk ? `walk from ${parsed.nodes[start()]}` : `signal of ${parsed.nodes[start()]}`,
              colour: theme.series[0]!,
              width: 2.4,
              marks: steps.steps <= 40 ? 'dots' : 'none',
              points: all.map((x, t) => ({ x: t, y: x[sink]! })),
            },
            ...(walk
              ? []
              : [
                  {
                    name: 'minimax so far',
                    colour: theme.ink,
                    dash: '6 4',
                    points: Array.from(series(curves.series).minimax, (y, x) => ({ x, y })),
                  },
                ]),
          ],
          moments: [{ x: store.get().step, label: `t = ${store.get().step}` }],
          levels: walk ? [] : [{ y: best.value, label: `minimax fidelity ${fidelityText(metrics())}`, colour: theme.warm }],
          go: (t) => store.set({ step: t }),
        },
        width,
        theme,
      );
    }

    const metrics = (): Metrics => (selected() === 'all' ? now!.document.combined : now!.document.heads[selected() as number]!);

    function drawSurvival(width: number, theme: Theme): SVGSVGElement {
      const { curves, document } = now!;
      const eps = document.settings.eps[0] ?? 0.25;
      const time = metrics().mixing_time[0]?.steps ?? null;
      return lines(
        {
          label: 'Survival of the slowest walk',
          xTitle: 'step t',
          yTitle: 'chance not to have arrived',
          height: 270,
          yDomain: [0, 1],
          series: curves.series.map((one, i) => ({
            name: one.name,
            colour: i < document.heads.length ? theme.series[i % 8]! : theme.ink,
            width: i === (selected() === 'all' ? curves.series.length - 1 : selected()) ? 2.6 : 1.3,
            dash: i < document.heads.length ? '5 3' : '',
            points: Array.from(one.survival, (y, x) => ({ x, y })),
            faint: curves.series.length > 7 && i < document.heads.length,
          })),
          levels: [{ y: eps, label: `ε = ${digits(eps)}` }],
          moments: time === null ? [] : [{ x: time, label: `T_mix = ${digits(time)}`, colour: theme.warm }],
        },
        width,
        theme,
      );
    }

    const cell = (value: number) => ({ value, text: digits(value) });
    const courseTable = (): TableData => ({
      name: store.get().play,
      caption: store.get().play === 'walk' ? 'Where a walker is after so many steps' : 'How much of the signal is in every node',
      columns: [{ label: 'step', numeric: true }, ...now!.parsed.nodes.map((label) => ({ label, numeric: true }))],
      rows: states().map((x, t) => ({ cells: [cell(t), ...Array.from(x, cell)], marked: t === store.get().step })),
    });
    const survivalTable = (): TableData => ({
      name: 'survival',
      caption: 'Chance of the slowest walk not to have arrived',
      columns: [{ label: 'step', numeric: true }, ...now!.curves.series.map(({ name }) => ({ label: name, numeric: true }))],
      rows: Array.from({ length: now!.curves.steps + 1 }, (_, t) => ({
        cells: [cell(t), ...now!.curves.series.map((one) => cell(one.survival[t]!))],
      })),
    });

    const shownOnly = [drawn.element, player, arrival.element, survival.element, graphOnly];
    for (const element of shownOnly) element.hidden = true;

    /** What a document says, without its graph. */
    function showDocument(of: SystemDocument): void {
      now = null;
      for (const element of shownOnly) element.hidden = element !== graphOnly;
      arrival.element.hidden = survival.element.hidden = true;
      text.value = '';
      fill(
        problem,
        `${session.title} has the numbers of its graph and not its edges, so it cannot be drawn, played or mixed. Open the graph’s text (synergraph graph --text), or a page of it (--page).`,
      );
      source.update('');
      showMeasured(of);
    }

    function showMeasured(of: SystemDocument): void {
      const data = measuredTable(of);
      if (numbersTable) numbersTable.update(data);
      else fill(numbers, (numbersTable = table(data)).element, glossaryOf([...measuredQuantities(of), 'synergy']));
      fill(words_, inWords(of));
    }

    /** Reads and measures the text of the state. */
    function read(source_: string | null): void {
      wanted = source_;
      if (source_ === null && document_) {
        reading.stop();
        return showDocument(document_);
      }
      void reading.run(
        async () => {
          const core = await context.core;
          const parsed = await core.graph(
            source_ === null
              ? session.graphText
                ? { text: session.graphText }
                : { example: 2 }
              : { text: source_, source: 'graph' },
          );
          const document = await core.measure({ graph: parsed.text }, options);
          const time = Math.max(
            ...[document.combined.minimax_fidelity.time, document.combined.mixing_time[0]?.steps].map((t) => t ?? 0),
          );
          const steps = Math.max(12, Math.min(parsed.nodes.length > 64 ? 60 : 200, Math.ceil(1.3 * time)));
          const [curves, made] = await Promise.all([
            core.curves({ graph: parsed.text }, { ...options, steps, withoutSignal: true }),
            core.graphSteps(parsed.text, { ...options, steps }),
          ]);
          return { text: source_ ?? parsed.text, parsed, document, curves, steps: made };
        },
        (result) => {
          now = result;
          pending = null;
          fill(problem);
          text.removeAttribute('aria-invalid');
          if (document.activeElement !== text || source_ === null) text.value = result.text;
          show();
        },
        (line) => {
          fill(problem, line);
          text.setAttribute('aria-invalid', 'true');
          source.update('');
          if (document.activeElement !== text && source_ !== null) text.value = source_;
        },
      );
    }

    /** Everything that follows from the graph and the step. */
    function show(): void {
      if (!now) return;
      const state = store.get();
      const { parsed, document: of, steps } = now;
      const small = parsed.nodes.length <= DRAWN;
      for (const element of shownOnly) element.hidden = false;
      drawn.element.hidden = !small;
      heads.update(selected(), [
        ...(parsed.heads.length > 1 ? [{ value: 'all' as number | string, label: 'All' }] : []),
        ...parsed.heads.map((head, value) => ({ value: value as number | string, label: head.name })),
      ]);
      if (parsed.heads.length === 1) heads.update(0);
      starts.update(
        start(),
        parsed.nodes.slice(0, Math.max(1, parsed.nodes.length - 1)).map((label, value) => ({ value, label })),
      );
      source.update(taken.text === parsed.text || !state.graph ? taken.value : '');
      plays.update(state.play);
      slider.max = String(steps.steps);
      slider.value = String(Math.min(state.step, steps.steps));
      slider.setAttribute('aria-valuetext', `step ${state.step}`);
      fill(stepText, `t = ${Math.min(state.step, steps.steps)}`);
      drawn.caption([
        pending === null
          ? 'Click a node, then another: the edge between them comes or goes'
          : `From ${parsed.nodes[pending]} to …`,
        parsed.heads.length > 1 ? `, in ${parsed.heads[editHead()]!.name}.` : '.',
        ' Keys: arrows, Enter, Delete.',
      ]);
      arrival.title(state.play === 'walk' ? 'A walker arrives' : 'A signal arrives');
      arrival.caption(
        state.play === 'walk'
          ? 'The chance that the walker is at the sink after t steps.'
          : 'What is at the sink of the chosen node’s signal; its peak is that node’s fidelity.',
      );
      showMeasured(of);
      for (const one of [drawn, arrival, survival]) if (!one.element.hidden) one.redraw();
    }

    return {
      update(state, before) {
        const source_ = state.graph || null;
        if (!before || source_ !== wanted) read(source_);
        else if (
          now &&
          (before.step !== state.step || before.start !== state.start || before.head !== state.head || before.play !== state.play)
        )
          show();
      },
      leave() {
        stop();
        clearTimeout(typing);
        reading.stop();
        removeEventListener('keydown', undoKey);
      },
    };
  },
};

const uniqueName = (graph: Graph, name: string) => {
  let result = name;
  for (let k = 2; graph.heads.some((head) => head.name === result); ++k) result = `${name} ${k}`;
  return result;
};

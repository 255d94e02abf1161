import { arcs } from '../charts/arcs';
import { lines, type LinesOptions } from '../charts/lines';
import { fidelityText } from '../data/intervals';
import { addHead, addNode, removeHead, removeNode, toggleEdge } from '../data/graph';
import type { Theme } from '../theme';
import { figure, type Figure } from '../ui/figure';
import { quiet } from '../ui/parts';
import type { Context } from '../view';
import { pointsOf, stepsTable, survivalAxes } from './curves';
import type { Edits } from './graph-edits';
import type { Playing } from './graph-model';
import { edgeTable } from './graph-tables';

/** Nodes up to which a graph is drawn. */
const DRAWN = 128;

export interface GraphFigures {
  list: Figure[];
  /** The drawing forgets the edge that was begun. */
  reset(): void;
  /** Draws what is played; what is larger than a drawing is hidden. */
  update(playing: Playing): void;
}

/** The graph, what arrives at its sink, and the survival of the slowest walk. */
export function graphFigures(context: Context, edits: Edits, now: () => Playing): GraphFigures {
  const drawn = drawnGraph(context, edits, now);
  const arrival = figure({
    name: 'course',
    title: '',
    draw: (width, theme) =>
      lines(
        courseLines(now(), theme, (step) => context.store.set({ step })),
        width,
        theme,
      ),
    table: () => courseTable(now()),
  });
  const survival = figure({
    name: 'survival',
    title: 'Survival of the slowest walk',
    caption:
      'The chance that a walk from the slowest node has not reached the sink. T_mix is the step where the chance falls to ε.',
    draw: (width, theme) => lines(survivalLines(now(), theme), width, theme),
    table: () => survivalTable(now()),
  });
  const list = [drawn.figure, arrival, survival];
  return {
    list,
    reset: drawn.reset,
    update(playing) {
      for (const one of list) one.element.hidden = false;
      drawn.figure.element.hidden = playing.of.parsed.nodes.length > DRAWN;
      drawn.update(playing);
      arrival.title(playing.walk ? 'A walker arrives' : 'A signal arrives');
      arrival.caption(
        playing.walk
          ? 'The chance that the walker is at the sink after t steps.'
          : 'The part of the chosen node’s signal that is at the sink. Its peak is the fidelity of the node.',
      );
      for (const one of list) if (!one.element.hidden) one.redraw();
    },
  };
}

/** The graph as arcs: two nodes that are clicked make an edge, or end it. */
function drawnGraph(
  { say }: Context,
  edits: Edits,
  now: () => Playing,
): { figure: Figure; reset(): void; update(playing: Playing): void } {
  let pending: number | null = null;
  const begin = (node: number | null) => {
    pending = node;
    drawn.redraw();
  };
  const pick = (node: number) => {
    const from = pending;
    const { of, editHead } = now();
    if (from !== null && of.parsed.heads[editHead]?.kind === 'matrix')
      say('This head is a matrix: edit its entries in the text.');
    else if (from !== null) edits.edit((graph) => toggleEdge(graph, editHead, from, node));
    begin(from === null ? node : null);
  };
  const remove = (node: number) => {
    const { nodes, heads } = now().of.parsed;
    if (node === nodes.length - 1) say('The sink stays: every walk ends there.');
    else if (heads.some((head) => head.kind === 'matrix')) say('This head is a matrix: edit its entries in the text.');
    else edits.edit((graph) => removeNode(graph, node));
  };
  const drawn = figure({
    name: 'graph',
    title: 'The graph',
    draw(width, theme) {
      const playing = now();
      const at = playing.states()[playing.state.step] ?? null;
      const flow = (head: number, from: number, to: number) => playing.flow(at, head, from, to);
      const { of, head: active, start } = playing;
      return arcs({ graph: of.parsed, active, at, start, pending, flow, pick, cancel: () => begin(null), remove }, width, theme);
    },
    table: () => edgeTable(now().of.parsed),
    tools: editTools(edits, now),
  });
  return {
    figure: drawn,
    reset: () => (pending = null),
    update({ of: { parsed }, editHead }) {
      drawn.caption([
        pending === null ? 'Click two nodes to add or remove the edge between them' : `From ${parsed.nodes[pending]} to …`,
        parsed.heads.length > 1 ? `, in ${parsed.heads[editHead]!.name}.` : '.',
        ' Keys: arrows, Enter, Delete.',
      ]);
    },
  };
}

/** Buttons that add and remove nodes and heads; the last ones stay. */
const editTools = (edits: Edits, now: () => Playing): HTMLElement[] => [
  quiet('Undo', () => edits.undo(), { title: 'Ctrl+Z' }),
  quiet('+ node', () => edits.edit(addNode)),
  quiet('− node', () => {
    if (now().of.parsed.nodes.length > 2) edits.edit((graph) => removeNode(graph, graph.nodes.length - 2));
  }),
  quiet('+ head', () => edits.edit(addHead)),
  quiet('− head', () => {
    const { of, head } = now();
    if (of.parsed.heads.length > 1)
      edits.edit((graph) => removeHead(graph, head === 'all' ? graph.heads.length - 1 : head), { head: 'all' });
  }),
];

function courseLines(playing: Playing, theme: Theme, go: (step: number) => void): LinesOptions {
  const { walk, state, of } = playing;
  const { nodes } = of.parsed;
  const from = nodes[playing.start];
  const metrics = playing.metrics();
  return {
    label: walk ? 'Chance to have arrived at the sink' : 'Signal at the sink',
    xTitle: 'step t',
    yTitle: walk ? 'chance to be at the sink' : 'signal at the sink',
    height: 270,
    ...(walk ? { yDomain: [0, 1] as [number, number] } : {}),
    series: [
      {
        name: walk ? `walk from ${from}` : `signal of ${from}`,
        colour: theme.series[0]!,
        width: 2.4,
        marks: of.steps.steps <= 40 ? 'dots' : 'none',
        points: playing.states().map((at, x) => ({ x, y: at[nodes.length - 1]! })),
      },
      ...(walk ? [] : [{ name: 'minimax so far', colour: theme.ink, dash: '6 4', points: pointsOf(playing.minimax()) }]),
    ],
    moments: [{ x: state.step, label: `t = ${state.step}` }],
    levels: walk
      ? []
      : [{ y: metrics.minimax_fidelity.value, label: `minimax fidelity ${fidelityText(metrics)}`, colour: theme.warm }],
    go,
  };
}

function survivalLines(playing: Playing, theme: Theme): LinesOptions {
  const { curves, document } = playing.of;
  const heads = document.heads.length;
  return {
    ...survivalAxes(document, playing.metrics(), theme),
    label: 'Survival of the slowest walk',
    height: 270,
    series: curves.series.map((one, i) => ({
      name: one.name,
      colour: i < heads ? theme.series[i % 8]! : theme.ink,
      width: i === playing.index(curves.series) ? 2.6 : 1.3,
      dash: i < heads ? '5 3' : '',
      points: pointsOf(one.survival),
      faint: curves.series.length > 7 && i < heads,
    })),
  };
}

function courseTable(playing: Playing) {
  const { walk, state, of } = playing;
  const states = playing.states();
  const caption = walk ? 'Where a walker is after so many steps' : 'How much of the signal is in every node';
  const data = stepsTable(state.play, caption, of.parsed.nodes, states.length, (t) => states[t]!);
  return { ...data, rows: data.rows.map((row, t) => ({ ...row, marked: t === state.step })) };
}

const survivalTable = ({ of: { curves } }: Playing) =>
  stepsTable(
    'survival',
    'Chance of the slowest walk not to have arrived',
    curves.series.map(({ name }) => name),
    curves.steps + 1,
    (t) => curves.series.map(({ survival }) => survival[t]!),
  );

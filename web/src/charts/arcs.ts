import { s, type Attributes } from '../dom';
import type { Graph } from '../data/graph';
import { headName } from '../data/intervals';
import { digits } from '../quantities';
import type { Theme } from '../theme';
import { tipLine, withTip } from '../ui/tooltip';
import { drawing } from './frame';
import { shorten } from './text';

export interface ArcsOptions {
  graph: Graph;
  /** Which heads are drawn strongly. */
  active: number | 'all';
  /** What is at every node now, 0 to 1. */
  at: ArrayLike<number> | null;
  /** What passes an edge in the next step. */
  flow: (head: number, from: number, to: number) => number;
  /** Where the play begins. */
  start: number;
  /** The node an edge begins at, while one is drawn. */
  pending: number | null;
  pick: (node: number) => void;
  cancel: () => void;
  remove: (node: number) => void;
}

type Head = Graph['heads'][number];

/** The height of the bars below the graph. */
const BAR = 64;
const LEFT = 34;

/** Where everything is. */
function layOut({ graph, flow }: ArcsOptions, width: number) {
  const n = graph.nodes.length;
  const gap = n > 1 ? (width - 2 * LEFT) / (n - 1) : 0;
  const tall = Math.min(170, Math.max(70, width / 5));
  const middle = tall + 26;
  const edges = graph.heads.flatMap((head, h) => head.edges.map(({ from, to }) => ({ h, from, to })));
  return {
    n,
    gap,
    width,
    x: (node: number) => (n > 1 ? LEFT + node * gap : width / 2),
    tall,
    middle,
    /** Of a node. */
    r: Math.max(3, Math.min(15, gap / 3.2)),
    barTop: middle + (graph.heads.length > 1 ? tall + 26 : 46),
    longest: edges.reduce((most, { from, to }) => Math.max(most, to - from), 1),
    /** The most that passes an edge. */
    most: edges.reduce((most, { h, from, to }) => (from === to ? most : Math.max(most, flow(h, from, to))), 0),
  };
}

type Layout = ReturnType<typeof layOut>;

/** The edges of a head, and where there is room where they go. */
function headArcs(options: ArcsOptions, layout: Layout, head: Head, h: number, theme: Theme): SVGElement[] {
  const { n, x, middle, tall, longest, most } = layout;
  const { nodes } = options.graph;
  const colour = theme.series[h % theme.series.length]!;
  const up = h % 2 === 0 ? -1 : 1;
  const strong = options.active === 'all' || options.active === h;
  const heaviest = Math.max(...head.edges.map((edge) => edge.weight), 1e-300);
  const arc = ({ from, to, weight }: Head['edges'][number]) => {
    const high = up * tall * (0.28 + 0.72 * ((to - from) / longest)) * (1 - 0.12 * Math.floor(h / 2));
    const [x0, x1] = [x(from), x(to)];
    const flow = strong && most > 0 ? options.flow(h, from, to) / most : 0;
    const path = s('path', {
      d: `M${x0},${middle}C${x0 + (x1 - x0) * 0.18},${middle + high * 1.28} ${x1 - (x1 - x0) * 0.18},${middle + high * 1.28} ${x1},${middle}`,
      role: 'img',
      tabindex: -1, // named, and no tab stop: the keys go from node to node
      'aria-label': `edge ${nodes[from]} → ${nodes[to]}, ${headName(head.name)}, weight ${digits(weight)}`,
      fill: 'none',
      stroke: colour,
      'stroke-width': (n > 30 ? 0.8 : 1.4) + 4.5 * flow,
      opacity: strong ? 0.4 + 0.6 * Math.max(flow, (weight / heaviest) * 0.4) : 0.13,
      'stroke-linecap': 'round',
    });
    const tip = () => [tipLine(head.name, `${nodes[from]} → ${nodes[to]}`, colour), tipLine('weight', digits(weight))];
    const arrow = () =>
      s('path', {
        d: 'M-4,-3.5L3,0L-4,3.5Z',
        transform: `translate(${(x0 + x1) / 2},${middle + high * 0.96})`,
        fill: colour,
        opacity: strong ? 0.9 : 0.2,
        'aria-hidden': 'true',
      });
    return [n > 40 ? path : withTip(path, tip), ...(n <= 24 ? [arrow()] : [])];
  };
  return head.edges.filter(({ from, to }) => from !== to).flatMap(arc);
}

function nodeButton(options: ArcsOptions, { n, x, middle, r }: Layout, name: string, i: number, theme: Theme): SVGGElement {
  const value = options.at?.[i] ?? null;
  const sink = i === n - 1;
  const begin = options.pending === i;
  const circle = (radius: number, attributes: Attributes) => s('circle', { cx: x(i), cy: middle, r: radius, ...attributes });
  const node = s(
    'g',
    {
      role: 'button',
      tabindex: i === (options.pending ?? options.start) ? 0 : -1,
      'aria-label': `node ${name}${sink ? ', the sink' : ''}${value === null ? '' : `: ${digits(value)}`}${begin ? ', an edge begins here' : ''}`,
      'data-key': i,
      class: 'cell go',
      onclick: () => options.pick(i),
    },
    circle(r + 6, { fill: 'transparent' }),
    circle(r, {
      fill: value === null ? theme.surface : theme.ramp(Math.sqrt(value)),
      stroke: begin ? theme.warm : theme.ink,
      'stroke-width': begin || sink ? 2.6 : 1.4,
    }),
    sink &&
      circle(Math.max(1, r - 4), {
        fill: 'none',
        stroke: value !== null && value > 0.3 ? theme.surface : theme.ink,
        'stroke-width': 1.2,
      }),
  );
  return withTip(node, () => [
    tipLine(`node ${name}`, value === null ? '' : digits(value)),
    sink ? 'the sink' : null,
    options.pending === null ? 'click: begin an edge' : 'click: the edge’s other end',
  ]);
}

/** The names of the nodes that have room for one. */
function nodeNames({ graph, start }: ArcsOptions, { n, gap, x, barTop }: Layout, theme: Theme): SVGElement[] {
  const every = Math.ceil(26 / Math.max(1, gap));
  const room = Math.max(3, Math.floor((gap * every) / 7));
  return graph.nodes.flatMap((name, i) => {
    if (i % every !== 0 && i !== n - 1) return [];
    const attributes = {
      x: x(i),
      y: barTop - 8,
      'text-anchor': 'middle',
      fill: i === start ? theme.warm : theme.ink,
      'font-weight': i === start || i === n - 1 ? 650 : 400,
      'aria-hidden': 'true',
    };
    return [s('text', attributes, shorten(name, room))];
  });
}

/** What is at every node, as bars below it. */
function nodeBars(at: ArrayLike<number>, { n, gap, x, width, barTop }: Layout, theme: Theme): SVGElement[] {
  const wide = Math.max(1, Math.min(26, gap * 0.62));
  const y = barTop + BAR;
  const bar = (value: number, i: number) => {
    const height = value * (BAR - 4);
    const box = { x: x(i) - wide / 2, y: y - height, width: wide, height };
    return s('rect', { ...box, fill: theme.accent, rx: Math.min(2, wide / 4), 'aria-hidden': 'true' });
  };
  const number = (value: number, i: number) => {
    const attributes = { x: x(i), y: y + 16, 'text-anchor': 'middle', fill: theme.muted, 'font-size': 11, 'aria-hidden': 'true' };
    return s('text', attributes, digits(value, 3));
  };
  return [
    s('line', { x1: LEFT - wide / 2 - 4, x2: width - LEFT + wide / 2 + 4, y1: y, y2: y, stroke: theme.line }),
    ...Array.from({ length: n }, (_, i) => [bar(at[i]!, i), ...(gap > 40 ? [number(at[i]!, i)] : [])]).flat(),
  ];
}

/** What the keys do at a node. */
function keys(options: ArcsOptions, nodes: SVGGElement[]): (event: KeyboardEvent) => void {
  return (event) => {
    const at = Number(document.activeElement?.getAttribute('data-key') ?? NaN);
    if (!nodes[at]) return;
    if (event.key === 'Enter' || event.key === ' ') options.pick(at);
    else if (event.key === 'Escape') options.cancel();
    else if (event.key === 'Delete' || event.key === 'Backspace') options.remove(at);
    else {
      const next = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: nodes.length - 1 }[event.key];
      if (next === undefined || !nodes[next]) return;
      for (const node of nodes) node.setAttribute('tabindex', '-1');
      nodes[next].setAttribute('tabindex', '0');
      nodes[next].focus();
    }
    event.preventDefault();
  };
}

/** The nodes in order on a line, edges as arcs: heads 1, 3, … above it, heads 2, 4, … below. */
export function arcs(options: ArcsOptions, width: number, theme: Theme): SVGSVGElement {
  const { graph } = options;
  const layout = layOut(options, width);
  const label = `A graph of ${layout.n} nodes and ${graph.heads.length} heads`;
  const svg = drawing(width, layout.barTop + BAR + 44, label, theme);
  const nodes = graph.nodes.map((name, i) => nodeButton(options, layout, name, i, theme));
  svg.append(
    ...graph.heads.flatMap((head, h) => headArcs(options, layout, head, h, theme)),
    ...nodes,
    ...nodeNames(options, layout, theme),
    ...(options.at ? nodeBars(options.at, layout, theme) : []),
  );
  svg.addEventListener('keydown', keys(options, nodes));
  return svg;
}

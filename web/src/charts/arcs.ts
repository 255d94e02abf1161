import { s } from '../dom';
import type { Graph } from '../data/graph';
import { headName } from '../data/intervals';
import { digits } from '../quantities';
import type { Theme } from '../theme';
import { tipLine, withTip } from '../ui/tooltip';
import { drawing } from './frame';

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

/** The nodes in order on a line, edges as arcs: heads 1, 3, … above it, heads 2, 4, … below. */
export function arcs(options: ArcsOptions, width: number, theme: Theme): SVGSVGElement {
  const { graph } = options;
  const n = graph.nodes.length;
  const left = 34;
  const gap = n > 1 ? (width - 2 * left) / (n - 1) : 0;
  const x = (node: number) => (n > 1 ? left + node * gap : width / 2);
  const tall = Math.min(170, Math.max(70, width / 5));
  const below = graph.heads.length > 1;
  const r = Math.max(3, Math.min(15, gap / 3.2));
  const middle = tall + 26;
  const barTop = middle + (below ? tall + 26 : 46);
  const barTall = 64;
  const svg = drawing(width, barTop + barTall + 44, `A graph of ${n} nodes and ${graph.heads.length} heads`, theme);
  const longest = Math.max(1, ...graph.heads.flatMap((head) => head.edges.map(({ from, to }) => to - from)));
  let most = 0;
  graph.heads.forEach((head, h) =>
    head.edges.forEach(({ from, to }) => {
      if (from !== to) most = Math.max(most, options.flow(h, from, to));
    }),
  );

  graph.heads.forEach((head, h) => {
    const colour = theme.series[h % theme.series.length]!;
    const up = h % 2 === 0 ? -1 : 1;
    const strong = options.active === 'all' || options.active === h;
    const heaviest = Math.max(...head.edges.map((edge) => edge.weight), 1e-300);
    for (const { from, to, weight } of head.edges) {
      if (from === to) continue;
      const span = (to - from) / longest;
      const high = up * tall * (0.28 + 0.72 * span) * (1 - 0.12 * Math.floor(h / 2));
      const [x0, x1] = [x(from), x(to)];
      const flow = strong && most > 0 ? options.flow(h, from, to) / most : 0;
      const path = `M${x0},${middle}C${x0 + (x1 - x0) * 0.18},${middle + high * 1.28} ${x1 - (x1 - x0) * 0.18},${middle + high * 1.28} ${x1},${middle}`;
      const arc = s('path', {
        d: path,
        role: 'img',
        tabindex: -1, // named, and no tab stop: the keys go from node to node
        'aria-label': `edge ${graph.nodes[from]} → ${graph.nodes[to]}, ${headName(head.name)}, weight ${digits(weight)}`,
        fill: 'none',
        stroke: colour,
        'stroke-width': (n > 30 ? 0.8 : 1.4) + 4.5 * flow,
        opacity: strong ? 0.4 + 0.6 * Math.max(flow, (weight / heaviest) * 0.4) : 0.13,
        'stroke-linecap': 'round',
      });
      svg.append(
        n > 40
          ? arc
          : withTip(arc, () => [
              tipLine(head.name, `${graph.nodes[from]} → ${graph.nodes[to]}`, colour),
              tipLine('weight', digits(weight)),
            ]),
      );
      if (n <= 24) {
        const [mx, my] = [(x0 + x1) / 2, middle + high * 0.96];
        svg.append(
          s('path', {
            d: 'M-4,-3.5L3,0L-4,3.5Z',
            transform: `translate(${mx},${my})`,
            fill: colour,
            opacity: strong ? 0.9 : 0.2,
            'aria-hidden': 'true',
          }),
        );
      }
    }
  });
  const nodes = graph.nodes.map((name, i) => {
    const value = options.at?.[i] ?? null;
    const sink = i === n - 1;
    const begin = options.pending === i;
    const label = `node ${name}${sink ? ', the sink' : ''}${value === null ? '' : `: ${digits(value)}`}${begin ? ', an edge begins here' : ''}`;
    const node = s(
      'g',
      {
        role: 'button',
        tabindex: i === (options.pending ?? options.start) ? 0 : -1,
        'aria-label': label,
        'data-key': i,
        class: 'cell go',
      },
      s('circle', { cx: x(i), cy: middle, r: r + 6, fill: 'transparent' }),
      s('circle', {
        cx: x(i),
        cy: middle,
        r,
        fill: value === null ? theme.surface : theme.ramp(Math.sqrt(value)),
        stroke: begin ? theme.warm : theme.ink,
        'stroke-width': begin || sink ? 2.6 : 1.4,
      }),
      sink
        ? s('circle', {
            cx: x(i),
            cy: middle,
            r: Math.max(1, r - 4),
            fill: 'none',
            stroke: value !== null && value > 0.3 ? theme.surface : theme.ink,
            'stroke-width': 1.2,
          })
        : null,
    );
    node.addEventListener('click', () => options.pick(i));
    return withTip(node, () => [
      tipLine(`node ${name}`, value === null ? '' : digits(value)),
      sink ? 'the sink' : null,
      options.pending === null ? 'click: begin an edge' : 'click: the edge’s other end',
    ]);
  });
  svg.append(...nodes);
  const every = Math.ceil(26 / Math.max(1, gap));
  graph.nodes.forEach((name, i) => {
    if (i % every !== 0 && i !== n - 1) return;
    const room = Math.max(3, Math.floor((gap * every) / 7));
    const labelY = barTop - 8;
    svg.append(
      s(
        'text',
        {
          x: x(i),
          y: labelY,
          'text-anchor': 'middle',
          fill: i === options.start ? theme.warm : theme.ink,
          'font-weight': i === options.start || i === n - 1 ? 650 : 400,
          'aria-hidden': 'true',
        },
        name.length > room ? `${name.slice(0, room - 1)}…` : name,
      ),
    );
  });
  if (options.at) {
    const wide = Math.max(1, Math.min(26, gap * 0.62));
    svg.append(
      s('line', {
        x1: left - wide / 2 - 4,
        x2: width - left + wide / 2 + 4,
        y1: barTop + barTall,
        y2: barTop + barTall,
        stroke: theme.line,
      }),
    );
    graph.nodes.forEach((_, i) => {
      const value = options.at![i]!;
      const tallNow = value * (barTall - 4);
      svg.append(
        s('rect', {
          x: x(i) - wide / 2,
          y: barTop + barTall - tallNow,
          width: wide,
          height: tallNow,
          fill: theme.accent,
          rx: Math.min(2, wide / 4),
          'aria-hidden': 'true',
        }),
      );
      if (gap > 40)
        svg.append(
          s(
            'text',
            {
              x: x(i),
              y: barTop + barTall + 16,
              'text-anchor': 'middle',
              fill: theme.muted,
              'font-size': 11,
              'aria-hidden': 'true',
            },
            digits(value, 3),
          ),
        );
    });
  }
  svg.addEventListener('keydown', (event) => {
    const at = Number(document.activeElement?.getAttribute('data-key') ?? NaN);
    if (!nodes[at]) return;
    if (event.key === 'Enter' || event.key === ' ') options.pick(at);
    else if (event.key === 'Escape') options.cancel();
    else if (event.key === 'Delete' || event.key === 'Backspace') options.remove(at);
    else {
      const next = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: n - 1 }[event.key];
      if (next === undefined || !nodes[next]) return;
      for (const node of nodes) node.setAttribute('tabindex', '-1');
      nodes[next].setAttribute('tabindex', '0');
      nodes[next].focus();
    }
    event.preventDefault();
  });
  return svg;
}

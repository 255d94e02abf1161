import { s, type Attributes } from '../dom';
import { setName, size } from '../data/mix';
import { digits } from '../quantities';
import type { Theme } from '../theme';
import { tipLine, withTip } from '../ui/tooltip';
import { bottomAxis, drawing, group } from './frame';
import { valueScale } from './scale';

export interface SubsetsOptions {
  label: string;
  valueTitle: string;
  names: readonly string[];
  /** The value of every set of heads. */
  table: ArrayLike<number>;
  /** The set that is on. */
  current: number;
  go: (set: number) => void;
}

/** Lanes above and below the middle of a row, so that dots that are close do not hide each other. */
export function spread(places: number[], most: number): number[] {
  const order = [0, ...Array.from({ length: most }, (_, k) => [k + 1, -k - 1]).flat()];
  const last = new Map<number, number>();
  return places.map((x) => {
    const lane =
      order.find((one) => x - (last.get(one) ?? -Infinity) >= 9) ??
      order.reduce((a, b) => ((last.get(b) ?? 0) < (last.get(a) ?? 0) ? b : a));
    last.set(lane, x);
    return lane;
  });
}

const LEFT = 66;

/** Rows of sets of so many heads by their values, and where each set is. */
function layOut({ names, table }: SubsetsOptions, width: number) {
  const heads = names.length;
  const w = width - LEFT - 26;
  const row = Math.max(24, Math.min(40, 300 / heads));
  const height = heads * row;
  const scale = valueScale(Array.from(table).slice(1), false, 0, w);
  const x = (set: number) => scale.place(table[set]!);
  const rows: number[][] = Array.from({ length: heads + 1 }, () => []);
  for (let set = 1; set < table.length; ++set) rows[size(set)]!.push(set);
  const best = rows.map((list) => list.reduce((a, b) => (a && !(table[b]! > table[a]!) ? a : b), 0));
  for (const list of rows) list.sort((a, b) => table[a]! - table[b]! || a - b);
  const lanes = rows.map((list) => spread(list.map(x), Math.floor((row / 2 - 4) / 6)));
  const aside = new Map(rows.flatMap((list, k) => list.map((set, i) => [set, lanes[k]![i]! * 6] as const)));
  const middle = (heads: number) => height - heads * row + row / 2;
  return {
    heads,
    height,
    scale,
    /** The best set of each number of heads. */
    best,
    rows,
    /** Of a row. */
    middle,
    x,
    y: (set: number) => middle(size(set)) + aside.get(set)!,
    ticks: Math.max(2, Math.floor(w / 90)),
  };
}

type Layout = ReturnType<typeof layOut>;

function axes({ heads, height, scale, middle, ticks }: Layout, title: string, theme: Theme): SVGElement[] {
  const name = { x: -12, dy: '0.35em', 'text-anchor': 'end', fill: theme.muted, 'font-size': 11.5 };
  return [
    ...scale.ticks(ticks).map((t) => s('line', { x1: t.at, x2: t.at, y1: 0, y2: height, stroke: theme.grid })),
    bottomAxis(scale.inner as never, height, theme, { label: title, ticks, format: (v) => digits(v, 3) }),
    ...Array.from({ length: heads }, (_, k) =>
      s('text', { ...name, y: middle(k + 1) }, `${k + 1} ${k === 0 ? 'head' : 'heads'}`),
    ),
  ];
}

/** Lines between sets that differ by a head: of few heads all, those along the best sets, and those of the set that is on. */
function connections({ current }: SubsetsOptions, { heads, rows, best, x, y }: Layout, theme: Theme): SVGElement[] {
  const line = (a: number, b: number, attributes: Attributes) =>
    s('line', { x1: x(a), y1: y(a), x2: x(b), y2: y(b), ...attributes });
  const bits = Array.from({ length: heads }, (_, h) => 1 << h);
  const sets = heads <= 4 ? rows.flat().sort((a, b) => a - b) : [];
  const through = best.slice(1).map((set) => `${x(set)},${y(set)}`);
  return [
    ...sets.flatMap((set) => bits.filter((bit) => !(set & bit)).map((bit) => line(set, set | bit, { stroke: theme.line }))),
    s('path', { d: `M${through.join('L')}`, fill: 'none', stroke: theme.warm, 'stroke-width': 1.5, opacity: 0.6 }),
    ...bits
      .filter((bit) => current && current ^ bit)
      .map((bit) => line(current, current ^ bit, { stroke: theme.accent, opacity: 0.55 })),
  ];
}

function dot(options: SubsetsOptions, { heads, best, x, y }: Layout, set: number, theme: Theme): SVGCircleElement {
  const current = set === options.current;
  const isBest = best[size(set)] === set;
  const name = setName(set, options.names);
  const value = digits(options.table[set]!);
  const circle = s('circle', {
    cx: x(set),
    cy: y(set),
    r: current ? 6.5 : 4.5,
    fill: current ? theme.accent : isBest ? theme.warm : theme.muted,
    'fill-opacity': current || isBest ? 1 : 0.45,
    stroke: theme.surface,
    'stroke-width': 1,
    role: 'button',
    tabindex: current ? 0 : -1,
    'aria-label': `${name}: ${value}${isBest && size(set) < heads ? ', best of this size' : ''}${current ? ', on' : ''}`,
    'data-key': set,
    class: 'cell go',
    onclick: () => options.go(set),
  });
  return withTip(circle, () => [tipLine(name, value), isBest ? `best of ${size(set)}` : null, 'click: these heads']);
}

const MOVES: Record<string, { more: number; along: number }> = {
  ArrowLeft: { more: 0, along: -1 },
  ArrowRight: { more: 0, along: 1 },
  ArrowUp: { more: 1, along: 0 },
  ArrowDown: { more: -1, along: 0 },
};

/** The set that an arrow key leads to. */
function neighbour({ rows, x }: Layout, at: number, { more, along }: { more: number; along: number }): number | undefined {
  const list = rows[size(at) + more] ?? [];
  if (more === 0) return list[list.indexOf(at) + along];
  const far = (set: number) => Math.abs(x(set) - x(at));
  return list.length === 0 ? undefined : list.reduce((a, b) => (far(b) < far(a) ? b : a));
}

/** Every set of heads: a row for each number of heads, along it their values. Lines lead to the sets with one head more or less. */
export function subsetLattice(options: SubsetsOptions, width: number, theme: Theme): SVGSVGElement {
  const layout = layOut(options, width);
  const svg = drawing(width, layout.height + 62, options.label, theme);
  const dots = new Map(layout.rows.flat().map((set) => [set, dot(options, layout, set, theme)]));
  const plot = group(
    LEFT,
    10,
    axes(layout, options.valueTitle, theme),
    connections(options, layout, theme),
    [...dots.values()],
    dots.get(options.current), // once more: above the others
  );
  svg.append(plot);
  svg.addEventListener('keydown', (event) => {
    const at = Number(document.activeElement?.getAttribute('data-key') ?? NaN);
    if (!dots.has(at)) return;
    const enter = event.key === 'Enter' || event.key === ' ';
    const move = MOVES[event.key];
    if (!enter && !move) return;
    event.preventDefault();
    if (enter) return options.go(at);
    const next = dots.get(neighbour(layout, at, move!) ?? NaN);
    if (!next) return;
    for (const one of dots.values()) one.setAttribute('tabindex', '-1');
    next.setAttribute('tabindex', '0');
    next.focus();
  });
  return svg;
}

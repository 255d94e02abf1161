import { s } from '../dom';
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

/** Every set of heads: a row for each number of heads, along it their values. Lines lead to the sets with one head more or less. */
export function subsetLattice(options: SubsetsOptions, width: number, theme: Theme): SVGSVGElement {
  const heads = options.names.length;
  const all = options.table.length - 1;
  const left = 66;
  const w = width - left - 26;
  const row = Math.max(24, Math.min(40, 300 / heads));
  const height = heads * row;
  const scale = valueScale(Array.from(options.table).slice(1), false, 0, w);
  const x = (set: number) => scale.place(options.table[set]!);
  const rows: number[][] = Array.from({ length: heads + 1 }, () => []);
  for (let set = 1; set <= all; ++set) rows[size(set)]!.push(set);
  for (const list of rows) list.sort((a, b) => options.table[a]! - options.table[b]! || a - b);
  const lanes = rows.map((list) => spread(list.map(x), Math.floor((row / 2 - 4) / 6)));
  const aside = new Map(rows.flatMap((list, k) => list.map((set, i) => [set, lanes[k]![i]! * 6] as const)));
  const y = (set: number) => height - size(set) * row + row / 2 + aside.get(set)!;
  const svg = drawing(width, height + 62, options.label, theme);
  const plot = group(left, 10);
  svg.append(plot);
  const ticks = Math.max(2, Math.floor(w / 90));
  plot.append(
    ...scale.ticks(ticks).map((t) => s('line', { x1: t.at, x2: t.at, y1: 0, y2: height, stroke: theme.grid })),
    bottomAxis(scale.inner as never, height, theme, { label: options.valueTitle, ticks, format: (v) => digits(v, 3) }),
  );
  for (let k = 1; k <= heads; ++k)
    plot.append(
      s(
        'text',
        { x: -12, y: height - k * row + row / 2, dy: '0.35em', 'text-anchor': 'end', fill: theme.muted, 'font-size': 11.5 },
        `${k} ${k === 1 ? 'head' : 'heads'}`,
      ),
    );
  const line = (a: number, b: number, attributes: Record<string, string | number>) =>
    s('line', { x1: x(a), y1: y(a), x2: x(b), y2: y(b), ...attributes });
  if (heads <= 4)
    for (let set = 1; set <= all; ++set)
      for (let h = 0; h < heads; ++h) if (!((set >> h) & 1)) plot.append(line(set, set | (1 << h), { stroke: theme.line }));

  const best = Array.from({ length: heads + 1 }, () => 0);
  for (let set = 1; set <= all; ++set)
    if (options.table[set]! > (best[size(set)] ? options.table[best[size(set)]!]! : -Infinity)) best[size(set)] = set;
  plot.append(
    s('path', {
      d: `M${best
        .slice(1)
        .map((set) => `${x(set)},${y(set)}`)
        .join('L')}`,
      fill: 'none',
      stroke: theme.warm,
      'stroke-width': 1.5,
      opacity: 0.6,
    }),
  );
  for (let h = 0; h < heads; ++h) {
    const other = options.current ^ (1 << h);
    if (other && options.current) plot.append(line(options.current, other, { stroke: theme.accent, opacity: 0.55 }));
  }
  const dots = new Map<number, SVGElement>();
  for (const set of rows.flat()) {
    const current = set === options.current;
    const isBest = best[size(set)] === set;
    const label = `${setName(set, options.names)}: ${digits(options.table[set]!)}${isBest && size(set) < heads ? ', best of this size' : ''}${current ? ', on' : ''}`;
    const dot = s('circle', {
      cx: x(set),
      cy: y(set),
      r: current ? 6.5 : 4.5,
      fill: current ? theme.accent : isBest ? theme.warm : theme.muted,
      'fill-opacity': current || isBest ? 1 : 0.45,
      stroke: theme.surface,
      'stroke-width': 1,
      role: 'button',
      tabindex: current ? 0 : -1,
      'aria-label': label,
      'data-key': set,
      class: 'cell go',
    });
    dot.addEventListener('click', () => options.go(set));
    dots.set(
      set,
      withTip(dot, () => [
        tipLine(setName(set, options.names), digits(options.table[set]!)),
        isBest ? `best of ${size(set)}` : null,
        'click: these heads',
      ]),
    );
    plot.append(dot);
  }
  if (options.current) plot.append(dots.get(options.current)!);
  svg.addEventListener('keydown', (event) => {
    const at = Number(document.activeElement?.getAttribute('data-key') ?? NaN);
    if (!dots.has(at)) return;
    if (event.key === 'Enter' || event.key === ' ') {
      event.preventDefault();
      return options.go(at);
    }
    const moves: Record<string, [number, number]> = {
      ArrowLeft: [0, -1],
      ArrowRight: [0, 1],
      ArrowUp: [1, 0],
      ArrowDown: [-1, 0],
    };
    const move = moves[event.key];
    if (!move) return;
    event.preventDefault();
    const list = rows[size(at) + move[0]];
    if (!list || list.length === 0) return;
    const next =
      move[0] === 0
        ? list[list.indexOf(at) + move[1]]
        : list.reduce((a, b) => (Math.abs(x(b) - x(at)) < Math.abs(x(a) - x(at)) ? b : a));
    if (next === undefined) return;
    for (const dot of dots.values()) dot.setAttribute('tabindex', '-1');
    dots.get(next)!.setAttribute('tabindex', '0');
    dots.get(next)!.focus();
  });
  return svg;
}

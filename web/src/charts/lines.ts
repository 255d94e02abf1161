import { scaleLinear } from 'd3-scale';
import { area, line, symbol, symbolDiamond } from 'd3-shape';
import { s, type Attributes } from '../dom';
import { digits } from '../quantities';
import type { Theme } from '../theme';
import { axisTitle, bottomAxis, drawing, group, leftAxis } from './frame';
import { lineReader } from './line-reader';
import { valueScale } from './scale';
import { shorten } from './text';

export interface Point {
  x: number;
  /** null: infinite. */
  y: number | null;
}

interface Band {
  x: number;
  low: number | null;
  high: number | null;
}

interface Level {
  y: number;
  label: string;
  colour?: string;
}

interface Moment {
  x: number;
  label: string;
  colour?: string;
}

interface Note extends Point {
  label: string;
  colour?: string;
  side?: 'above' | 'below';
}

export interface Series {
  name: string;
  colour: string;
  points: Point[];
  /** A band: from low to high. */
  band?: Band[];
  /** The band as a bar at each place. */
  bars?: boolean;
  /** So far to the right, on the screen: series that would hide each other. */
  shift?: number;
  /** A wider band, fainter. */
  outer?: Band[];
  marks?: 'dots' | 'diamonds' | 'none';
  line?: boolean;
  width?: number;
  dash?: string;
  opacity?: number;
  /** One of many: it has no place in the legend and says nothing when pointed at. */
  faint?: boolean;
}

export interface LinesOptions {
  label: string;
  xTitle: string;
  yTitle: string;
  series: Series[];
  /** The numbers of the x axis are names. */
  xNames?: string[];
  logarithmic?: boolean;
  /** Instead of what the values need. */
  yDomain?: [number, number];
  yFormat?: (value: number | null) => string;
  xFormat?: (value: number) => string;
  levels?: Level[];
  moments?: Moment[];
  notes?: Note[];
  height?: number;
  /** What a click on a place of the x axis does. */
  go?: (x: number) => void;
  goLabel?: string;
}

/** Room for a note below the lowest line, and for the title of the y axis. */
const NOTE_HEIGHT = 18;
const TITLE_HEIGHT = 34;

/** Everything that the parts of the figure share. */
export type Plot = ReturnType<typeof layOut>;

function layOut(options: LinesOptions, width: number, theme: Theme) {
  const named = options.series.filter((one) => !one.faint);
  const legend = layLegend(
    named.map((one) => one.name),
    width,
  );
  const margin = { top: TITLE_HEIGHT + (named.length > 1 ? legend.height : 0), right: 22, bottom: 46, left: 62 };
  const w = Math.max(60, width - margin.left - margin.right);
  const tall = (options.height ?? 280) - TITLE_HEIGHT - margin.bottom;
  const all = options.series.flatMap((one) => one.points);
  const xs = [...new Set(all.map((p) => p.x))].sort((a, b) => a - b);
  const [x0, x1] = [xs[0] ?? 0, xs.at(-1) ?? 1];
  const pad = options.xNames ? Math.min(0.5, (30 / w) * Math.max(1, x1 - x0)) : 0;
  const x = scaleLinear()
    .domain(x0 === x1 ? [x0 - 1, x1 + 1] : [x0 - pad, x1 + pad])
    .range([0, w]);
  const bands = options.series.flatMap((one) => [...(one.band ?? []), ...(one.outer ?? [])]);
  const values = [...all.map((p) => p.y), ...bands.flatMap((b) => [b.low, b.high]), ...(options.levels ?? []).map((l) => l.y)];
  const below = options.notes?.some((note) => note.side === 'below') ? NOTE_HEIGHT : 0;
  const y = valueScale(values, options.logarithmic ?? false, tall - below, 0);
  if (options.yDomain) y.inner.domain(options.yDomain);
  return {
    options,
    theme,
    named,
    legend,
    margin,
    w,
    tall,
    xs,
    x,
    y,
    xFormat: options.xFormat ?? ((v: number) => options.xNames?.[v] ?? digits(v, 6)),
    yFormat: options.yFormat ?? ((v: number | null) => (v === null ? 'never' : digits(v))),
  };
}

/** Lines, dots and bands over a common axis. Pointing at it, or the arrow keys, read the numbers at a place. */
export function lines(options: LinesOptions, width: number, theme: Theme): SVGSVGElement {
  const plot = layOut(options, width, theme);
  const { margin, named, tall } = plot;
  const svg = drawing(width, tall + margin.bottom + margin.top, options.label, theme);
  svg.append(
    group(
      margin.left,
      margin.top,
      axes(plot),
      (options.levels ?? []).map((one) => level(plot, one)),
      options.series.map((one) => group(one.shift ?? 0, 0, band(plot, one))),
      options.series.map((one) => group(one.shift ?? 0, 0, curve(plot, one), marks(plot, one))),
      (options.moments ?? []).map((one) => moment(plot, one)),
      (options.notes ?? []).map((one) => note(plot, one)),
      plot.xs.length > 0 && lineReader(plot),
    ),
    ...(named.length > 1 ? named.map((_, i) => legendEntry(plot, i)) : []),
  );
  return svg;
}

/** Text in the figure; `over` what is drawn, it has an edge. */
const label = (theme: Theme, text: string, over: boolean, attributes: Attributes) =>
  s(
    'text',
    {
      'font-size': 11.5,
      ...(over ? { 'paint-order': 'stroke', stroke: theme.surface, 'stroke-width': 3 } : {}),
      ...attributes,
    },
    text,
  );

function axes({ options, theme, margin, w, tall, xs, x, y, xFormat }: Plot): SVGElement[] {
  const ticks = y.ticks(Math.max(3, Math.floor(tall / 38)));
  const inner = ticks.filter((tick) => !tick.edge).map((tick) => tick.value);
  const edges = ticks.filter((tick) => tick.edge);
  const [x0, x1] = [xs[0] ?? 0, xs.at(-1) ?? 1];
  const whole = xs.every(Number.isInteger) && x1 - x0 <= w / 28;
  const values =
    options.xNames || whole
      ? thin(xs.filter(Number.isInteger), Math.max(2, Math.floor(w / (options.xNames ? 46 : 40))))
      : undefined;
  return [
    leftAxis(y.inner as never, theme, { grid: w, values: inner, format: (v) => digits(v, 3) }),
    ...edges.flatMap(({ at, edge }) => [
      s('line', { x1: 0, x2: w, y1: at, y2: at, stroke: theme.line, 'stroke-dasharray': '2 3' }),
      label(theme, edge === 'zero' ? '0' : 'never', false, {
        x: -8,
        y: at,
        dy: '0.32em',
        'text-anchor': 'end',
        fill: theme.muted,
      }),
    ]),
    axisTitle(options.yTitle, theme, -margin.left + 2, -14),
    bottomAxis(x as never, tall, theme, {
      label: options.xTitle,
      ticks: Math.max(2, Math.floor(w / 70)),
      ...(values ? { values } : {}),
      format: (v) => shorten(xFormat(v), 10),
    }),
  ];
}

/** A line across, with what it says. */
function level({ theme, w, y }: Plot, { y: value, label: text, colour = theme.muted }: Level): SVGElement[] {
  const at = y.place(value);
  return [
    s('line', { x1: 0, x2: w, y1: at, y2: at, stroke: colour, 'stroke-dasharray': '5 4' }),
    label(theme, text, false, { x: w, y: at - 5, 'text-anchor': 'end', fill: colour }),
  ];
}

/** The bands of a series: areas, one box where there is one place, or a bar at each place. */
function band({ x, y }: Plot, { outer, band: inner, bars, colour }: Series): SVGElement[] {
  const draw = (list: Band[], opacity: number): SVGElement[] => {
    if (bars)
      return list.map((b) =>
        s('line', {
          x1: x(b.x),
          x2: x(b.x),
          y1: y.place(b.low),
          y2: y.place(b.high),
          stroke: colour,
          'stroke-width': 5,
          opacity: 0.35,
        }),
      );
    if (list.length === 1) {
      const [{ x: at, low, high }] = list as [Band];
      const height = Math.max(1, y.place(low) - y.place(high));
      return [s('rect', { x: x(at) - 7, width: 14, y: y.place(high), height, fill: colour, opacity })];
    }
    const shape = area<Band>()
      .x((b) => x(b.x))
      .y0((b) => y.place(b.low))
      .y1((b) => y.place(b.high));
    return [s('path', { d: shape(list), fill: colour, opacity })];
  };
  return [...(outer ? draw(outer, 0.12) : []), ...(inner ? draw(inner, 0.22) : [])];
}

function curve({ x, y }: Plot, one: Series): SVGElement | null {
  if (one.line === false || one.points.length < 2) return null;
  const path = line<Point>()
    .x((p) => x(p.x))
    .y((p) => y.place(p.y));
  return s('path', {
    d: path(one.points),
    fill: 'none',
    stroke: one.colour,
    'stroke-width': one.width ?? 2,
    'stroke-linejoin': 'round',
    'stroke-dasharray': one.dash,
    opacity: one.opacity,
  });
}

const diamond = (colour: string, theme: Theme, size: number, x: number, y: number) =>
  s('path', {
    d: symbol(symbolDiamond, size)(),
    transform: `translate(${x},${y})`,
    fill: theme.surface,
    stroke: colour,
    'stroke-width': 1.8,
  });

function marks({ theme, x, y }: Plot, one: Series): SVGElement[] {
  if (one.marks === 'diamonds') return one.points.map((p) => diamond(one.colour, theme, 70, x(p.x), y.place(p.y)));
  if (one.marks !== 'dots' && (one.points.length !== 1 || one.marks)) return [];
  const r = one.faint ? 2.5 : 3.5;
  const dots = one.points.map((p) => s('circle', { cx: x(p.x), cy: y.place(p.y), r, fill: one.colour }));
  return [s('g', { opacity: one.opacity }, dots)];
}

/** A line up, with what it says. */
function moment({ theme, w, tall, x }: Plot, { x: value, label: text, colour = theme.muted }: Moment): SVGElement[] {
  const at = x(value);
  if (!(at >= -1 && at <= w + 1)) return [];
  const left = at > w - 90;
  return [
    s('line', { x1: at, x2: at, y1: 0, y2: tall, stroke: colour, 'stroke-dasharray': '5 4' }),
    label(theme, text, true, { x: at + (left ? -6 : 6), y: 14, 'text-anchor': left ? 'end' : 'start', fill: colour }),
  ];
}

/** A point with a label of its own, beside it, above or below. */
function note({ theme, w, tall, x, y }: Plot, { x: value, y: of, label: text, colour = theme.warm, side }: Note): SVGElement[] {
  const [at, up] = [x(value), y.place(of)];
  const below = side === 'below';
  const left = at > w - (below ? 50 : 110);
  const beside = up > tall - 12 ? '-0.5em' : up < 12 ? '1.1em' : '0.35em';
  return [
    s('circle', { cx: at, cy: up, r: 5, fill: 'none', stroke: colour, 'stroke-width': 2 }),
    label(theme, text, true, {
      x: at + (below ? 0 : left ? -9 : 9),
      y: up,
      dy: below ? '1.55em' : side === 'above' ? '-0.9em' : beside,
      'text-anchor': left ? 'end' : below && at > 50 ? 'middle' : 'start',
      fill: colour,
      'font-weight': 600,
    }),
  ];
}

function legendEntry({ named, legend, theme }: Plot, i: number): SVGElement {
  const one = named[i]!;
  const { x, y } = legend.places[i]!;
  const stroke = { stroke: one.colour, 'stroke-width': Math.min(3, one.width ?? 2), 'stroke-dasharray': one.dash };
  return s(
    'g',
    { transform: `translate(${x},${y})`, 'aria-hidden': 'true' },
    one.line !== false && s('line', { x1: 0, x2: 18, ...stroke }),
    one.marks === 'diamonds' && diamond(one.colour, theme, 60, 9, 0),
    one.marks === 'dots' && s('circle', { cx: 9, cy: 0, r: 3.5, fill: one.colour }),
    s('text', { x: 24, dy: '0.35em', fill: theme.ink }, legend.names[i]!),
  );
}

/** At most so many of a list, evenly. */
function thin(values: number[], count: number): number[] {
  const every = Math.ceil(values.length / count);
  return values.filter((_, i) => i % every === 0);
}

/** Names in rows, from the right of the margin. */
function layLegend(names: string[], width: number): { height: number; places: { x: number; y: number }[]; names: string[] } {
  const places: { x: number; y: number }[] = [];
  let [x, y] = [2, 10];
  const shown = names.map((name) => shorten(name, 40));
  for (const name of shown) {
    const wide = 24 + name.length * 6.8 + 16;
    if (x > 2 && x + wide > width) [x, y] = [2, y + 20];
    places.push({ x, y });
    x += wide;
  }
  return { places, height: y + 12, names: shown };
}

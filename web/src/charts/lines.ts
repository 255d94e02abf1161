import { bisectCenter } from 'd3-array';
import { scaleLinear, scaleLog } from 'd3-scale';
import { area, curveLinear, curveStepAfter, line, symbol, symbolDiamond } from 'd3-shape';
import { s } from '../dom';
import { digits } from '../quantities';
import type { Theme } from '../theme';
import { hideTooltip, showTooltip, tipLine } from '../ui/tooltip';
import { axisTitle, bottomAxis, drawing, group, leftAxis } from './frame';
import { logTicks, valueScale } from './scale';

export interface Point {
  x: number;
  /** null: infinite. */
  y: number | null;
}

export interface Series {
  name: string;
  colour: string;
  points: Point[];
  /** A band: from low to high. */
  band?: { x: number; low: number | null; high: number | null }[];
  /** The band as a bar at each place. */
  bars?: boolean;
  /** So far to the right, on the screen: series that would hide each other. */
  shift?: number;
  /** A wider band, fainter. */
  outer?: { x: number; low: number | null; high: number | null }[];
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
  xLog?: boolean;
  logarithmic?: boolean;
  /** Instead of what the values need. */
  yDomain?: [number, number];
  fromZero?: boolean;
  yFormat?: (value: number | null) => string;
  xFormat?: (value: number) => string;
  /** Lines across, with what they say. */
  levels?: { y: number; label: string; colour?: string }[];
  moments?: { x: number; label: string; colour?: string }[];
  /** Points with a label of their own. */
  notes?: { x: number; y: number | null; label: string; colour?: string; side?: 'above' | 'below' }[];
  height?: number;
  steps?: boolean;
  /** What a click on a place of the x axis does. */
  go?: (x: number) => void;
  goLabel?: string;
}

/** Room for a note below the lowest line. */
const NOTE_HEIGHT = 18;

/** Lines, dots and bands over a common axis. Pointing at it, or the arrow keys, read the numbers at a place. */
export function lines(options: LinesOptions, width: number, theme: Theme): SVGSVGElement {
  const named = options.series.filter((one) => !one.faint);
  const legend = layLegend(
    named.map((one) => one.name),
    width,
  );
  const height = options.height ?? 280;
  const margin = { top: 34 + (named.length > 1 ? legend.height : 0), right: 22, bottom: 46, left: 62 };
  const w = Math.max(60, width - margin.left - margin.right);
  const hgt = height - 34 - margin.bottom;
  const all = options.series.flatMap((one) => one.points);
  const xs = [...new Set(all.map((p) => p.x))].sort((a, b) => a - b);
  const [x0, x1] = [xs[0] ?? 0, xs.at(-1) ?? 1];
  const pad = options.xNames ? Math.min(0.5, (30 / w) * Math.max(1, x1 - x0)) : 0;
  const xScale =
    options.xLog && x0 > 0 && x1 / x0 > 20
      ? scaleLog().domain([x0, x1]).range([0, w])
      : scaleLinear()
          .domain(x0 === x1 ? [x0 - 1, x1 + 1] : [x0 - pad, x1 + pad])
          .range([0, w]);
  const y = valueScale(
    [
      ...all.map((p) => p.y),
      ...options.series.flatMap((one) => [...(one.band ?? []), ...(one.outer ?? [])].flatMap((b) => [b.low, b.high])),
      ...(options.levels ?? []).map((l) => l.y),
    ],
    options.logarithmic ?? false,
    hgt - (options.notes?.some((note) => note.side === 'below') ? NOTE_HEIGHT : 0),
    0,
    options.fromZero ?? true,
  );
  if (options.yDomain) y.inner.domain(options.yDomain);
  const yFormat = options.yFormat ?? ((v) => (v === null ? 'never' : digits(v)));
  const xFormat = options.xFormat ?? ((v) => options.xNames?.[v] ?? digits(v, 6));

  const svg = drawing(width, height + margin.top - 34, options.label, theme);
  const plot = group(margin.left, margin.top);
  svg.append(plot);
  if (named.length > 1)
    svg.append(
      ...named.map((one, i) => {
        const place = legend.places[i]!;
        return s(
          'g',
          { transform: `translate(${place.x},${place.y})`, 'aria-hidden': 'true' },
          swatch(one),
          s('text', { x: 24, dy: '0.35em', fill: theme.ink }, legend.names[i]!),
        );
      }),
    );

  // Axes.
  const ticks = y.ticks(Math.max(3, Math.floor(hgt / 38)));
  plot.append(
    leftAxis(y.inner as never, theme, {
      grid: w,
      values: ticks.filter((t) => !t.edge).map((t) => t.value),
      format: (v) => digits(v, 3),
    }),
  );
  for (const tick of ticks.filter((t) => t.edge))
    plot.append(
      s('line', { x1: 0, x2: w, y1: tick.at, y2: tick.at, stroke: theme.line, 'stroke-dasharray': '2 3' }),
      s(
        'text',
        { x: -8, y: tick.at, dy: '0.32em', 'text-anchor': 'end', fill: theme.muted, 'font-size': 11.5 },
        tick.edge === 'zero' ? '0' : 'never',
      ),
    );
  plot.append(axisTitle(options.yTitle, theme, -margin.left + 2, -14));
  const whole = xs.every(Number.isInteger) && x1 - x0 <= w / 28;
  const xValues =
    options.xNames || whole
      ? thin(xs.filter(Number.isInteger), Math.max(2, Math.floor(w / (options.xNames ? 46 : 40))))
      : options.xLog
        ? logTicks(x0, x1, Math.floor(w / 60))
        : undefined;
  plot.append(
    bottomAxis(xScale as never, hgt, theme, {
      label: options.xTitle,
      ticks: Math.max(2, Math.floor(w / 70)),
      ...(xValues ? { values: xValues } : {}),
      format: (v) => shorten(xFormat(v), 10),
    }),
  );

  // Lines across.
  for (const level of options.levels ?? []) {
    const at = y.place(level.y);
    plot.append(
      s('line', { x1: 0, x2: w, y1: at, y2: at, stroke: level.colour ?? theme.muted, 'stroke-dasharray': '5 4' }),
      s(
        'text',
        {
          x: w,
          y: at - 5,
          'text-anchor': 'end',
          fill: level.colour ?? theme.muted,
          'font-size': 11.5,
        },
        level.label,
      ),
    );
  }

  // Bands, lines, marks.
  const shape = options.steps ? curveStepAfter : curveLinear;
  const path = line<Point>()
    .x((p) => xScale(p.x))
    .y((p) => y.place(p.y))
    .curve(shape);
  const bands = area<{ x: number; low: number | null; high: number | null }>()
    .x((p) => xScale(p.x))
    .y0((p) => y.place(p.low))
    .y1((p) => y.place(p.high));
  const sheets = new Map(options.series.map((one) => [one, group(one.shift ?? 0, 0)]));
  const sheet = (one: Series) => sheets.get(one)!;
  for (const one of options.series) {
    for (const [band, opacity] of [
      [one.outer, 0.12],
      [one.band, 0.22],
    ] as const) {
      if (!band) continue;
      if (one.bars) {
        const bar = ({ x, low, high }: (typeof band)[number]) =>
          s('line', {
            x1: xScale(x),
            x2: xScale(x),
            y1: y.place(low),
            y2: y.place(high),
            stroke: one.colour,
            'stroke-width': 5,
            opacity: 0.35,
          });
        sheet(one).append(...band.map(bar));
      } else if (band.length === 1) {
        const b = band[0]!;
        sheet(one).append(
          s('rect', {
            x: xScale(b.x) - 7,
            width: 14,
            y: y.place(b.high),
            height: Math.max(1, y.place(b.low) - y.place(b.high)),
            fill: one.colour,
            opacity,
          }),
        );
      } else sheet(one).append(s('path', { d: bands(band), fill: one.colour, opacity }));
    }
  }
  for (const one of options.series) {
    if (one.line !== false && one.points.length > 1)
      sheet(one).append(
        s('path', {
          d: path(one.points),
          fill: 'none',
          stroke: one.colour,
          'stroke-width': one.width ?? 2,
          'stroke-linejoin': 'round',
          'stroke-dasharray': one.dash,
          opacity: one.opacity,
        }),
      );
    if (one.marks === 'dots' || (one.points.length === 1 && !one.marks))
      sheet(one).append(
        s(
          'g',
          { opacity: one.opacity },
          one.points.map((p) => s('circle', { cx: xScale(p.x), cy: y.place(p.y), r: one.faint ? 2.5 : 3.5, fill: one.colour })),
        ),
      );
    if (one.marks === 'diamonds')
      sheet(one).append(
        ...one.points.map((p) =>
          s('path', {
            d: symbol(symbolDiamond, 70)(),
            transform: `translate(${xScale(p.x)},${y.place(p.y)})`,
            fill: theme.surface,
            stroke: one.colour,
            'stroke-width': 1.8,
          }),
        ),
      );
  }
  plot.append(...sheets.values());
  for (const moment of options.moments ?? []) {
    const at = xScale(moment.x);
    if (!(at >= -1 && at <= w + 1)) continue;
    const left = at > w - 90;
    plot.append(
      s('line', { x1: at, x2: at, y1: 0, y2: hgt, stroke: moment.colour ?? theme.muted, 'stroke-dasharray': '5 4' }),
      s(
        'text',
        {
          x: at + (left ? -6 : 6),
          y: 14,
          'text-anchor': left ? 'end' : 'start',
          fill: moment.colour ?? theme.muted,
          'font-size': 11.5,
          'paint-order': 'stroke',
          stroke: theme.surface,
          'stroke-width': 3,
        },
        moment.label,
      ),
    );
  }
  for (const note of options.notes ?? []) {
    const [at, up] = [xScale(note.x), y.place(note.y)];
    const below = note.side === 'below';
    const left = at > w - (below ? 50 : 110);
    const anchor = left ? 'end' : below && at > 50 ? 'middle' : 'start';
    plot.append(
      s('circle', { cx: at, cy: up, r: 5, fill: 'none', stroke: note.colour ?? theme.warm, 'stroke-width': 2 }),
      s(
        'text',
        {
          x: at + (below ? 0 : left ? -9 : 9),
          y: up,
          dy: below ? '1.55em' : note.side === 'above' ? '-0.9em' : up > hgt - 12 ? '-0.5em' : up < 12 ? '1.1em' : '0.35em',
          'text-anchor': anchor,
          fill: note.colour ?? theme.warm,
          'font-size': 11.5,
          'font-weight': 600,
          'paint-order': 'stroke',
          stroke: theme.surface,
          'stroke-width': 3,
        },
        note.label,
      ),
    );
  }
  if (xs.length > 0) plot.append(reader());
  return svg;

  function swatch(one: Series): SVGGElement {
    const mark =
      one.marks === 'diamonds'
        ? s('path', {
            d: symbol(symbolDiamond, 60)(),
            transform: 'translate(9,0)',
            fill: theme.surface,
            stroke: one.colour,
            'stroke-width': 1.8,
          })
        : one.marks === 'dots'
          ? s('circle', { cx: 9, cy: 0, r: 3.5, fill: one.colour })
          : null;
    return s(
      'g',
      {},
      one.line === false
        ? null
        : s('line', {
            x1: 0,
            x2: 18,
            stroke: one.colour,
            'stroke-width': Math.min(3, one.width ?? 2),
            'stroke-dasharray': one.dash,
          }),
      mark,
    );
  }

  /** What reads the numbers at a place: a slider along the x axis. */
  function reader(): SVGGElement {
    const cursor = s('line', {
      y1: 0,
      y2: hgt,
      stroke: theme.ink,
      'stroke-width': 1,
      'pointer-events': 'none',
      visibility: 'hidden',
      'data-screen': '',
    });
    let at = 0;
    const lookup = named.map((one) => new Map(one.points.map((p) => [p.x, p.y])));
    const at_x = (x: number) => named.map((one, i) => ({ one, value: lookup[i]!.get(x) })).filter((e) => e.value !== undefined);
    const text = (x: number) =>
      `${options.xTitle} ${xFormat(x)}: ${at_x(x)
        .map(({ one, value }) => `${one.name} ${yFormat(value!)}`)
        .join(', ')}`;
    const surface = s('rect', {
      width: w,
      height: hgt,
      fill: 'transparent',
      tabindex: 0,
      role: 'slider',
      'aria-label': `${options.label}: read the numbers`,
      'aria-valuemin': 0,
      'aria-valuemax': xs.length - 1,
      'aria-valuenow': 0,
      'aria-valuetext': text(xs[0]!),
      'data-key': 'reader',
      'data-screen': '',
      class: options.go ? 'reader go' : 'reader',
    });
    const read = (index: number, clientX: number, clientY: number) => {
      at = Math.max(0, Math.min(xs.length - 1, index));
      const x = xs[at]!;
      for (const name of ['x1', 'x2']) cursor.setAttribute(name, String(xScale(x)));
      cursor.setAttribute('visibility', 'visible');
      surface.setAttribute('aria-valuenow', String(at));
      surface.setAttribute('aria-valuetext', text(x));
      showTooltip(
        clientX,
        clientY,
        tipLine(options.xTitle, xFormat(x)),
        ...at_x(x).map(({ one, value }) => tipLine(one.name, yFormat(value!), one.colour)),
        options.goLabel ?? null,
      );
    };
    const hide = () => {
      cursor.setAttribute('visibility', 'hidden');
      hideTooltip();
    };
    const byKey = () => {
      const box = surface.getBoundingClientRect();
      read(at, box.left + (xScale(xs[at]!) / w) * box.width, box.top);
    };
    surface.addEventListener('pointermove', (event) => {
      const box = surface.getBoundingClientRect();
      read(bisectCenter(xs, xScale.invert(((event.clientX - box.left) / box.width) * w)), event.clientX, event.clientY);
    });
    // Drawn anew while it is read: where it was.
    surface.addEventListener('resume', (event) => {
      at = Math.max(0, Math.min(xs.length - 1, (event as CustomEvent<number>).detail));
    });
    surface.addEventListener('pointerleave', hide);
    surface.addEventListener('blur', hide);
    surface.addEventListener('focus', () => surface.matches(':focus-visible') && byKey());
    surface.addEventListener('keydown', (event) => {
      const big = Math.max(1, Math.round(xs.length / 10));
      const moves: Record<string, number> = {
        ArrowLeft: -1,
        ArrowRight: 1,
        ArrowDown: -1,
        ArrowUp: 1,
        PageDown: -big,
        PageUp: big,
        Home: -xs.length,
        End: xs.length,
      };
      if (event.key in moves) {
        event.preventDefault();
        at = Math.max(0, Math.min(xs.length - 1, at + moves[event.key]!));
        byKey();
      } else if (event.key === 'Enter' && options.go) options.go(xs[at]!);
    });
    if (options.go) surface.addEventListener('click', () => options.go!(xs[at]!));
    return s('g', {}, cursor, surface);
  }
}

const shorten = (text: string, length: number) => (text.length > length ? `${text.slice(0, length - 1)}…` : text);

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

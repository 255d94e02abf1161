import { scaleLinear } from 'd3-scale';
import { s, type Child } from '../dom';
import { digits } from '../quantities';
import type { Theme } from '../theme';
import { withTip } from '../ui/tooltip';
import { bottomAxis, drawing, group } from './frame';

export interface Bar {
  name: string;
  value: number;
  /** Half of the bar that says how sure it is. */
  error?: number | null;
  /** Another value of the same thing, shown as a tick. */
  other?: number;
  label: string;
  tip: () => Child[];
  faded?: boolean;
}

/** Room for the number beside a bar. */
const VALUE_WIDTH = 66;

/** Bars to the right of 0, or left below it. */
export function bars(options: { label: string; title: string; bars: Bar[] }, width: number, theme: Theme): SVGSVGElement {
  const row = options.bars.length > 24 ? 16 : 24;
  const longest = Math.max(...options.bars.map((b) => Math.min(14, b.name.length)), 2);
  const left = 16 + longest * 7;
  const w = Math.max(60, width - left - 64);
  const ends = options.bars.flatMap((b) => [b.value - (b.error ?? 0), b.value + (b.error ?? 0), b.other ?? 0]);
  const scale = scaleLinear()
    .domain([Math.min(0, ...ends), Math.max(0, ...ends) || 1])
    .nice()
    .range([0, w]);
  const line = (from: number, to: number, y1: number, y2: number, thick: number) =>
    s('line', { x1: scale(from), x2: scale(to), y1, y2, stroke: theme.ink, 'stroke-width': thick });
  const height = options.bars.length * row;
  const svg = drawing(width, height + 60, options.label, theme);
  const plot = group(left, 8);
  svg.append(plot);
  plot.append(
    ...scale
      .ticks(Math.max(2, Math.floor(w / 90)))
      .map((t) => s('line', { x1: scale(t), x2: scale(t), y1: 0, y2: height, stroke: theme.grid })),
    bottomAxis(scale, height, theme, {
      label: options.title,
      ticks: Math.max(2, Math.floor(w / 90)),
      format: (v) => digits(v, 3),
    }),
    ...options.bars.map((bar, i) => {
      const y = i * row;
      const [from, to] = [scale(Math.min(0, bar.value)), scale(Math.max(0, bar.value))];
      const end = Math.max(scale(bar.value + (bar.value < 0 ? 0 : (bar.error ?? 0))), scale(0));
      const tick = bar.other === undefined ? -Infinity : scale(bar.other);
      return withTip(
        s(
          'g',
          { role: 'img', 'aria-label': bar.label, opacity: bar.faded ? 0.45 : 1 },
          s('rect', { x: -left, y, width: width, height: row, fill: 'transparent' }),
          s(
            'text',
            { x: -8, y: y + row / 2, dy: '0.35em', 'text-anchor': 'end', fill: theme.ink },
            bar.name.length > 14 ? `${bar.name.slice(0, 13)}…` : bar.name,
          ),
          s('rect', {
            x: from,
            y: y + 3,
            width: Math.max(0.5, to - from),
            height: row - 6,
            rx: 2,
            fill: bar.value < 0 ? theme.warm : theme.cool,
          }),
          bar.error ? line(bar.value - bar.error, bar.value + bar.error, y + row / 2, y + row / 2, 1.2) : null,
          bar.other !== undefined ? line(bar.other, bar.other, y + 1, y + row - 1, 2) : null,
          s(
            'text',
            {
              x: (tick > end + VALUE_WIDTH ? end : Math.max(end, tick)) + 7,
              y: y + row / 2,
              dy: '0.35em',
              fill: theme.muted,
              'font-size': 11,
            },
            digits(bar.value, 3),
          ),
        ),
        bar.tip,
      );
    }),
    s('line', { x1: scale(0), x2: scale(0), y1: 0, y2: height, stroke: theme.muted }),
  );
  return svg;
}

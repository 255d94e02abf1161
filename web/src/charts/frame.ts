import { axisBottom, axisLeft, type AxisScale, type AxisDomain } from 'd3-axis';
import { select } from 'd3-selection';
import { s, type Child } from '../dom';
import type { Theme } from '../theme';
import { textWidth } from './text';

export interface Margin {
  top: number;
  right: number;
  bottom: number;
  left: number;
}

/** An empty drawing that says in words what it shows. */
export function drawing(width: number, height: number, label: string, theme: Theme): SVGSVGElement {
  return s('svg', {
    xmlns: 'http://www.w3.org/2000/svg',
    viewBox: `0 0 ${width} ${height}`,
    width,
    height,
    role: 'group',
    'aria-label': label,
    'font-family': theme.font,
    'font-size': 12,
    fill: theme.ink,
  });
}

export const group = (x: number, y: number, ...children: Child[]): SVGGElement =>
  s('g', { transform: `translate(${x},${y})` }, ...children);

const TICK_SIZE = 11.5;

interface AxisOptions {
  label?: string;
  ticks?: number;
  values?: number[];
  format?: (value: number) => string;
  /** Lines across the drawing, so long. */
  grid?: number;
}

function styled(axis: SVGGElement, theme: Theme, grid: number, vertical: boolean): SVGGElement {
  const root = select(axis)
    .attr('fill', 'none')
    .attr('font-size', TICK_SIZE)
    .attr('font-family', theme.font)
    .attr('aria-hidden', 'true');
  root.select('.domain').attr('stroke', vertical ? 'none' : theme.line);
  root.selectAll('.tick text').attr('fill', theme.muted);
  root.selectAll('.tick line').attr('stroke', grid ? theme.grid : theme.line);
  return axis;
}

/** Least room between the labels of an axis, and what the last one may take of the margin. */
const BETWEEN = 6;
const OVERHANG = 18;

/** Of the places of an axis as many as have room for their labels, evenly. */
function roomy<D extends AxisDomain>(scale: AxisScale<D>, values: D[], label: (value: D) => string, theme: Theme): D[] {
  const widest = Math.max(...values.map((value) => textWidth(label(value), TICK_SIZE, theme.font)));
  const apart = Math.min(...values.slice(1).map((value, i) => Math.abs(scale(value)! - scale(values[i]!)!)));
  const every = Math.max(1, Math.ceil((widest + BETWEEN) / apart));
  return values.filter((_, i) => i % every === 0);
}

/** Moves labels that would be cut at the right end of the drawing. */
function keepInside(axis: SVGGElement, right: number, theme: Theme): void {
  for (const tick of axis.querySelectorAll<SVGGElement>('.tick')) {
    const text = tick.querySelector('text')!;
    const at = tick.transform.baseVal.getItem(0).matrix.e;
    const over = at + textWidth(text.textContent, TICK_SIZE, theme.font) / 2 - right - OVERHANG;
    if (over > 0) text.setAttribute('x', String(-over));
  }
}

/** The x axis, at height y. */
export function bottomAxis<D extends AxisDomain>(
  scale: AxisScale<D>,
  y: number,
  theme: Theme,
  options: AxisOptions = {},
): SVGGElement {
  const axis = axisBottom(scale).tickSizeOuter(0).tickSizeInner(5).tickPadding(5);
  const format = options.format as unknown as ((value: D) => string) | undefined;
  if (options.ticks !== undefined) axis.ticks(options.ticks);
  if (options.values) axis.tickValues(roomy(scale, options.values as unknown as D[], format ?? String, theme));
  if (format) axis.tickFormat(format);
  const element = group(0, y);
  select(element).call(axis as never);
  styled(element, theme, 0, false);
  const [a, b] = scale.range() as [number, number];
  keepInside(element, b, theme);
  if (options.label) {
    element.append(
      s('text', { x: (a + b) / 2, y: 36, fill: theme.muted, 'text-anchor': 'middle', 'font-size': 12 }, options.label),
    );
  }
  return element;
}

/** The y axis, with lines across. */
export function leftAxis<D extends AxisDomain>(scale: AxisScale<D>, theme: Theme, options: AxisOptions = {}): SVGGElement {
  const axis = axisLeft(scale)
    .tickSizeOuter(0)
    .tickSizeInner(-(options.grid ?? 0))
    .tickPadding(8);
  if (options.ticks !== undefined) axis.ticks(options.ticks);
  if (options.values) axis.tickValues(options.values as unknown as D[]);
  if (options.format) axis.tickFormat(options.format as unknown as (value: D) => string);
  const element = group(0, 0);
  select(element).call(axis as never);
  return styled(element, theme, options.grid ?? 0, true);
}

/** What the y axis says, above it: read without turning one's head. */
export const axisTitle = (text: string, theme: Theme, x = 0, y = -12): SVGTextElement =>
  s('text', { x, y, fill: theme.muted, 'font-size': 12 }, text);

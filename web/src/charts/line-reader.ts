import { bisectCenter } from 'd3-array';
import { s } from '../dom';
import { hideTooltip, showTooltip, tipLine } from '../ui/tooltip';
import type { Plot } from './lines';

/** What reads the numbers at a place of a figure: a slider along the x axis, for the pointer and for the keyboard. */
export function lineReader({ options, named, theme, w, tall, xs, x, xFormat, yFormat }: Plot): SVGGElement {
  const cursor = s('line', {
    y1: 0,
    y2: tall,
    stroke: theme.ink,
    'stroke-width': 1,
    'pointer-events': 'none',
    visibility: 'hidden',
    'data-screen': '',
  });
  const lookup = named.map((one) => new Map(one.points.map((p) => [p.x, p.y])));
  const valuesAt = (at: number) =>
    named.map((one, i) => ({ ...one, value: lookup[i]!.get(at) })).filter((one) => one.value !== undefined);
  const text = (at: number) => {
    const values = valuesAt(at).map(({ name, value }) => `${name} ${yFormat(value!)}`);
    return `${options.xTitle} ${xFormat(at)}: ${values.join(', ')}`;
  };
  const surface = s('rect', {
    width: w,
    height: tall,
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
  let place = 0;
  const bounded = (index: number) => Math.max(0, Math.min(xs.length - 1, index));
  const read = (index: number, clientX: number, clientY: number) => {
    place = bounded(index);
    const at = xs[place]!;
    for (const name of ['x1', 'x2']) cursor.setAttribute(name, String(x(at)));
    cursor.setAttribute('visibility', 'visible');
    surface.setAttribute('aria-valuenow', String(place));
    surface.setAttribute('aria-valuetext', text(at));
    const values = valuesAt(at).map(({ name, value, colour }) => tipLine(name, yFormat(value!), colour));
    showTooltip(clientX, clientY, tipLine(options.xTitle, xFormat(at)), ...values, options.goLabel ?? null);
  };
  const hide = () => {
    cursor.setAttribute('visibility', 'hidden');
    hideTooltip();
  };
  const byKey = () => {
    const box = surface.getBoundingClientRect();
    read(place, box.left + (x(xs[place]!) / w) * box.width, box.top);
  };
  surface.addEventListener('pointermove', ({ clientX, clientY }) => {
    const box = surface.getBoundingClientRect();
    read(bisectCenter(xs, x.invert(((clientX - box.left) / box.width) * w)), clientX, clientY);
  });
  // Drawn anew while it is read: where it was.
  surface.addEventListener('resume', (event) => (place = bounded((event as CustomEvent<number>).detail)));
  surface.addEventListener('pointerleave', hide);
  surface.addEventListener('blur', hide);
  surface.addEventListener('focus', () => surface.matches(':focus-visible') && byKey());
  const moves = keyMoves(xs.length);
  surface.addEventListener('keydown', (event) => {
    if (event.key in moves) {
      event.preventDefault();
      place = bounded(place + moves[event.key]!);
      byKey();
    } else if (event.key === 'Enter') options.go?.(xs[place]!);
  });
  surface.addEventListener('click', () => options.go?.(xs[place]!));
  return s('g', {}, cursor, surface);
}

/** How far each key moves along a list. */
function keyMoves(length: number): Record<string, number> {
  const big = Math.max(1, Math.round(length / 10));
  return {
    ArrowLeft: -1,
    ArrowRight: 1,
    ArrowDown: -1,
    ArrowUp: 1,
    PageDown: -big,
    PageUp: big,
    Home: -length,
    End: length,
  };
}

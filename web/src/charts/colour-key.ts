import { s } from '../dom';
import type { Theme } from '../theme';
import { textWidth } from './text';

export interface ColourKey {
  /** What its words and a strip of colours take. */
  width: number;
  /** Draws it so that it ends at `right`, within `room`. */
  draw(right: number, top: number, room: number): SVGGElement;
}

const STEPS = 24;
const SIZE = 11;
const GAP = 6;

/** The colours with what their ends stand for. Words are measured, so that none is cut. */
export function colourKey(ends: string[], diverging: boolean, theme: Theme): ColourKey {
  const [first, last] = [ends[0]!, ends.at(-1)!];
  const [before, after] = [first, last].map((text) => textWidth(text, SIZE, theme.font)) as [number, number];
  const words = before + after + 2 * GAP;
  return {
    width: words + 96,
    draw(right, top, room) {
      const long = Math.max(24, Math.min(96, room - words));
      const end = right - after - GAP;
      const colour = (share: number) => (diverging ? theme.diverging(2 * share - 1) : theme.ramp(0.06 + 0.94 * share));
      return s(
        'g',
        { 'aria-hidden': 'true', 'font-size': SIZE, class: 'colour-key' },
        ...Array.from({ length: STEPS }, (_, i) =>
          s('rect', {
            x: end - long + (i * long) / STEPS,
            y: top + 3,
            width: long / STEPS + 0.5,
            height: 9,
            fill: colour(i / (STEPS - 1)),
          }),
        ),
        s('text', { x: end - long - GAP, y: top + 11.5, 'text-anchor': 'end', fill: theme.muted }, first),
        s('text', { x: right, y: top + 11.5, 'text-anchor': 'end', fill: theme.muted }, last),
      );
    },
  };
}

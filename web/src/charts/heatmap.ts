import { s, type Child } from '../dom';
import { inkOn, type Theme } from '../theme';
import { withTip } from '../ui/tooltip';
import { drawing } from './frame';

export interface HeatCell {
  /** 0 to 1 on the ramp, -1 to 1 on the diverging one; null: nothing to show. */
  shade: number | null;
  text: string;
  label: string;
  tip: () => Child[];
  marked?: boolean;
  go?: () => void;
}

export interface HeatmapOptions {
  label: string;
  rows: string[];
  columns: string[];
  /** What rows and columns are. */
  rowTitle: string;
  columnTitle: string;
  cell(row: number, column: number): HeatCell | null;
  /** A gap before this column: those after it are of another kind. */
  gapBefore?: number;
  diverging?: boolean;
  /** Cells are squares at most so large. */
  largest?: number;
  selected?: { row: number; column: number };
  /** What the ends of the colours stand for (and its middle). */
  legend?: string[];
}

const GAP = 10;

/** Rows and columns of coloured cells; with arrow keys one goes from cell to cell. */
export function heatmap(options: HeatmapOptions, width: number, theme: Theme): SVGSVGElement {
  const { rows, columns } = options;
  const longest = Math.max(...rows.map((r) => r.length), 1);
  const left = Math.min(140, Math.max(44, 18 + Math.min(longest, 16) * 7));
  const top = 40;
  const gap = options.gapBefore === undefined ? 0 : GAP;
  const size = Math.max(4, Math.min((width - left - gap - 2) / columns.length, options.largest ?? 72));
  const height = Math.max(
    4,
    Math.min(options.largest ?? 99, size * 2, rows.length > 24 ? 22 : Math.max(26, Math.min(60, 250 / rows.length))),
  );
  const x = (column: number) => left + column * size + (options.gapBefore !== undefined && column >= options.gapBefore ? gap : 0);
  const y = (row: number) => top + row * height;
  const svg = drawing(width, top + rows.length * height + 6, options.label, theme);
  if (options.legend) svg.append(colourKey(options.legend, options.diverging ?? false, width, theme));
  const every = Math.ceil(18 / size);
  const shorten = (name: string, chars: number) => (name.length > chars ? `${name.slice(0, chars - 1)}…` : name);
  svg.append(
    s(
      'text',
      { x: left, y: 12, fill: theme.muted, 'aria-hidden': 'true' },
      options.legend && width < 420 ? '' : options.columnTitle,
    ),
    s('text', { x: left - 8, y: 30, fill: theme.muted, 'text-anchor': 'end', 'aria-hidden': 'true' }, options.rowTitle),
    ...columns.map((name, c) =>
      c % every === 0 || c === options.gapBefore
        ? s(
            'text',
            { x: x(c) + size / 2, y: 30, 'text-anchor': 'middle', fill: theme.ink, 'aria-hidden': 'true' },
            shorten(name, Math.max(3, Math.floor((size * every) / 7))),
          )
        : s('g'),
    ),
    ...rows.map((name, r) =>
      height >= 12 || r % Math.ceil(12 / height) === 0
        ? s(
            'text',
            { x: left - 8, y: y(r) + height / 2, dy: '0.35em', 'text-anchor': 'end', fill: theme.ink, 'aria-hidden': 'true' },
            shorten(name, 16),
          )
        : s('g'),
    ),
  );
  // Numbers stand in all cells or in none.
  const letter = size >= 40 ? 6.3 : 5.4;
  const roomy =
    size >= 26 &&
    height >= 16 &&
    rows.every((_, r) => columns.every((__, c) => (options.cell(r, c)?.text.length ?? 0) * letter < size - 3));
  let first = true;
  const cells = rows.map((_, r) =>
    columns.map((__, c) => {
      const cell = options.cell(r, c);
      if (!cell) return null;
      const colour = cell.shade === null ? 'none' : options.diverging ? theme.diverging(cell.shade) : theme.ramp(cell.shade);
      const box = s('rect', {
        x: x(c) + 0.75,
        y: y(r) + 0.75,
        width: size - 1.5,
        height: height - 1.5,
        rx: Math.min(3, size / 8),
        fill: colour,
        stroke: cell.shade === null ? theme.line : 'none',
      });
      const chosen = options.selected?.row === r && options.selected.column === c;
      const ink = cell.shade === null ? theme.muted : inkOn(colour);
      const start = options.selected ? chosen : first;
      const label =
        roomy && !cell.label.split(/[\s,:]+/).includes(cell.text) ? `${cell.label}, shown as ${cell.text}` : cell.label;
      const group = s(
        'g',
        {
          role: cell.go ? 'button' : 'img',
          tabindex: start ? 0 : -1,
          'aria-label': label,
          'data-key': `${r} ${c}`,
          class: cell.go ? 'cell go' : 'cell',
        },
        box,
        roomy
          ? s(
              'text',
              {
                x: x(c) + size / 2,
                y: y(r) + height / 2,
                dy: '0.35em',
                'text-anchor': 'middle',
                fill: ink,
                'font-size': size >= 40 ? 11 : 9.5,
                'aria-hidden': 'true',
                'pointer-events': 'none',
              },
              cell.text,
            )
          : null,
        cell.marked
          ? s('circle', {
              cx: x(c) + size - Math.min(7, size / 4),
              cy: y(r) + Math.min(7, height / 4),
              r: Math.min(3, size / 6),
              fill: theme.warm,
              stroke: theme.surface,
              'stroke-width': 1,
            })
          : null,
        chosen
          ? s('rect', { x: x(c), y: y(r), width: size, height, rx: 3, fill: 'none', stroke: theme.ink, 'stroke-width': 2 })
          : null,
      );
      first = false;
      if (cell.go) group.addEventListener('click', cell.go);
      withTip(group, cell.tip);
      return group;
    }),
  );
  const start = svg.ownerDocument;
  svg.addEventListener('keydown', (event) => {
    const key = (start.activeElement?.getAttribute('data-key') ?? '').split(' ').map(Number);
    let [r = NaN, c = NaN] = key;
    if (Number.isNaN(r) || Number.isNaN(c)) return;
    if ((event.key === 'Enter' || event.key === ' ') && cells[r]?.[c]) {
      event.preventDefault();
      options.cell(r, c)?.go?.();
      return;
    }
    const moves: Record<string, [number, number]> = {
      ArrowLeft: [0, -1],
      ArrowRight: [0, 1],
      ArrowUp: [-1, 0],
      ArrowDown: [1, 0],
    };
    const move = moves[event.key];
    if (!move && event.key !== 'Home' && event.key !== 'End') return;
    event.preventDefault();
    if (event.key === 'Home') c = -1;
    if (event.key === 'End') c = columns.length;
    const [dr, dc] = move ?? [0, event.key === 'Home' ? 1 : -1];
    do {
      r += dr;
      c += dc;
      if (!(r >= 0 && c >= 0 && r < rows.length && c < columns.length)) return;
    } while (!cells[r]![c]);
    for (const other of cells.flat()) other?.setAttribute('tabindex', '-1');
    cells[r]![c]!.setAttribute('tabindex', '0');
    cells[r]![c]!.focus();
  });
  svg.append(...cells.flat().filter((cell) => cell !== null));
  return svg;
}

/** The colours with what they stand for, at the right end of the first line. */
export function colourKey(ends: string[], diverging: boolean, width: number, theme: Theme): SVGGElement {
  const steps = 24;
  const long = 96;
  const last = ends.at(-1)!;
  const right = width - last.length * 6.4 - 8;
  const key = s('g', { 'aria-hidden': 'true', 'font-size': 11 });
  for (let i = 0; i < steps; ++i) {
    const share = i / (steps - 1);
    key.append(
      s('rect', {
        x: right - long + (i * long) / steps,
        y: 3,
        width: long / steps + 0.5,
        height: 9,
        fill: diverging ? theme.diverging(2 * share - 1) : theme.ramp(0.06 + 0.94 * share),
      }),
    );
  }
  key.append(
    s('text', { x: right - long - 6, y: 11.5, 'text-anchor': 'end', fill: theme.muted }, ends[0]!),
    s('text', { x: right + 6, y: 11.5, fill: theme.muted }, last),
  );
  return key;
}

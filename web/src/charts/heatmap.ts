import { s, type Child } from '../dom';
import { inkOn, type Theme } from '../theme';
import { withTip } from '../ui/tooltip';
import { colourKey } from './colour-key';
import { drawing } from './frame';
import { shorten, textWidth } from './text';

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
/** Below this width a map may be wider than its place, which then scrolls: numbers matter more than to see all at once. */
const NARROW = 480;
/** The widest that a map becomes for its numbers. */
const MOST_WIDE = 1600;
/** Sizes of the numbers, the largest first that fits; where the map grows for them, the middle one. */
const FONTS = [11, 9.5, 8.5] as const;
/** The longest name of a row that is written out. */
const NAME = 16;

/** Where everything stands. */
interface Layout {
  left: number;
  top: number;
  size: number;
  height: number;
  /** Of the whole drawing. */
  width: number;
  /** Numbers stand in all cells or in none. */
  roomy: boolean;
  font: number;
  x(column: number): number;
  y(row: number): number;
}

type Cells = (HeatCell | null)[][];

/** What the numbers need: the width of a cell. */
function widest(cells: Cells, font: number, theme: Theme): number {
  const texts = cells.flat().flatMap((cell) => (cell ? [cell.text] : []));
  const longest = Math.max(0, ...texts.map((text) => text.length));
  const candidates = new Set(texts.filter((text) => text.length >= longest - 1));
  return 3 + Math.max(0, ...[...candidates].map((text) => textWidth(text, font, theme.font)));
}

/** The least width of cells, of `small` at least, at which the last one in sight is cut in half: a reader sees that the map goes on. */
const partly = (room: number, small: number) => Math.max(small, room / (Math.floor(room / small - 0.5) + 0.5));

function layOut(options: HeatmapOptions, cells: Cells, top: number, width: number, theme: Theme): Layout {
  const { rows, columns, rowTitle } = options;
  const left = 16 + Math.max(20, ...[rowTitle, ...rows].map((name) => textWidth(shorten(name, NAME), 12, theme.font)));
  const gap = options.gapBefore === undefined ? 0 : GAP;
  const natural = Math.max(4, Math.min((width - left - gap - 2) / columns.length, options.largest ?? 72));
  const needs = FONTS.map((font) => widest(cells, font, theme));
  const small = needs[1]!;
  const wanted = left + gap + 2 + columns.length * small;
  const size = width < NARROW && natural < small && wanted <= MOST_WIDE ? partly(width - left, small) : natural;
  const fits = needs.findIndex((need) => size >= need);
  const height = Math.max(
    4,
    Math.min(
      options.largest ?? 99,
      Math.max(size * 2, 16),
      rows.length > 24 ? 22 : Math.max(26, Math.min(60, 250 / rows.length)),
    ),
  );
  return {
    left,
    top,
    size,
    height,
    width: Math.max(width, left + gap + 2 + columns.length * size),
    roomy: fits >= 0 && height >= 16,
    font: FONTS[Math.max(0, fits)]!,
    x: (column) => left + column * size + (options.gapBefore !== undefined && column >= options.gapBefore ? gap : 0),
    y: (row) => top + row * height,
  };
}

/** The names of the columns. */
function columnNames({ columns, gapBefore }: HeatmapOptions, { size, top, x }: Layout, theme: Theme): SVGElement[] {
  const every = Math.ceil(18 / size);
  return columns.flatMap((name, c) =>
    c % every === 0 || c === gapBefore
      ? [
          s(
            'text',
            { x: x(c) + size / 2, y: top - 10, 'text-anchor': 'middle', fill: theme.ink, 'aria-hidden': 'true' },
            shorten(name, Math.max(3, Math.floor((size * every) / 7))),
          ),
        ]
      : [],
  );
}

/** The names of the rows. They stay in sight where the map scrolls (ui/figure.ts). */
function rowNames({ rows, rowTitle }: HeatmapOptions, { left, top, height, y }: Layout, theme: Theme): SVGGElement {
  const every = Math.ceil(12 / height);
  return s(
    'g',
    { 'data-sticky': '', 'aria-hidden': 'true', 'text-anchor': 'end' },
    s('rect', { x: 0, y: top - 24, width: left - 3, height: rows.length * height + 26, fill: theme.surface }),
    s('text', { x: left - 8, y: top - 10, fill: theme.muted }, rowTitle),
    ...rows.flatMap((name, r) =>
      r % every === 0
        ? [s('text', { x: left - 8, y: y(r) + height / 2, dy: '0.35em', fill: theme.ink }, shorten(name, NAME))]
        : [],
    ),
  );
}

/** What is drawn in a cell. */
function drawCell(cell: HeatCell, r: number, c: number, options: HeatmapOptions, layout: Layout, theme: Theme): SVGGElement {
  const { size, height, x, y, roomy, font } = layout;
  const colour = cell.shade === null ? 'none' : options.diverging ? theme.diverging(cell.shade) : theme.ramp(cell.shade);
  const chosen = options.selected?.row === r && options.selected.column === c;
  const label = roomy && !cell.label.split(/[\s,:]+/).includes(cell.text) ? `${cell.label}, shown as ${cell.text}` : cell.label;
  return s(
    'g',
    {
      role: cell.go ? 'button' : 'img',
      tabindex: -1,
      'aria-label': label,
      'data-key': `${r} ${c}`,
      class: cell.go ? 'cell go' : 'cell',
    },
    s('rect', {
      x: x(c) + 0.75,
      y: y(r) + 0.75,
      width: size - 1.5,
      height: height - 1.5,
      rx: Math.min(3, size / 8),
      fill: colour,
      stroke: cell.shade === null ? theme.line : 'none',
    }),
    roomy
      ? s(
          'text',
          {
            x: x(c) + size / 2,
            y: y(r) + height / 2,
            dy: '0.35em',
            'text-anchor': 'middle',
            fill: cell.shade === null ? theme.muted : inkOn(colour),
            'font-size': font,
            'aria-hidden': 'true',
            'pointer-events': 'none',
          },
          cell.text,
        )
      : null,
    cell.marked
      ? s('circle', {
          cx: x(c) + size - Math.min(5, size / 4),
          cy: y(r) + Math.min(5, height / 4),
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
}

const MOVES: Record<string, [number, number]> = {
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
};

/** The arrow keys go from cell to cell, Enter acts. */
function withKeys(svg: SVGSVGElement, groups: (SVGGElement | null)[][], cells: Cells): void {
  const columns = groups[0]?.length ?? 0;
  svg.addEventListener('keydown', (event) => {
    const key = (svg.ownerDocument.activeElement?.getAttribute('data-key') ?? '').split(' ').map(Number);
    let [r = NaN, c = NaN] = key;
    if (Number.isNaN(r) || Number.isNaN(c)) return;
    if ((event.key === 'Enter' || event.key === ' ') && groups[r]?.[c]) {
      event.preventDefault();
      cells[r]![c]!.go?.();
      return;
    }
    const move = MOVES[event.key];
    if (!move && event.key !== 'Home' && event.key !== 'End') return;
    event.preventDefault();
    if (event.key === 'Home') c = -1;
    if (event.key === 'End') c = columns;
    const [dr, dc] = move ?? [0, event.key === 'Home' ? 1 : -1];
    do {
      r += dr;
      c += dc;
      if (!(r >= 0 && c >= 0 && r < groups.length && c < columns)) return;
    } while (!groups[r]![c]);
    for (const other of groups.flat()) other?.setAttribute('tabindex', '-1');
    groups[r]![c]!.setAttribute('tabindex', '0');
    groups[r]![c]!.focus();
  });
}

/** Rows and columns of coloured cells; with arrow keys one goes from cell to cell. */
export function heatmap(options: HeatmapOptions, width: number, theme: Theme): SVGSVGElement {
  const { rows, columns } = options;
  const cells: Cells = rows.map((_, r) => columns.map((__, c) => options.cell(r, c)));
  const key = options.legend && options.legend.length > 0 ? colourKey(options.legend, options.diverging ?? false, theme) : null;
  const beside = layOut(options, cells, 40, width, theme);
  const title = beside.left + textWidth(options.columnTitle, 12, theme.font) + 16;
  // The colours stand beside the title, or above it where both do not fit.
  const above = key !== null && title + key.width > width;
  const layout = above ? layOut(options, cells, 60, width, theme) : beside;
  const svg = drawing(layout.width, layout.top + rows.length * layout.height + 6, options.label, theme);
  if (layout.width > width) svg.style.minWidth = `${layout.width}px`;
  const groups = cells.map((row, r) => row.map((cell, c) => (cell ? drawCell(cell, r, c, options, layout, theme) : null)));
  groups.forEach((row, r) =>
    row.forEach((group, c) => {
      const { tip, go } = cells[r]![c] ?? {};
      if (!group || !tip) return;
      if (go) group.addEventListener('click', go);
      withTip(group, tip);
    }),
  );
  const { selected } = options;
  const start = selected ? groups[selected.row]?.[selected.column] : groups.flat().find((group) => group !== null);
  start?.setAttribute('tabindex', '0');
  svg.append(
    ...columnNames(options, layout, theme),
    ...groups.flat().filter((group) => group !== null),
    rowNames(options, layout, theme),
    s('text', { x: layout.left, y: layout.top - 28, fill: theme.muted, 'aria-hidden': 'true' }, options.columnTitle),
  );
  if (key) svg.append(key.draw(width - 2, 0, above ? width - 4 : width - title));
  withKeys(svg, groups, cells);
  return svg;
}

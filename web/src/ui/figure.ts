import { fill, h, uniqueId, type Child } from '../dom';
import { currentTheme, type Theme } from '../theme';
import { div, quiet } from './parts';
import { pngBlob, saveFile, svgText, TITLE_HEIGHT } from './save';
import { csvButton, table, type TableData } from './table';

export interface FigureOptions {
  /** Of the files it is saved as. */
  name: string;
  title: string;
  caption?: Child;
  /** The drawing, so wide. */
  draw(width: number, theme: Theme): SVGSVGElement;
  /** What stands on the page in its place, where that is not the drawing itself (a canvas). */
  body?: HTMLElement & { redraw?: () => void };
  /** The same as numbers. */
  table?(): TableData;
  /** What is saved as CSV, where that is too much for a table on the page. */
  csv?(): TableData;
  /** Controls beside the title. */
  tools?: Child;
  /** Of what it is, in words: files that are saved say it. */
  of?(): string;
}

export interface Figure {
  element: HTMLElement;
  /** Draws again, where what is drawn has changed. */
  redraw(): void;
  title(text: string): void;
  caption(content: Child): void;
}

const shown = new Set<Figure>();

/** On large screens text is larger, and so are drawings. */
const magnification = () => Math.max(1, parseFloat(getComputedStyle(document.documentElement).fontSize) / 16);

/** Draws every figure that is on the page again: the theme has changed. */
export function redrawAll(): void {
  for (const figure of shown) {
    if (figure.element.isConnected) figure.redraw();
    else shown.delete(figure);
  }
}

/** The name of a file, which says what it is of. */
const fileName = (name: string, of: string) =>
  `${name}-${of}`
    .replace(/[^\p{L}\p{N}_.]+/gu, '-')
    .replace(/-$/, '')
    .slice(0, 120);

/** Saves a drawing, so wide. */
async function save(kind: 'svg' | 'png', options: FigureOptions, title: string, width: number): Promise<void> {
  const theme = currentTheme();
  const svg = options.draw(Math.max(320, Math.floor(width / magnification())), theme);
  const about = options.of?.() ?? '';
  const name = fileName(options.name, about);
  const text = svgText(svg, theme.surface, `${title}${about && ` (${about})`}`);
  if (kind === 'svg') return saveFile(`${name}.svg`, text, 'image/svg+xml');
  const box = svg.viewBox.baseVal;
  saveFile(`${name}.png`, await pngBlob(text, box.width, box.height + TITLE_HEIGHT), 'image/png');
}

/** The numbers in place of a drawing, and the button that shows them. */
function numbersOf(data: () => TableData, place: HTMLElement) {
  const element = div('numbers');
  element.hidden = true;
  let shownTable: ReturnType<typeof table> | null = null;
  const redraw = () => {
    if (element.hidden) return;
    if (shownTable) shownTable.update(data());
    else fill(element, (shownTable = table(data())));
  };
  const flip = () => {
    element.hidden = !element.hidden;
    place.hidden = !element.hidden;
    toggle.setAttribute('aria-pressed', String(!element.hidden));
    redraw();
  };
  const toggle = quiet('Table', flip, { 'aria-pressed': 'false' });
  return { element, toggle, redraw };
}

/** Puts a drawing into its place. What had the focus has it again. */
function redrawn(place: HTMLElement, drawing: () => SVGSVGElement): void {
  const before = place.contains(document.activeElement) ? document.activeElement! : null;
  const focused = before?.getAttribute('data-key') ?? null;
  fill(place, drawing());
  if (focused === null) return;
  const all = [...place.querySelectorAll<SVGElement>('[data-key]')];
  const after = all.find((e) => e.getAttribute('data-key') === focused) ?? all.at(-1);
  after?.dispatchEvent(new CustomEvent('resume', { detail: Number(before?.getAttribute('aria-valuenow') ?? 0) }));
  after?.focus();
}

/** Where a drawing is wider than its place, the names of its rows stay in sight. */
function keepNames(place: HTMLElement): void {
  place.addEventListener('scroll', () => {
    for (const part of place.querySelectorAll('[data-sticky]'))
      part.setAttribute('transform', `translate(${place.scrollLeft},0)`);
  });
}

/** A drawing with its title, its numbers as a table, and the files it can be saved as. */
export function figure(options: FigureOptions): Figure {
  const id = uniqueId('figure');
  const place = div('drawing', options.body);
  const numbers = numbersOf(() => options.table!(), place);
  const heading = h('h2', { class: 'small', id }, options.title);
  const caption = h('figcaption', {}, options.caption ?? null);
  let width = 0;
  const saveButton = (label: string, kind: 'svg' | 'png') =>
    quiet(label, () => void save(kind, options, heading.textContent, place.clientWidth || width), {
      'aria-label': `Save as ${label}`,
      title: `Save as ${label}`,
    });
  const csv = options.csv ?? options.table;
  const tools = h(
    'div',
    { class: 'tools', role: 'group', 'aria-labelledby': id },
    options.tools,
    options.table && numbers.toggle,
    saveButton('SVG', 'svg'),
    saveButton('PNG', 'png'),
    csv &&
      csvButton(() => {
        const data = csv();
        return { ...data, name: fileName(data.name, options.of?.() ?? '') };
      }),
  );
  const head = div('figure-head', heading, tools);
  const result: Figure = {
    element: h('figure', { class: 'card', 'aria-labelledby': id }, head, caption, place, numbers),
    redraw() {
      if (options.body) options.body.redraw?.();
      else if (width > 0) redrawn(place, () => options.draw(Math.floor(width / magnification()), currentTheme()));
      numbers.redraw();
    },
    title: (text) => fill(heading, text),
    caption: (content) => fill(caption, content),
  };
  keepNames(place);
  new ResizeObserver(([entry]) => {
    const next = Math.floor(entry!.contentRect.width);
    if (next === width || next === 0) return;
    width = next;
    result.redraw();
  }).observe(place);
  shown.add(result);
  return result;
}

import { fill, h, uniqueId, type Child } from '../dom';
import { currentTheme, type Theme } from '../theme';
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

/** A drawing with its title, its numbers as a table, and the files it can be saved as. */
export function figure(options: FigureOptions): Figure {
  const id = uniqueId('figure');
  const place = h('div', { class: 'drawing' });
  const numbers = h('div', { class: 'numbers' });
  numbers.hidden = true;
  const heading = h('h2', { class: 'small', id }, options.title);
  const caption = h('figcaption', {}, options.caption ?? null);
  let width = 0;
  let numbersTable: ReturnType<typeof table> | null = null;

  const of = () => options.of?.() ?? '';
  const named = (name: string) =>
    `${name}-${of()}`
      .replace(/[^\p{L}\p{N}_.]+/gu, '-')
      .replace(/-$/, '')
      .slice(0, 120);
  const save = async (kind: 'svg' | 'png') => {
    const theme = currentTheme();
    const svg = options.draw(Math.max(320, Math.floor((place.clientWidth || width) / magnification())), theme);
    const about = of();
    const text = svgText(svg, theme.surface, `${heading.textContent}${about && ` (${about})`}`);
    if (kind === 'svg') return saveFile(`${named(options.name)}.svg`, text, 'image/svg+xml');
    const box = svg.viewBox.baseVal;
    saveFile(`${named(options.name)}.png`, await pngBlob(text, box.width, box.height + TITLE_HEIGHT), 'image/png');
  };

  const drawTable = () => {
    if (numbers.hidden || !options.table) return;
    const data = options.table();
    if (numbersTable) numbersTable.update(data);
    else fill(numbers, (numbersTable = table(data)).element);
  };

  const toggle = h(
    'button',
    {
      type: 'button',
      class: 'quiet',
      'aria-pressed': 'false',
      onclick: () => {
        numbers.hidden = !numbers.hidden;
        place.hidden = !numbers.hidden;
        toggle.setAttribute('aria-pressed', String(!numbers.hidden));
        drawTable();
      },
    },
    'Table',
  );
  const button = (label: string, action: () => void, about: string) =>
    h('button', { type: 'button', class: 'quiet', onclick: action, 'aria-label': about, title: about }, label);
  const tools = h(
    'div',
    { class: 'tools', role: 'group', 'aria-labelledby': id },
    options.tools ?? null,
    options.table ? toggle : null,
    button('SVG', () => void save('svg'), 'Save as SVG'),
    button('PNG', () => void save('png'), 'Save as PNG'),
    options.table || options.csv
      ? csvButton(() => {
          const data = (options.csv ?? options.table)!();
          return { ...data, name: named(data.name) };
        })
      : null,
  );

  const result: Figure = {
    element: h(
      'figure',
      { class: 'card', 'aria-labelledby': id },
      h('div', { class: 'figure-head' }, heading, tools),
      caption,
      place,
      numbers,
    ),
    redraw() {
      if (options.body) options.body.redraw?.();
      else if (width > 0) {
        const before = place.contains(document.activeElement) ? document.activeElement! : null;
        const focused = before?.getAttribute('data-key') ?? null;
        fill(place, options.draw(Math.floor(width / magnification()), currentTheme()));
        if (focused !== null) {
          const all = [...place.querySelectorAll<SVGElement>('[data-key]')];
          const after = all.find((e) => e.getAttribute('data-key') === focused) ?? all.at(-1);
          after?.dispatchEvent(new CustomEvent('resume', { detail: Number(before?.getAttribute('aria-valuenow') ?? 0) }));
          after?.focus();
        }
      }
      drawTable();
    },
    title: (text) => fill(heading, text),
    caption: (content) => fill(caption, content),
  };
  if (options.body) place.append(options.body);
  // Where a drawing is wider than its place, the names of its rows stay in sight.
  place.addEventListener('scroll', () => {
    for (const part of place.querySelectorAll('[data-sticky]'))
      part.setAttribute('transform', `translate(${place.scrollLeft},0)`);
  });
  new ResizeObserver(([entry]) => {
    const next = Math.floor(entry!.contentRect.width);
    if (next === width || next === 0) return;
    width = next;
    result.redraw();
  }).observe(place);
  shown.add(result);
  return result;
}

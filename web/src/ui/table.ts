import { fill, h } from '../dom';
import { digits, format, quantityOf } from '../quantities';
import { link, quiet } from './parts';
import { saveFile } from './save';

/** What is in a cell: the value in full, and how it is read. */
export interface Cell {
  value: string | number | null;
  text: string;
  /** Whether it stands out. */
  strong?: boolean;
}

export interface Column {
  label: string;
  /** What the column means. */
  about?: string;
  /** Numbers stand right. */
  numeric?: boolean;
}

export interface TableData {
  /** Of the file, when it is saved. */
  name: string;
  caption: string;
  columns: Column[];
  rows: { cells: Cell[]; marked?: boolean; go?: () => void }[];
}

export const words = (text: string): Cell => ({ value: text, text });

/** A plain number; an empty cell where there is none. */
export const number = (value: number | null): Cell => ({ value, text: value === null ? '' : digits(value) });

/** Columns of numbers. */
export const numeric = (...labels: string[]): Column[] => labels.map((label) => ({ label, numeric: true }));

/** A value of a quantity. */
export function measured(id: string, value: number | null | undefined): Cell {
  const q = quantityOf(id);
  return { value: value === null && q.kind === 'steps' ? Infinity : (value ?? null), text: format(q, value) };
}

/** The column of a quantity. */
export function columnOf(id: string): Column {
  const q = quantityOf(id);
  return { label: q.short, about: q.label + (q.about && `: ${q.about}`), numeric: true };
}

/** Values in order; what is infinite or does not exist comes last. */
export function compareCells(a: Cell, b: Cell): number {
  const last = ({ value }: Cell) => value === null || value === Infinity;
  if (last(a) || last(b)) return Number(last(a)) - Number(last(b));
  if (typeof a.value === 'number' && typeof b.value === 'number') return a.value - b.value;
  return String(a.value).localeCompare(String(b.value), 'en', { numeric: true });
}

/** Comma-separated values as the program writes them: numbers in full, and texts such that no spreadsheet runs them (docs/formats.md). */
export function toCsv(data: TableData): string {
  const inert = (text: string) => (/^[=+\-@\t\r\n']/.test(text) ? `'${text}` : text);
  const full = ({ value }: Cell) => (typeof value === 'string' ? inert(value) : value === Infinity ? 'inf' : String(value ?? ''));
  const quoted = (text: string) => (/[",;\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const lines = [data.columns.map((c) => inert(c.label)), ...data.rows.map((r) => r.cells.map(full))];
  return lines.map((line) => line.map(quoted).join(',')).join('\n') + '\n';
}

/** Saves a table. */
export function csvButton(data: () => TableData, about = 'Save the numbers as CSV'): HTMLButtonElement {
  const save = () => {
    const of = data();
    saveFile(`${of.name}.csv`, toCsv(of), 'text/csv');
  };
  return quiet('CSV', save, { 'aria-label': about, title: about });
}

/** A table that is sorted by its column heads. */
export function table(data: TableData): { element: HTMLElement; update(data: TableData): void } {
  let current = data;
  let by: { column: number; descending: boolean } | null = null;
  const head = h('thead');
  const body = h('tbody');
  const caption = h('caption');
  const element = h(
    'div',
    { class: 'table', tabindex: 0, role: 'region', 'aria-label': data.caption },
    h('table', {}, caption, head, body),
  );

  const sort = (column: number) => {
    by = by?.column !== column ? { column, descending: false } : by.descending ? null : { column, descending: true };
    draw();
    head.querySelectorAll('button')[column]?.focus();
  };

  const draw = () => {
    fill(caption, current.caption);
    fill(
      head,
      h(
        'tr',
        {},
        current.columns.map((column, index) => {
          const order = by?.column === index ? (by.descending ? 'descending' : 'ascending') : 'none';
          return h(
            'th',
            { scope: 'col', class: column.numeric ? 'number' : '', 'aria-sort': order },
            h(
              'button',
              { type: 'button', title: column.about, onclick: () => sort(index) },
              column.label,
              h('span', { class: 'order', 'aria-hidden': 'true' }, { none: '', ascending: '↑', descending: '↓' }[order]),
            ),
          );
        }),
      ),
    );
    const rows = [...current.rows];
    if (by) {
      const { column, descending } = by;
      rows.sort((a, b) => {
        const [x, y] = [a.cells[column]!, b.cells[column]!];
        if (x.value === null || y.value === null) return compareCells(x, y);
        return (descending ? -1 : 1) * compareCells(x, y);
      });
    }
    fill(
      body,
      rows.map((row) =>
        h(
          'tr',
          { class: row.marked ? 'marked' : '' },
          row.cells.map((cell, index) => {
            const text = cell.strong ? h('strong', {}, cell.text) : cell.text;
            const content = index === 0 && row.go ? link(text, row.go) : text;
            return index === 0
              ? h('th', { scope: 'row', class: current.columns[0]?.numeric ? 'number' : '' }, content)
              : h('td', { class: current.columns[index]?.numeric ? 'number' : '' }, content);
          }),
        ),
      ),
    );
  };
  draw();
  return {
    element,
    update(next) {
      current = next;
      element.setAttribute('aria-label', next.caption);
      draw();
    },
  };
}

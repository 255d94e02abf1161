import { heatmap } from '../charts/heatmap';
import { lines, type Series } from '../charts/lines';
import { valueScale } from '../charts/scale';
import type { Cell, Study } from '../core';
import { comparable, printed } from '../data/published';
import type { Session } from '../data/session';
import { fill, h } from '../dom';
import { digits, format, quantityOf } from '../quantities';
import type { Theme } from '../theme';
import { choose, segments } from '../ui/controls';
import { figure } from '../ui/figure';
import { glossaryOf } from '../ui/glossary';
import { saveFile } from '../ui/save';
import { table, toCsv, type TableData } from '../ui/table';
import { tipLine } from '../ui/tooltip';
import type { Context, View } from '../view';
import { sessionHeader } from './facts';
import {
  cellsTable,
  correlationTable,
  courseTable,
  meanOf,
  modelsTable,
  reportTable,
  subsetTables,
  summariesOf,
  summaryAt,
  synergyTable,
  trendsTable,
} from './study-tables';

type Convention = 'exact' | 'published';

/** A study: models by task, heads and seed, what they show together, and the report. */
export const study: View = {
  name: 'study',
  title: 'Study',
  shows: (session) => session.study !== null,
  mount(root, context) {
    const { store, session } = context;
    const of = session.study!;
    const quantities = [...new Set(of.findings.summaries.map((one) => one.quantity))];
    const first = quantities.includes('truncated_hitting_mean') ? 'truncated_hitting_mean' : (quantities[0] ?? '');
    const quantity = () => (quantities.includes(store.get().quantity) ? store.get().quantity : first);
    const choice = choose<string>(
      'Quantity',
      quantities.map((value) => ({ value, label: quantityOf(value).label })),
      (value) => store.set({ quantity: value }),
    );
    const conventions = segments(
      'Convention',
      [
        { value: 'exact' as const, label: 'Exact' },
        { value: 'published' as const, label: 'Published' },
      ],
      (convention) => store.set({ convention }),
    );
    const convention = () => store.get().convention;

    const courses = of.settings.tasks.map((task) =>
      figure({
        name: `study-${task}`,
        title: '',
        draw: (width, theme) => drawCourse(context, task, quantity(), convention(), width, theme),
        table: () => courseTable(of, task, quantity(), convention()),
      }),
    );
    const maps = of.settings.tasks.map((task) =>
      figure({
        name: `cells-${task}`,
        title: '',
        draw: (width, theme) => drawCells(of, task, quantity(), convention(), width, theme),
        table: () => cellsTable(of, quantity(), convention(), task),
      }),
    );
    const tables = [trendsTable(of), synergyTable(of), correlationTable(of), modelsTable(of), ...subsetTables(of)].filter(
      (one) => one.rows.length > 0,
    );
    fill(
      root,
      sessionHeader(session, session.title || 'Study', choice.element, conventions.element),
      h(
        'section',
        { class: 'card' },
        h('h2', {}, 'What the data say'),
        h(
          'ul',
          { class: 'findings' },
          of.findings.statements.map((line) => h('li', {}, line)),
        ),
      ),
      h(
        'div',
        { class: 'grid wide' },
        courses.map((one) => one.element),
        maps.map((one) => one.element),
      ),
      glossaryOf(quantities),
      tables.map(tableCard),
      session.report?.sections.map(({ title, paragraphs, tables: all }) => {
        const cards = all.map((one, i) => tableCard(reportTable(one.caption, one.rows, `${title}-${i + 1}`)));
        if (all.length === 1 && all[0]!.caption === title && paragraphs.length === 0) return cards;
        return h(
          'section',
          { class: 'card' },
          h('h2', {}, title),
          paragraphs.map((text) => h('p', { class: 'note' }, text)),
          cards,
        );
      }),
      h(
        'div',
        { class: 'controls' },
        h(
          'button',
          { type: 'button', onclick: () => saveFile('results.json', JSON.stringify(of, null, 2) + '\n', 'application/json') },
          'Save results.json',
        ),
      ),
    );
    return {
      update(state, before) {
        if (before && before.quantity === state.quantity && before.convention === state.convention) return;
        choice.update(quantity());
        conventions.update(state.convention);
        const q = quantityOf(quantity());
        of.settings.tasks.forEach((task, i) => {
          courses[i]!.title(`${q.label}: ${task}`);
          courses[i]!.caption(
            `Means over ${of.findings.seeds === 1 ? 'one seed' : `${of.findings.seeds} seeds, bars: 95 % interval of the mean`}; small dots: seeds${paperWords(session, q.id, state.convention)}.`,
          );
          courses[i]!.redraw();
          maps[i]!.title(`Every model: ${task}`);
          maps[i]!.caption(
            q.about ? `${q.about[0]!.toUpperCase()}${q.about.slice(1)}. Mean over ${of.settings.samples} sequences.` : null,
          );
          maps[i]!.redraw();
        });
      },
    };
  },
};

function tableCard(data: TableData): HTMLElement {
  const shown = table(data);
  return h(
    'section',
    { class: 'card titled' },
    h(
      'div',
      { class: 'figure-head' },
      h('h2', { class: 'small' }, data.caption),
      h(
        'div',
        { class: 'tools' },
        h(
          'button',
          {
            type: 'button',
            class: 'quiet',
            'aria-label': `${data.caption}: save as CSV`,
            onclick: () => saveFile(`${data.name}.csv`, toCsv(data), 'text/csv'),
          },
          'CSV',
        ),
      ),
    ),
    shown.element,
  );
}

/** Where the paper's values are. */
function paperWords({ published }: Session, quantity: string, convention: Convention): string {
  if (!published.some((one) => one.quantity === quantity)) return '';
  return comparable(quantity, convention) ? '; diamonds: the paper' : '. The paper’s times are by the published convention';
}

function drawCourse(
  { session }: Context,
  task: string,
  quantity: string,
  convention: Convention,
  width: number,
  theme: Theme,
): SVGSVGElement {
  const study = session.study!;
  const q = quantityOf(quantity);
  const all = summariesOf(study, task, quantity, convention);
  const series: Series[] = [];
  study.settings.heads.forEach((heads, i) => {
    const rows = all.filter((one) => one.heads === heads).sort((a, b) => a.layer - b.layer);
    if (rows.length === 0) return;
    const colour = theme.series[i % theme.series.length]!;
    const shift = 9 * (i - (study.settings.heads.length - 1) / 2);
    const floor = q.kind === 'change' ? -Infinity : 0;
    series.push(
      ...rows.map((one) => ({
        name: '',
        colour,
        faint: true,
        shift,
        line: false,
        marks: 'dots' as const,
        opacity: 0.5,
        points: one.values.map((y) => ({ x: one.layer, y })),
      })),
    );
    series.push({
      name: `${heads} ${heads === 1 ? 'head' : 'heads'}`,
      colour,
      shift,
      bars: true,
      marks: 'dots',
      dash: ['', '7 3', '2 3', '9 3 2 3'][i % 4]!,
      points: rows.map((one) => ({ x: one.layer, y: one.mean.estimate })),
      band: rows.flatMap(({ layer, mean }) =>
        mean.low === null || mean.high === null ? [] : [{ x: layer, low: Math.max(floor, mean.low), high: mean.high }],
      ),
    });
    const paper = printed(session.published, { task, heads, quantity, convention });
    if (paper.length > 0)
      series.push({
        name: `the paper, ${heads}`,
        colour,
        faint: true,
        shift,
        line: false,
        marks: 'diamonds',
        points: paper.map((one) => ({ x: one.layer, y: one.mean })),
      });
  });
  return lines(
    {
      label: `${q.label} by layer, ${task}`,
      xTitle: 'layer',
      yTitle: q.kind === 'steps' ? `${q.short}, steps` : q.short,
      height: 330,
      series,
      logarithmic: q.logarithmic,
      xNames: ['', ...[...new Set(all.map((one) => one.layer))].map(String)],
      yFormat: (v) => format(q, v),
    },
    width,
    theme,
  );
}

function drawCells(
  study: Study,
  task: string,
  quantity: string,
  convention: Convention,
  width: number,
  theme: Theme,
): SVGSVGElement {
  const q = quantityOf(quantity);
  const cells = study.cells.filter((one) => one.task === task);
  const value = (one: Cell, layer: number) => summaryAt(one[convention][layer], quantity);
  const layers = Math.max(0, ...cells.map((one) => one[convention].length));
  const values = cells
    .flatMap((one) => [...Array(layers).keys()].map((l) => meanOf(value(one, l))))
    .filter((v) => v !== undefined);
  const scale = valueScale(values, q.logarithmic, 0, 1000);
  const finite = values.filter((v): v is number => v !== null);
  return heatmap(
    {
      label: `${q.label} of every model`,
      rows: cells.map((one) => `${one.heads} ${one.heads === 1 ? 'head' : 'heads'}, seed ${one.seed}`),
      columns: Array.from({ length: layers }, (_, l) => String(l + 1)),
      rowTitle: 'model',
      columnTitle: 'layer',
      largest: 110,
      legend:
        finite.length > 0
          ? [format(q, Math.min(...finite), 2), format(q, values.includes(null) ? null : Math.max(...finite), 2)]
          : [],
      cell: (r, c) => {
        const summary = value(cells[r]!, c);
        if (!summary) return null;
        const mean = meanOf(summary)!;
        return {
          shade: 0.06 + (0.94 * scale.place(mean)) / 1000,
          text: format(q, mean, 3),
          label: `${cells[r]!.heads} heads, seed ${cells[r]!.seed}, layer ${c + 1}: ${format(q, mean)}`,
          tip: () => [
            tipLine(`${cells[r]!.heads} heads, seed ${cells[r]!.seed}`, `layer ${c + 1}`),
            tipLine(q.label, format(q, mean)),
            tipLine('standard deviation', summary.std === null ? '–' : digits(summary.std, 3)),
            tipLine('least, largest', `${format(q, summary.min)}, ${format(q, summary.max)}`),
          ],
        };
      },
    },
    width,
    theme,
  );
}

import { heatmap } from '../charts/heatmap';
import { lines, type Series } from '../charts/lines';
import { valueScale } from '../charts/scale';
import type { Summary } from '../core';
import type { Cell, Interval, Study } from '../data/documents';
import { fill, h } from '../dom';
import { digits, format, percent, quantityOf } from '../quantities';
import type { Theme } from '../theme';
import { choose, segments } from '../ui/controls';
import { figure } from '../ui/figure';
import { saveFile } from '../ui/save';
import { columnOf, measured, table, toCsv, words, type TableData } from '../ui/table';
import { tipLine } from '../ui/tooltip';
import type { Context, View } from '../view';
import { sessionHeader } from './facts';

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
    const choice = choose<string>('Quantity', quantities.map((value) => ({ value, label: quantityOf(value).label })), (value) => store.set({ quantity: value }));
    const conventions = segments('Convention', [{ value: 'exact' as const, label: 'Exact' }, { value: 'published' as const, label: 'Published' }], (convention) => store.set({ convention }));
    const convention = () => store.get().convention;

    const courses = of.settings.tasks.map((task) => figure({
      name: `study-${task}`, title: '',
      draw: (width, theme) => drawCourse(context, task, quantity(), convention(), width, theme),
      table: () => courseTable(of, task, quantity(), convention()),
    }));
    const maps = of.settings.tasks.map((task) => figure({
      name: `cells-${task}`, title: '',
      draw: (width, theme) => drawCells(of, task, quantity(), convention(), width, theme),
      table: () => cellsTable(of, quantity(), convention(), task),
    }));
    const tables = [trendsTable(of), synergyTable(of), correlationTable(of), modelsTable(of), ...subsetTables(of)].filter((one) => one.rows.length > 0);
    fill(root,
      sessionHeader(session, session.title || 'Study', choice.element, conventions.element),
      h('section', { class: 'card' }, h('h2', {}, 'What the data say'), h('ul', { class: 'findings' }, of.findings.statements.map((line) => h('li', {}, line)))),
      h('div', { class: 'grid wide' }, courses.map((one) => one.element), maps.map((one) => one.element)),
      tables.map(tableCard),
      session.report?.sections.map((section) =>
        h('section', { class: 'card' }, h('h2', {}, section.title), section.paragraphs.map((text) => h('p', { class: 'note' }, text)),
          section.tables.map((one, i) => tableCard(reportTable(one.caption, one.rows, `${section.title}-${i + 1}`))))),
      h('div', { class: 'controls' }, h('button', { type: 'button', onclick: () => saveFile('results.json', JSON.stringify(of, null, 2) + '\n', 'application/json') }, 'Save results.json')));
    return {
      update(state, before) {
        if (before && before.quantity === state.quantity && before.convention === state.convention) return;
        choice.update(quantity());
        conventions.update(state.convention);
        const q = quantityOf(quantity());
        of.settings.tasks.forEach((task, i) => {
          courses[i]!.title(`${q.label}: ${task}`);
          courses[i]!.caption(`Means over ${of.findings.seeds === 1 ? 'one seed' : `${of.findings.seeds} seeds, bands: 95 % interval of the mean`}; small dots: seeds${session.published.length > 0 ? '; diamonds: the paper' : ''}.`);
          courses[i]!.redraw();
          maps[i]!.title(`Every model: ${task}`);
          maps[i]!.caption(q.about ? `${q.about[0]!.toUpperCase()}${q.about.slice(1)}. Mean over ${of.settings.samples} sequences.` : null);
          maps[i]!.redraw();
        });
      },
    };
  },
};

function tableCard(data: TableData): HTMLElement {
  const shown = table(data);
  return h('section', { class: 'card titled' }, h('div', { class: 'figure-head' }, h('h2', { class: 'small' }, data.caption),
    h('div', { class: 'tools' }, h('button', { type: 'button', class: 'quiet', 'aria-label': `${data.caption}: save as CSV`, onclick: () => saveFile(`${data.name}.csv`, toCsv(data), 'text/csv') }, 'CSV'))), shown.element);
}

const summariesOf = (study: Study, task: string, quantity: string, convention: Convention) =>
  study.findings.summaries.filter((one) => one.task === task && one.quantity === quantity && one.convention === convention);

function drawCourse({ session }: Context, task: string, quantity: string, convention: Convention, width: number, theme: Theme): SVGSVGElement {
  const study = session.study!;
  const q = quantityOf(quantity);
  const all = summariesOf(study, task, quantity, convention);
  const series: Series[] = [];
  study.settings.heads.forEach((heads, i) => {
    const rows = all.filter((one) => one.heads === heads).sort((a, b) => a.layer - b.layer);
    if (rows.length === 0) return;
    const colour = theme.series[i % theme.series.length]!;
    const floor = q.kind === 'change' ? -Infinity : 0;
    series.push(...rows.map((one) => ({ name: '', colour, faint: true, line: false, marks: 'dots' as const, opacity: 0.5, points: one.values.map((y) => ({ x: one.layer, y })) })));
    series.push({
      name: `${heads} ${heads === 1 ? 'head' : 'heads'}`, colour, marks: 'dots', dash: ['', '7 3', '2 3', '9 3 2 3'][i % 4]!,
      points: rows.map((one) => ({ x: one.layer, y: one.mean.estimate })),
      band: rows.flatMap(({ layer, mean }) => (mean.low === null || mean.high === null ? [] : [{ x: layer, low: Math.max(floor, mean.low), high: mean.high }])),
    });
    const paper = session.published.filter((one) => one.task === task && one.heads === heads && one.quantity === quantity);
    if (paper.length > 0) series.push({ name: `the paper, ${heads}`, colour, faint: true, line: false, marks: 'diamonds', points: paper.map((one) => ({ x: one.layer, y: one.mean })) });
  });
  return lines({
    label: `${q.label} by layer, ${task}`, xTitle: 'layer', yTitle: q.kind === 'steps' ? `${q.short}, steps` : q.short, height: 330,
    series, logarithmic: q.logarithmic, xNames: ['', ...[...new Set(all.map((one) => one.layer))].map(String)], yFormat: (v) => format(q, v),
  }, width, theme);
}

function courseTable(study: Study, task: string, quantity: string, convention: Convention): TableData {
  return {
    name: `study-${task}-${quantity}`, caption: `${quantityOf(quantity).label}, ${task}, ${convention}: mean over seeds and its 95 % interval`,
    columns: [{ label: 'heads', numeric: true }, { label: 'layer', numeric: true }, ...['mean', 'low', 'high', 'std'].map((label) => ({ label, numeric: true }))],
    rows: summariesOf(study, task, quantity, convention).map((one) => ({ cells: [cell(one.heads), cell(one.layer), measured(quantity, one.mean.estimate), measured(quantity, one.mean.low), measured(quantity, one.mean.high), { value: one.std, text: one.std === null ? '' : digits(one.std, 2) }] })),
  };
}

const cell = (value: number | null) => ({ value, text: value === null ? '' : digits(value) });

const summaryAt = (layer: Record<string, unknown> | undefined, quantity: string): Summary | null => {
  const value = layer?.[quantity];
  return typeof value === 'object' && value !== null && 'mean' in value ? (value as Summary) : null;
};

const meanOf = (summary: Summary | null) => (summary === null ? undefined : summary.never === summary.samples ? null : summary.mean);

function drawCells(study: Study, task: string, quantity: string, convention: Convention, width: number, theme: Theme): SVGSVGElement {
  const q = quantityOf(quantity);
  const cells = study.cells.filter((one) => one.task === task);
  const value = (one: Cell, layer: number) => summaryAt(one[convention][layer], quantity);
  const layers = Math.max(0, ...cells.map((one) => one[convention].length));
  const values = cells.flatMap((one) => [...Array(layers).keys()].map((l) => meanOf(value(one, l)))).filter((v) => v !== undefined);
  const scale = valueScale(values, q.logarithmic, 0, 1000);
  const finite = values.filter((v): v is number => v !== null);
  return heatmap({
    label: `${q.label} of every model`, rows: cells.map((one) => `${one.heads} ${one.heads === 1 ? 'head' : 'heads'}, seed ${one.seed}`), columns: Array.from({ length: layers }, (_, l) => String(l + 1)),
    rowTitle: 'model', columnTitle: 'layer', largest: 110,
    legend: finite.length > 0 ? [format(q, Math.min(...finite), 2), format(q, values.includes(null) ? null : Math.max(...finite), 2)] : [],
    cell: (r, c) => {
      const summary = value(cells[r]!, c);
      if (!summary) return null;
      const mean = meanOf(summary)!;
      return {
        shade: 0.06 + (0.94 * scale.place(mean)) / 1000, text: format(q, mean, 3), label: `${cells[r]!.heads} heads, seed ${cells[r]!.seed}, layer ${c + 1}: ${format(q, mean)}`,
        tip: () => [tipLine(`${cells[r]!.heads} heads, seed ${cells[r]!.seed}`, `layer ${c + 1}`), tipLine(q.label, format(q, mean)), tipLine('standard deviation', summary.std === null ? '–' : digits(summary.std, 3)), tipLine('least, largest', `${format(q, summary.min)}, ${format(q, summary.max)}`)],
      };
    },
  }, width, theme);
}

function cellsTable(study: Study, quantity: string, convention: Convention, task: string): TableData {
  const layers = Math.max(0, ...study.cells.map((one) => one[convention].length));
  return {
    name: `cells-${task}-${quantity}`, caption: `${quantityOf(quantity).label} of every model, ${task}, ${convention}`,
    columns: [{ label: 'heads', numeric: true }, { label: 'seed', numeric: true }, ...Array.from({ length: layers }, (_, l) => ({ label: `layer ${l + 1}`, numeric: true }))],
    rows: study.cells.filter((one) => one.task === task).map((one) => ({ cells: [cell(one.heads), cell(one.seed), ...Array.from({ length: layers }, (_, l) => measured(quantity, meanOf(summaryAt(one[convention][l], quantity))))] })),
  };
}

const interval = ({ estimate, low, high }: Interval, text: (value: number) => string) => ({
  value: estimate,
  text: estimate === null ? '' : low === null || high === null ? text(estimate) : `${text(estimate)} (${text(low)} to ${text(high)})`,
});

function trendsTable(study: Study): TableData {
  return {
    name: 'trends', caption: 'Trends along the number of heads',
    columns: [{ label: 'claim' }, { label: 'task' }, { label: 'convention' }, { label: 'layer', numeric: true }, { label: 'verdict' }, { label: 'Somers’ d', numeric: true, about: 'effect, -1 to 1' }, { label: 'p', numeric: true }, { label: 'corrected p', numeric: true, about: 'by Holm, over all trends' }],
    rows: study.findings.trends.map((one) => ({
      cells: [words(one.claim), words(one.task), words(one.convention), cell(one.layer), words(one.corrected_p !== null && one.corrected_p < 0.05 ? 'supported' : 'not supported'), cell(one.test.effect), cell(one.test.p), cell(one.corrected_p)],
      marked: one.corrected_p !== null && one.corrected_p < 0.05,
    })),
  };
}

function synergyTable(study: Study): TableData {
  return {
    name: 'synergy', caption: 'Where all heads together are more faithful than the best one (95 % intervals)',
    columns: [{ label: 'task' }, { label: 'convention' }, { label: 'heads', numeric: true }, { label: 'layer', numeric: true }, { label: 'share of sequences', numeric: true }, { label: 'share of seeds', numeric: true }],
    rows: study.findings.synergy.map((one) => ({ cells: [words(one.task), words(one.convention), cell(one.heads), cell(one.layer), interval(one.samples, percent), interval(one.seeds, percent)] })),
  };
}

function correlationTable(study: Study): TableData {
  return {
    name: 'speed-fidelity', caption: 'Speed against fidelity: rank correlations',
    columns: [{ label: 'task' }, { label: 'convention' }, { label: 'points', numeric: true }, { label: 'correlation', numeric: true }, { label: 'p', numeric: true }, { label: 'within models', numeric: true }],
    rows: study.findings.speed_fidelity.map((one) => ({ cells: [words(one.task), words(one.convention), cell(one.points), cell(one.test.effect), cell(one.test.p), cell(one.within_models)] })),
  };
}

function modelsTable(study: Study): TableData {
  return {
    name: 'models', caption: 'Models',
    columns: [{ label: 'task' }, { label: 'heads', numeric: true }, { label: 'seed', numeric: true }, { label: 'accuracy', numeric: true }, { label: 'loss', numeric: true }, { label: 'learned' }],
    rows: study.cells.map((one) => ({ cells: [words(one.task), cell(one.heads), cell(one.seed), { value: one.accuracy, text: one.accuracy === null ? '' : percent(one.accuracy) }, cell(one.loss), words(one.learned ? 'yes' : 'no')] })),
  };
}

/** Numbers of subsets over seeds, a table for each value. */
function subsetTables(study: Study): TableData[] {
  const rows = study.findings.subsets ?? [];
  const isMean = (value: unknown): value is { mean: Interval } => typeof value === 'object' && value !== null && 'mean' in value;
  return [...new Set(rows.map((one) => one.value))].map((value) => {
    const of = rows.filter((one) => one.value === value);
    const names = [...new Set(of.flatMap((one) => Object.keys(one).filter((name) => isMean(one[name]))))];
    return {
      name: `subsets-${value}`, caption: `Subsets of heads, ${value}: means over seeds`,
      columns: [{ label: 'task' }, { label: 'heads', numeric: true }, { label: 'layer' }, ...names.map((name) => ({ ...columnOf(name), label: name.replaceAll('_', ' ') }))],
      rows: of.map((one) => ({ cells: [words(one.task), cell(one.heads), words(one.layer === null ? 'all' : String(one.layer)), ...names.map((name) => { const found = one[name]; return isMean(found) ? cell(found.mean.estimate) : cell(null); })] })),
    };
  });
}

/** A table of the static report, whose numbers are sorted as such. */
function reportTable(caption: string, rows: string[][], name: string): TableData {
  const [head = [], ...body] = rows;
  const number = (text: string) => {
    const found = /^[-−]?[\d.]+(?:e[-−+]?\d+)?/.exec(text.trim());
    return found ? Number(found[0].replaceAll('−', '-')) : null;
  };
  const numeric = head.map((_, c) => body.length > 0 && body.every((row) => !row[c]?.trim() || number(row[c]!) !== null));
  return {
    name: name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-'), caption,
    columns: head.map((label, c) => ({ label, numeric: numeric[c]! })),
    rows: body.map((row) => ({ cells: head.map((_, c) => ({ value: numeric[c] ? number(row[c] ?? '') : (row[c] ?? ''), text: row[c] ?? '' })) })),
  };
}

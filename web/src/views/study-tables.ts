/** The tables of a study. */
import type { Summary } from '../core';
import type { Interval, Maybe, Study, SubsetFinding } from '../core';
import { digits, percent, quantityOf } from '../quantities';
import { columnOf, measured, words, type TableData } from '../ui/table';

type Convention = 'exact' | 'published';

export const summariesOf = (study: Study, task: string, quantity: string, convention: Convention) =>
  study.findings.summaries.filter((one) => one.task === task && one.quantity === quantity && one.convention === convention);

export function courseTable(study: Study, task: string, quantity: string, convention: Convention): TableData {
  return {
    name: `study-${task}-${quantity}`,
    caption: `${quantityOf(quantity).label}, ${task}, ${convention}: mean over seeds and its 95 % interval`,
    columns: [
      { label: 'heads', numeric: true },
      { label: 'layer', numeric: true },
      ...['mean', 'low', 'high', 'std'].map((label) => ({ label, numeric: true })),
    ],
    rows: summariesOf(study, task, quantity, convention).map((one) => ({
      cells: [
        cell(one.heads),
        cell(one.layer),
        measured(quantity, one.mean.estimate),
        measured(quantity, one.mean.low),
        measured(quantity, one.mean.high),
        { value: one.std, text: one.std === null ? '' : digits(one.std, 2) },
      ],
    })),
  };
}

const cell = (value: number | null) => ({ value, text: value === null ? '' : digits(value) });

export const summaryAt = (layer: Record<string, unknown> | undefined, quantity: string): Summary | null => {
  const value = layer?.[quantity];
  return typeof value === 'object' && value !== null && 'mean' in value ? (value as Summary) : null;
};

export const meanOf = (summary: Summary | null) =>
  summary === null ? undefined : summary.never === summary.samples ? null : summary.mean;

export function cellsTable(study: Study, quantity: string, convention: Convention, task: string): TableData {
  const layers = Math.max(0, ...study.cells.map((one) => one[convention].length));
  return {
    name: `cells-${task}-${quantity}`,
    caption: `${quantityOf(quantity).label} of every model, ${task}, ${convention}`,
    columns: [
      { label: 'heads', numeric: true },
      { label: 'seed', numeric: true },
      ...Array.from({ length: layers }, (_, l) => ({ label: `layer ${l + 1}`, numeric: true })),
    ],
    rows: study.cells
      .filter((one) => one.task === task)
      .map((one) => ({
        cells: [
          cell(one.heads),
          cell(one.seed),
          ...Array.from({ length: layers }, (_, l) => measured(quantity, meanOf(summaryAt(one[convention][l], quantity)))),
        ],
      })),
  };
}

const interval = ({ estimate, low, high }: Interval, text: (value: number) => string) => ({
  value: estimate,
  text:
    estimate === null ? '' : low === null || high === null ? text(estimate) : `${text(estimate)} (${text(low)} to ${text(high)})`,
});

export function trendsTable(study: Study): TableData {
  return {
    name: 'trends',
    caption: 'Trends along the number of heads',
    columns: [
      { label: 'claim' },
      { label: 'task' },
      { label: 'convention' },
      { label: 'layer', numeric: true },
      { label: 'verdict' },
      { label: 'Somers’ d', numeric: true, about: 'effect, -1 to 1' },
      { label: 'p', numeric: true },
      { label: 'corrected p', numeric: true, about: 'by Holm, over all trends' },
    ],
    rows: study.findings.trends.map((one) => ({
      cells: [
        words(one.claim),
        words(one.task),
        words(one.convention),
        cell(one.layer),
        words(one.corrected_p !== null && one.corrected_p < 0.05 ? 'supported' : 'not supported'),
        cell(one.test.effect),
        cell(one.test.p),
        cell(one.corrected_p),
      ],
      marked: one.corrected_p !== null && one.corrected_p < 0.05,
    })),
  };
}

export function synergyTable(study: Study): TableData {
  return {
    name: 'synergy',
    caption: 'Where all heads together are more faithful than the best one (95 % intervals)',
    columns: [
      { label: 'task' },
      { label: 'convention' },
      { label: 'heads', numeric: true },
      { label: 'layer', numeric: true },
      { label: 'share of sequences', numeric: true },
      { label: 'share of seeds', numeric: true },
    ],
    rows: study.findings.synergy.map((one) => ({
      cells: [
        words(one.task),
        words(one.convention),
        cell(one.heads),
        cell(one.layer),
        interval(one.samples, percent),
        interval(one.seeds, percent),
      ],
    })),
  };
}

export function correlationTable(study: Study): TableData {
  return {
    name: 'speed-fidelity',
    caption: 'Speed against fidelity: rank correlations',
    columns: [
      { label: 'task' },
      { label: 'convention' },
      { label: 'points', numeric: true },
      { label: 'correlation', numeric: true },
      { label: 'p', numeric: true },
      { label: 'within models', numeric: true },
    ],
    rows: study.findings.speed_fidelity.map((one) => ({
      cells: [
        words(one.task),
        words(one.convention),
        cell(one.points),
        cell(one.test.effect),
        cell(one.test.p),
        cell(one.within_models),
      ],
    })),
  };
}

export function modelsTable(study: Study): TableData {
  return {
    name: 'models',
    caption: 'Models',
    columns: [
      { label: 'task' },
      { label: 'heads', numeric: true },
      { label: 'seed', numeric: true },
      { label: 'accuracy', numeric: true },
      { label: 'loss', numeric: true },
      { label: 'learned' },
    ],
    rows: study.cells.map((one) => ({
      cells: [
        words(one.task),
        cell(one.heads),
        cell(one.seed),
        { value: one.accuracy, text: one.accuracy === null ? '' : percent(one.accuracy) },
        cell(one.loss),
        words(one.learned ? 'yes' : 'no'),
      ],
    })),
  };
}

/** Numbers of subsets over seeds, a table for each value. */
export function subsetTables(study: Study): TableData[] {
  const rows = study.findings.subsets ?? [];
  const meansOf = (one: SubsetFinding): Record<string, Maybe> =>
    Object.fromEntries(
      Object.entries(one).flatMap(([name, of]) =>
        typeof of === 'object' && of !== null && 'mean' in of ? [[name, of.mean.estimate]] : [],
      ),
    );
  return [...new Set(rows.map((one) => one.value))].map((value) => {
    const of = rows.filter((one) => one.value === value);
    const names = [...new Set(of.flatMap((one) => Object.keys(meansOf(one))))];
    return {
      name: `subsets-${value}`,
      caption: `Subsets of heads, ${value}: means over seeds`,
      columns: [
        { label: 'task' },
        { label: 'heads', numeric: true },
        { label: 'layer' },
        ...names.map((name) => ({ ...columnOf(name), label: name.replaceAll('_', ' ') })),
      ],
      rows: of.map((one) => ({
        cells: [
          words(one.task),
          cell(one.heads),
          words(one.layer === null ? 'all' : String(one.layer)),
          ...names.map((name) => cell(meansOf(one)[name] ?? null)),
        ],
      })),
    };
  });
}

/** A table of the static report, whose numbers are sorted as such. */
export function reportTable(caption: string, rows: string[][], name: string): TableData {
  const [head = [], ...body] = rows;
  const number = (text: string) => {
    const found = /^[-−]?[\d.]+(?:e[-−+]?\d+)?/.exec(text.trim());
    return found ? Number(found[0].replaceAll('−', '-')) : null;
  };
  const numeric = head.map((_, c) => body.length > 0 && body.every((row) => !row[c]?.trim() || number(row[c]!) !== null));
  return {
    name: name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-'),
    caption,
    columns: head.map((label, c) => ({ label, numeric: numeric[c]! })),
    rows: body.map((row) => ({
      cells: head.map((_, c) => ({ value: numeric[c] ? number(row[c] ?? '') : (row[c] ?? ''), text: row[c] ?? '' })),
    })),
  };
}

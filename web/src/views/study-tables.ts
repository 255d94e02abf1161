/** The tables of a study. */
import type { Summary } from '../core';
import type { Interval, Maybe, Study, SubsetFinding } from '../core';
import type { ReportTable } from '../data/page';
import { digits, percent, quantityOf } from '../quantities';
import { columnOf, measured, number, numeric, words, type Cell, type Column, type TableData } from '../ui/table';

export type Convention = 'exact' | 'published';

/** What the figures show. */
export interface Chosen {
  quantity: string;
  convention: Convention;
}

/** A layer as the paper calls it. */
export const layerName = (layer: number) => `L${layer}`;

/** How many layers the models have. */
export const layersOf = (study: Study, { convention }: Chosen) =>
  Math.max(0, ...study.cells.map((one) => one[convention].length));

export const summariesOf = (study: Study, task: string, { quantity, convention }: Chosen) =>
  study.findings.summaries.filter((one) => one.task === task && one.quantity === quantity && one.convention === convention);

export function courseTable(study: Study, task: string, chosen: Chosen): TableData {
  const { quantity, convention } = chosen;
  return {
    name: `study-${task}-${quantity}`,
    caption: `${quantityOf(quantity).label}, ${task}, ${convention}: mean over seeds and its 95 % interval`,
    columns: [...numeric('heads'), { label: 'layer' }, ...numeric('mean', 'low', 'high', 'std')],
    rows: summariesOf(study, task, chosen).map((one) => ({
      cells: [
        number(one.heads),
        words(layerName(one.layer)),
        measured(quantity, one.mean.estimate),
        measured(quantity, one.mean.low),
        measured(quantity, one.mean.high),
        { value: one.std, text: one.std === null ? '' : digits(one.std, 2) },
      ],
    })),
  };
}

export const summaryAt = (layer: Record<string, unknown> | undefined, quantity: string): Summary | null => {
  const value = layer?.[quantity];
  return typeof value === 'object' && value !== null && 'mean' in value ? (value as Summary) : null;
};

export const meanOf = (summary: Summary | null) =>
  summary === null ? undefined : summary.never === summary.samples ? null : summary.mean;

export function cellsTable(study: Study, task: string, chosen: Chosen): TableData {
  const { quantity, convention } = chosen;
  const layers = [...Array(layersOf(study, chosen)).keys()];
  return {
    name: `cells-${task}-${quantity}`,
    caption: `${quantityOf(quantity).label} of every model, ${task}, ${convention}`,
    columns: numeric('heads', 'seed', ...layers.map((l) => layerName(l + 1))),
    rows: study.cells
      .filter((one) => one.task === task)
      .map((one) => ({
        cells: [
          number(one.heads),
          number(one.seed),
          ...layers.map((l) => measured(quantity, meanOf(summaryAt(one[convention][l], quantity)))),
        ],
      })),
  };
}

const interval = ({ estimate, low, high }: Interval, text: (value: number) => string) => ({
  value: estimate,
  text:
    estimate === null ? '' : low === null || high === null ? text(estimate) : `${text(estimate)} (${text(low)} to ${text(high)})`,
});

/** Where a row belongs. */
const PLACE: Column[] = [{ label: 'task' }, { label: 'convention' }];
const METHOD: Column = { label: 'p-value', about: 'exact, or by random permutations' };

export function trendsTable({ findings }: Study): TableData {
  const supported = (p: number | null) => p !== null && p < 0.05;
  return {
    name: 'trends',
    caption: 'Trends along the number of heads',
    columns: [
      { label: 'claim' },
      ...PLACE,
      { label: 'layer' },
      { label: 'verdict', about: 'supported: corrected p below 0.05' },
      { label: 'Somers’ d', numeric: true, about: 'effect, -1 to 1' },
      ...numeric('p'),
      { label: 'corrected p', numeric: true, about: 'by Holm’s method, over all trends of the convention' },
      { label: 'smallest p', numeric: true, about: 'the smallest p-value that data of this shape can have' },
      METHOD,
    ],
    rows: findings.trends.map(({ claim, task, convention, layer, test, corrected_p }) => ({
      cells: [
        ...[claim, task, convention, layerName(layer)].map(words),
        words(supported(corrected_p) ? 'supported' : 'not supported'),
        ...[test.effect, test.p, corrected_p, test.smallest_p].map(number),
        words(test.method),
      ],
      marked: supported(corrected_p),
    })),
  };
}

export function synergyTable({ findings }: Study): TableData {
  return {
    name: 'synergy',
    caption: 'Synergy: where all heads together are more faithful than the best one (95 % intervals)',
    columns: [...PLACE, ...numeric('heads'), { label: 'layer' }, ...numeric('share of sequences', 'share of seeds', 'seeds')],
    rows: findings.synergy.map((one) => ({
      cells: [
        words(one.task),
        words(one.convention),
        number(one.heads),
        words(layerName(one.layer)),
        interval(one.samples, percent),
        interval(one.seeds, percent),
        number(one.seed_count),
      ],
    })),
  };
}

export function correlationTable({ findings }: Study): TableData {
  return {
    name: 'speed-fidelity',
    caption: 'Mixing time against fidelity: rank correlations',
    columns: [...PLACE, ...numeric('points', 'Spearman’s rho', 'p'), METHOD, ...numeric('within models, over samples')],
    rows: findings.speed_fidelity.map(({ task, convention, points, test, within_models }) => ({
      cells: [
        words(task),
        words(convention),
        ...[points, test.effect, test.p].map(number),
        words(test.method),
        number(within_models),
      ],
    })),
  };
}

export function modelsTable({ cells }: Study): TableData {
  return {
    name: 'models',
    caption: 'Models',
    columns: [{ label: 'task' }, ...numeric('heads', 'seed', 'held-out accuracy', 'held-out loss'), { label: 'learned' }],
    rows: cells.map((one) => ({
      cells: [
        words(one.task),
        number(one.heads),
        number(one.seed),
        { value: one.accuracy, text: one.accuracy === null ? '' : percent(one.accuracy) },
        number(one.loss),
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
        ...numeric('heads'),
        { label: 'layer' },
        ...names.map((name) => ({ ...columnOf(name), label: name.replaceAll('_', ' ') })),
      ],
      rows: of.map((one) => ({
        cells: [
          words(one.task),
          number(one.heads),
          words(one.layer === null ? 'mean' : layerName(one.layer)),
          ...names.map((name) => number(meansOf(one)[name] ?? null)),
        ],
      })),
    };
  });
}

/** A table of the report. Its numbers sort as numbers, and every row of a group has the name of the group. */
export function reportTable({ title, rows, bold = [] }: ReportTable): TableData {
  const [head = [], ...body] = rows;
  const read = (text: string) => {
    const found = /^[-−]?[\d.]+(?:e[-−+]?\d+)?/.exec(text.trim());
    return found ? Number(found[0].replaceAll('−', '-')) : null;
  };
  const numbers = head.map((_, c) => body.length > 0 && body.every((row) => !row[c]?.trim() || read(row[c]!) !== null));
  const strong = new Set(bold.map(String));
  // Columns without a name say what the numbers of a row are of.
  const labels = head.map((label, c) => c === 0 || label === '');
  const group: string[] = [];
  return {
    name: title.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-'),
    caption: title,
    columns: head.map((label, c) => ({ label: label || 'of', numeric: numbers[c]! })),
    rows: body.map((row, r) => ({
      cells: head.map((_, c): Cell => {
        if (labels[c] && (row[c] || row[0])) group[c] = row[c] ?? '';
        const text = (labels[c] ? group[c] : row[c]) ?? '';
        return { value: numbers[c] ? read(text) : text, text, strong: strong.has(`${r},${c}`) };
      }),
    })),
  };
}

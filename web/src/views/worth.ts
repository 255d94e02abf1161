/** What heads are worth: Shapley values and pairs. */
import { bars } from '../charts/bars';
import { heatmap, type HeatCell } from '../charts/heatmap';
import type { HeadValue, LayerValue, Subsets } from '../core';
import { digits, percent } from '../quantities';
import type { Theme } from '../theme';
import { figure, type Figure } from '../ui/figure';
import { number, numeric, words, type TableData } from '../ui/table';
import { tipLine } from '../ui/tooltip';

/** What is known of the worth of heads, of one sample or over all. */
export interface Worth {
  source: string;
  /** What it is measured by. */
  value: HeadValue;
  names: readonly string[];
  all: number;
  shapley: { mean: number; error: number | null }[];
  alone: number[];
  pairs: { heads: readonly number[]; mean: number; error: number | null }[];
}

export function worthOfSubsets(subsets: Subsets, value: HeadValue, names: readonly string[], sample: string): Worth | null {
  const of = subsets.values.find((one) => one.value === value);
  if (!of) return null;
  return {
    source: `${sample}, these weights`,
    value,
    names,
    all: of.table.at(-1)!,
    shapley: of.shapley.map((mean) => ({ mean, error: null })),
    alone: names.map((_, head) => of.table[1 << head]!),
    pairs: of.pairs.map(({ heads, interaction }) => ({ heads, mean: interaction, error: null })),
  };
}

export function worthOfDocument(of: LayerValue, samples: number, names: readonly string[]): Worth {
  return {
    source: samples === 1 ? 'one sample' : `mean over ${samples} samples ± standard error`,
    value: of.value,
    names,
    all: of.all.mean ?? 0,
    shapley: of.heads.map(({ shapley }) => ({ mean: shapley.mean ?? 0, error: shapley.error })),
    alone: of.heads.map(({ alone }) => alone.mean ?? 0),
    pairs: of.pairs.map(({ heads, mean, error }) => ({ heads, mean: mean ?? 0, error })),
  };
}

/** Shapley bars and pairs. */
export function worthFigures(worth: () => Worth | null, layer: () => string): { list: Figure[]; redraw(): void } {
  const of = () => `layer ${layer()}, ${worth()?.source ?? ''}`;
  const shapley = figure({
    name: 'shapley',
    of,
    title: 'What each head adds',
    draw: (width, theme) => drawShapley(worth()!, width, theme),
    table: () => shapleyTable(worth()!),
  });
  const pairs = figure({
    name: 'pairs',
    of,
    title: 'Pairs: redundant and complementary',
    draw: (width, theme) => drawPairs(worth()!, width, theme),
    table: () => pairsTable(worth()!),
  });
  const list = [shapley, pairs];
  return {
    list,
    redraw() {
      const shown = worth();
      for (const one of list) one.element.hidden = !shown || shown.names.length < 2;
      if (!shown) return;
      shapley.caption(
        `Each bar is the Shapley value of a head: what the head adds to the heads before it, averaged over all orders (${shown.source}). The bars sum to the ${shown.value} of all heads, ${digits(shown.all)}. The tick is the head alone.`,
      );
      pairs.caption(
        `Orange: two heads together add less than each by itself. Blue: they add more. Numbers are in % of the ${shown.value} of all heads${shown.pairs.some((pair) => pair.error !== null) ? '; a dot is less than two standard errors from 0' : ''} (${shown.source}).`,
      );
      for (const one of list) one.redraw();
    },
  };
}

/** A share of the value of all heads, where there is one. */
const ofAll = ({ all }: Worth, mean: number) => (all > 0 ? [tipLine('share of all', percent(mean / all))] : []);

function drawShapley(of: Worth, width: number, theme: Theme): SVGSVGElement {
  const bar = (name: string, head: number) => {
    const { mean, error } = of.shapley[head]!;
    const other = of.alone[head]!;
    return {
      name: `head ${name}`,
      value: mean,
      error,
      other,
      label: `head ${name}: Shapley value ${digits(mean)}, alone ${digits(other)}`,
      tip: () => [tipLine('Shapley value', digits(mean)), ...ofAll(of, mean), tipLine('alone', digits(other))],
    };
  };
  const title = `Shapley value of the ${of.value}`;
  return bars({ label: `Shapley values of the ${of.value}`, title, bars: of.names.map(bar) }, width, theme);
}

const errorCell = (error: number | null) => ({ value: error, text: error === null ? '' : digits(error, 2) });

const shapleyTable = (of: Worth): TableData => ({
  name: `shapley-${of.value}`,
  caption: `Shapley values of the ${of.value}, ${of.source}`,
  columns: [{ label: 'head' }, ...numeric('Shapley', '±', 'share of all', 'alone')],
  rows: of.names.map((name, head) => {
    const { mean, error } = of.shapley[head]!;
    const share = { value: of.all ? mean / of.all : null, text: of.all ? percent(mean / of.all) : '' };
    return { cells: [words(name), number(mean), errorCell(error), share, number(of.alone[head]!)] };
  }),
});

function drawPairs(of: Worth, width: number, theme: Theme): SVGSVGElement {
  const largest = Math.max(...of.pairs.map((pair) => Math.abs(pair.mean)), 1e-300);
  const most = of.all > 0 ? `${digits((100 * largest) / of.all, 2)}%` : '';
  return heatmap(
    {
      label: `Interactions of pairs of heads, ${of.value}`,
      rows: of.names.slice(1),
      columns: of.names.slice(0, -1),
      rowTitle: 'head',
      columnTitle: 'with head',
      diverging: true,
      largest: 46,
      legend: [`redundant ${most && `−${most}`}`.trim(), `${most} complementary`.trim()],
      cell: (r, c) => pairCell(of, [c, r + 1], largest),
    },
    width,
    theme,
  );
}

/** A pair of heads, the first of which has the smaller number. */
function pairCell(of: Worth, [a, b]: readonly [number, number], largest: number): HeatCell | null {
  const pair = a < b ? of.pairs.find(({ heads }) => heads[0] === a && heads[1] === b) : undefined;
  if (!pair) return null;
  const { mean, error } = pair;
  const kind = mean < 0 ? 'redundant' : mean > 0 ? 'complementary' : 'neither';
  const clear = error === null || Math.abs(mean) > 2 * error;
  const share = of.all > 0 ? `${Math.abs(mean) < 5e-4 * of.all ? '0' : digits((100 * mean) / of.all, 2)}%` : '';
  const names = `heads ${of.names[a]} and ${of.names[b]}`;
  return {
    shade: mean / largest,
    text: clear ? share : '·',
    label: `${names}: interaction ${digits(mean)}, ${kind}`,
    tip: () => [
      tipLine(names, kind),
      tipLine('interaction', digits(mean)),
      ...ofAll(of, mean),
      ...(error === null ? [] : [tipLine('standard error', digits(error, 2))]),
    ],
  };
}

const pairsTable = (of: Worth): TableData => ({
  name: `pairs-${of.value}`,
  caption: `Shapley interaction index of pairs, ${of.value}, ${of.source}`,
  columns: [{ label: 'heads' }, ...numeric('interaction', '±')],
  rows: of.pairs.map(({ heads: [a, b], mean, error }) => ({
    cells: [words(`${of.names[a!]} ${of.names[b!]}`), number(mean), errorCell(error)],
  })),
});

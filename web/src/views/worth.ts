/** What heads are worth: Shapley values, pairs, the best sets of every size. */
import { bars } from '../charts/bars';
import { heatmap } from '../charts/heatmap';
import { lines } from '../charts/lines';
import type { HeadValue, LayerValue, Subsets } from '../core';
import { digits, percent } from '../quantities';
import { figure, type Figure } from '../ui/figure';
import { words, type TableData } from '../ui/table';
import { tipLine } from '../ui/tooltip';

/** What is known of the worth of heads, of this sample or over all. */
export interface Worth {
  source: string;
  names: readonly string[];
  all: number;
  shapley: { mean: number; error: number | null }[];
  alone: number[];
  pairs: { heads: [number, number]; mean: number; error: number | null }[];
  table: Float64Array | null;
}

export function worthOfSubsets(subsets: Subsets, value: HeadValue, names: readonly string[], sample: string): Worth | null {
  const of = subsets.values.find((one) => one.value === value);
  if (!of) return null;
  return {
    source: `${sample}, these weights`,
    names,
    all: of.table.at(-1)!,
    shapley: of.shapley.map((mean) => ({ mean, error: null })),
    alone: names.map((_, head) => of.table[1 << head]!),
    pairs: of.pairs.map(({ heads, interaction }) => ({ heads, mean: interaction, error: null })),
    table: of.table,
  };
}

export function worthOfDocument(of: LayerValue, samples: number, names: readonly string[]): Worth {
  return {
    source: samples === 1 ? 'one sample' : `mean over ${samples} samples ± standard error`,
    names,
    all: of.all.mean ?? 0,
    shapley: of.heads.map(({ shapley }) => ({ mean: shapley.mean ?? 0, error: shapley.error })),
    alone: of.heads.map(({ alone }) => alone.mean ?? 0),
    pairs: of.pairs.map(({ heads, mean, error }) => ({
      heads: [heads[0]!, heads[1]!] as [number, number],
      mean: mean ?? 0,
      error,
    })),
    table: null,
  };
}

/** Shapley bars and pairs. */
export function worthFigures(
  worth: () => Worth | null,
  value: () => HeadValue,
  layer: () => string,
): { shapley: Figure; pairs: Figure; redraw(): void } {
  const shown = () => `layer ${layer()}, ${worth()?.source ?? ''}`;
  const title = () => (value() === 'fidelity' ? 'fidelity' : 'speed');
  const shapley = figure({
    name: 'shapley',
    of: shown,
    title: 'What each head adds',
    draw: (width, theme) => {
      const of = worth()!;
      return bars(
        {
          label: `Shapley values of the ${title()}`,
          title: `Shapley value of the ${title()}`,
          bars: of.names.map((name, head) => ({
            name: `head ${name}`,
            value: of.shapley[head]!.mean,
            error: of.shapley[head]!.error,
            other: of.alone[head]!,
            label: `head ${name}: Shapley value ${digits(of.shapley[head]!.mean)}, alone ${digits(of.alone[head]!)}`,
            tip: () => [
              tipLine('Shapley value', digits(of.shapley[head]!.mean)),
              ...(of.all > 0 ? [tipLine('of all', percent(of.shapley[head]!.mean / of.all))] : []),
              tipLine('alone', digits(of.alone[head]!)),
            ],
          })),
        },
        width,
        theme,
      );
    },
    table: (): TableData => {
      const of = worth()!;
      return {
        name: `shapley-${title()}`,
        caption: `Shapley values of the ${title()}, ${of.source}`,
        columns: [
          { label: 'head' },
          { label: 'Shapley', numeric: true },
          { label: '±', numeric: true },
          { label: 'of all', numeric: true },
          { label: 'alone', numeric: true },
        ],
        rows: of.names.map((name, head) => {
          const { mean, error } = of.shapley[head]!;
          return {
            cells: [
              words(name),
              cell(mean),
              { value: error, text: error === null ? '' : digits(error, 2) },
              { value: of.all ? mean / of.all : null, text: of.all ? percent(mean / of.all) : '' },
              cell(of.alone[head]!),
            ],
          };
        }),
      };
    },
  });
  const clear = (pair: Worth['pairs'][number]) => pair.error === null || Math.abs(pair.mean) > 2 * pair.error;
  const extreme = (of: Worth, largest: number) => `${digits((100 * largest) / of.all, 2)}%`;
  const pairs = figure({
    name: 'pairs',
    of: shown,
    title: 'Pairs: redundant and complementary',
    draw: (width, theme) => {
      const of = worth()!;
      const largest = Math.max(...of.pairs.map((pair) => Math.abs(pair.mean)), 1e-300);
      const find = (a: number, b: number) =>
        of.pairs.find(({ heads }) => heads[0] === Math.min(a, b) && heads[1] === Math.max(a, b));
      return heatmap(
        {
          label: `Interactions of pairs of heads, ${title()}`,
          rows: of.names.slice(1),
          columns: of.names.slice(0, -1),
          rowTitle: 'head',
          columnTitle: 'with head',
          diverging: true,
          largest: 46,
          legend:
            of.all > 0
              ? [`redundant −${extreme(of, largest)}`, `${extreme(of, largest)} complementary`]
              : ['redundant', 'complementary'],
          cell: (r, c) => {
            const pair = c <= r ? find(r + 1, c) : undefined;
            if (!pair) return null;
            const kind = pair.mean < 0 ? 'redundant' : pair.mean > 0 ? 'complementary' : 'neither';
            return {
              shade: pair.mean / largest,
              text: clear(pair)
                ? of.all > 0
                  ? `${Math.abs(pair.mean) < 5e-4 * of.all ? '0' : digits((100 * pair.mean) / of.all, 2)}%`
                  : ''
                : '·',
              label: `heads ${of.names[c]} and ${of.names[r + 1]}: interaction ${digits(pair.mean)}, ${kind}`,
              tip: () => [
                tipLine(`heads ${of.names[c]} and ${of.names[r + 1]}`, kind),
                tipLine('interaction', digits(pair.mean)),
                ...(of.all > 0 ? [tipLine('of all', percent(pair.mean / of.all))] : []),
                ...(pair.error === null ? [] : [tipLine('standard error', digits(pair.error, 2))]),
              ],
            };
          },
        },
        width,
        theme,
      );
    },
    table: (): TableData => {
      const of = worth()!;
      return {
        name: `pairs-${title()}`,
        caption: `Shapley interaction index of pairs, ${title()}, ${of.source}`,
        columns: [{ label: 'heads' }, { label: 'interaction', numeric: true }, { label: '±', numeric: true }],
        rows: of.pairs.map(({ heads: [a, b], mean, error }) => ({
          cells: [
            words(`${of.names[a]} ${of.names[b]}`),
            cell(mean),
            { value: error, text: error === null ? '' : digits(error, 2) },
          ],
        })),
      };
    },
  });
  return {
    shapley,
    pairs,
    redraw() {
      const of = worth();
      shapley.element.hidden = !of || of.names.length < 2;
      pairs.element.hidden = !of || of.names.length < 2;
      if (!of) return;
      shapley.caption(
        `A head’s part of the ${title()} of all, ${digits(of.all)}: what it adds to those before it in a random order, on average (${of.source}). The tick is the head alone.`,
      );
      pairs.caption(
        `Orange: together they add less than each by itself. Blue: more. In % of the ${title()} of all${of.pairs.some((pair) => pair.error !== null) ? '; · is less than two standard errors from 0' : ''} (${of.source}).`,
      );
      shapley.redraw();
      pairs.redraw();
    },
  };
}

export const cell = (value: number) => ({ value, text: digits(value) });

/** What the best heads of every number are worth, over the samples of the document. */
export function pruningFigure(
  value: () => LayerValue | undefined,
  names: () => readonly string[],
  go?: (heads: readonly number[]) => void,
): Figure {
  const paths = (of: LayerValue) =>
    [
      ['greedy removal', of.pruning.greedy_removal],
      ['greedy addition', of.pruning.greedy_addition],
      ['by Shapley value', of.pruning.shapley],
    ] as const;
  const result = figure({
    name: 'pruning',
    title: 'Fewer heads',
    draw: (width, theme) => {
      const of = value()!;
      result.caption(
        `The value of the best set of every size, and of those that three usual orders keep: over ${of.pruning.samples === 1 ? 'one sample' : `${of.pruning.samples} samples`} of the data, with their weights.${go ? ' Click a number of heads to switch to its best set.' : ''}`,
      );
      return lines(
        {
          label: 'Value of the best sets of heads by their number',
          xTitle: 'heads',
          yTitle: of.value,
          height: 300,
          series: [
            ...paths(of).map(([name, path], i) => ({
              name,
              colour: theme.series[[1, 2, 3][i]!]!,
              dash: ['6 3', '2 3', '8 3 2 3'][i]!,
              width: 1.5,
              points: path.value.map((y, x) => ({ x, y })),
            })),
            {
              name: 'all heads',
              colour: theme.muted,
              dash: '5 4',
              width: 1.2,
              points: of.pruning.best.map((_, x) => ({ x, y: of.all.mean })),
            },
            {
              name: 'best',
              colour: theme.series[0]!,
              width: 2.5,
              marks: 'dots' as const,
              points: of.pruning.best.map(({ value: y }, x) => ({ x, y })),
            },
          ],
          ...(go ? { go: (count: number) => go(of.pruning.best[count]!.heads), goLabel: 'click: switch to the best set' } : {}),
        },
        width,
        theme,
      );
    },
    table: () => {
      const of = value()!;
      return {
        name: 'pruning',
        caption: 'The best heads of every number',
        columns: [
          { label: 'heads', numeric: true },
          { label: 'which' },
          { label: 'value', numeric: true },
          ...paths(of).map(([label]) => ({ label, numeric: true })),
        ],
        rows: of.pruning.best.map(({ heads, value: best }, k) => ({
          cells: [
            cell(k),
            words(heads.map((head) => names()[head] ?? head).join(' ')),
            cell(best),
            ...paths(of).map(([, path]) => cell(path.value[k] ?? NaN)),
          ],
        })),
      };
    },
  });
  return result;
}

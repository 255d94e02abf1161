/** What the best heads of every number are worth, over the samples of a document. */
import { lines, type LinesOptions } from '../charts/lines';
import type { LayerValue } from '../core';
import type { Theme } from '../theme';
import { figure, type Figure } from '../ui/figure';
import { number, numeric, words, type TableData } from '../ui/table';
import { pointsOf } from './curves';

type Go = (heads: readonly number[]) => void;

const paths = ({ pruning }: LayerValue) =>
  [
    ['greedy removal', pruning.greedy_removal],
    ['greedy addition', pruning.greedy_addition],
    ['by Shapley value', pruning.shapley],
  ] as const;

/** `go` switches to a set of heads. */
export function pruningFigure(
  value: () => LayerValue | undefined,
  names: () => readonly string[],
  go?: Go,
): Figure & { update(): void } {
  const shown = figure({
    name: 'pruning',
    title: 'Fewer heads',
    draw: (width, theme) => lines(pruningLines(value()!, theme, go), width, theme),
    table: () => pruningTable(value()!, names()),
  });
  return {
    ...shown,
    update() {
      const of = value();
      shown.element.hidden = !of;
      if (!of) return;
      const { samples } = of.pruning;
      shown.caption(
        `The value of the best set of every size, and of the sets that three usual orders keep, over ${samples === 1 ? 'one sample' : `${samples} samples`} of the data, with the weights of the data.${go ? ' Click a number of heads to switch to its best set.' : ''}`,
      );
      shown.redraw();
    },
  };
}

function pruningLines(of: LayerValue, theme: Theme, go?: Go): LinesOptions {
  const { best } = of.pruning;
  return {
    label: 'Value of the best sets of heads by their number',
    xTitle: 'heads',
    yTitle: of.value,
    height: 300,
    series: [
      ...paths(of).map(([name, path], i) => ({
        name,
        colour: theme.series[i + 1]!,
        dash: ['6 3', '2 3', '8 3 2 3'][i]!,
        width: 1.5,
        points: pointsOf(path.value),
      })),
      { name: 'all heads', colour: theme.muted, dash: '5 4', width: 1.2, points: best.map((_, x) => ({ x, y: of.all.mean })) },
      { name: 'best', colour: theme.series[0]!, width: 2.5, marks: 'dots', points: pointsOf(best.map(({ value }) => value)) },
    ],
    ...(go ? { go: (count) => go(best[count]!.heads), goLabel: 'click: switch to the best set' } : {}),
  };
}

const pruningTable = (of: LayerValue, names: readonly string[]): TableData => ({
  name: 'pruning',
  caption: 'The best heads of every number',
  columns: [...numeric('heads'), { label: 'which' }, ...numeric('value', ...paths(of).map(([label]) => label))],
  rows: of.pruning.best.map(({ heads, value }, k) => ({
    cells: [
      number(k),
      words(heads.map((head) => names[head] ?? head).join(' ')),
      number(value),
      ...paths(of).map(([, path]) => number(path.value[k] ?? null)),
    ],
  })),
});

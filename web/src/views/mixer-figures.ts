/** The figures of the mixer: every set of heads, the best sets, the fidelity of every token. */
import { lines, type LinesOptions } from '../charts/lines';
import { subsetLattice } from '../charts/subsets';
import { setName, size } from '../data/mix';
import { digits } from '../quantities';
import type { Theme } from '../theme';
import { figure, type Figure } from '../ui/figure';
import { number, numeric, words, type TableData } from '../ui/table';
import { pointsOf } from './curves';
import type { MixerModel } from './mixer-model';

/** Above so many heads a dot for every set would be too small. */
const MOST_DRAWN = 10;

/** Every set as a dot, or the best sets of every size where there are too many. */
export function setFigures(model: MixerModel): { list: Figure[]; update(): void } {
  const of = () => model.words;
  const lattice = figure({
    name: 'subsets',
    of,
    title: 'Every set of heads',
    draw: (width, theme) => subsetLattice(latticeOptions(model), width, theme),
    table: () => latticeTable(model),
  });
  const best = figure({
    name: 'best-sets',
    of,
    title: 'The best set of every size',
    draw: (width, theme) => lines(bestLines(model, theme), width, theme),
    table: () => bestTable(model),
    csv: () => latticeTable(model),
  });
  return {
    list: [lattice, best],
    update() {
      const { live, heads, value, sampleWords } = model;
      lattice.element.hidden = !live || heads.length > MOST_DRAWN;
      best.element.hidden = !live || heads.length <= MOST_DRAWN;
      if (!live) return;
      const top = live.best.reduce((a, b) => (b.value > a.value ? b : a));
      lattice.caption(
        `Each dot is a set of heads (${sampleWords}); its position shows its ${value}. Heads have the weights of the sliders; a head that is off has its weight from the data. Orange dots are the best sets of their size. The blue dot is the set that is on; lines lead to its neighbours. Click a dot to switch to its set.`,
      );
      best.caption(
        `The largest ${value} of a set with that number of heads (${sampleWords}), with the weights of the sliders. The best of all ${2 ** heads.length - 1} sets: ${setName(top.subset, heads)}, ${digits(top.value)}.`,
      );
      (lattice.element.hidden ? best : lattice).redraw();
    },
  };
}

const latticeOptions = (model: MixerModel) => ({
  label: 'Sets of heads by their number and value',
  valueTitle: model.value,
  names: model.heads,
  table: model.live!.table,
  current: model.current,
  go: (set: number) => model.switchTo(set),
});

const latticeTable = ({ value, live, heads, current }: MixerModel): TableData => ({
  name: 'subsets',
  caption: `The ${value} of every set of heads`,
  columns: [{ label: 'heads' }, ...numeric('number', 'value')],
  rows: Array.from(live!.table, (of, set) => ({
    cells: [words(setName(set, heads)), number(size(set)), number(of)],
    marked: set === current,
  })).slice(1),
});

function bestLines(model: MixerModel, theme: Theme): LinesOptions {
  const { best } = model.live!;
  const points = pointsOf(best.map(({ value }) => value));
  return {
    label: 'Value of the best sets of heads by their number',
    xTitle: 'heads',
    yTitle: model.value,
    height: 300,
    series: [{ name: 'best set', colour: theme.series[0]!, width: 2.5, marks: 'dots', points }],
    go: (count) => model.switchTo(best[count]!.subset),
    goLabel: 'click: switch to this set',
  };
}

const bestTable = ({ value, live, heads }: MixerModel): TableData => ({
  name: `best-sets-${value}`,
  caption: `The set of every size with the largest ${value}`,
  columns: [...numeric('number'), { label: 'heads' }, ...numeric(value)],
  rows: live!.best.map((one, k) => ({ cells: [number(k), words(setName(one.subset, heads)), number(one.value)] })),
});

/** The fidelity of every token with the mix, beside that with the weights of the data. */
export const tokenFigure = (model: MixerModel): Figure =>
  figure({
    name: 'node-fidelity',
    of: () => model.words,
    title: 'Fidelity of every token',
    caption: 'What each token delivers to the last one with these weights; grey: with the weights of the data.',
    draw: (width, theme) => lines(tokenLines(model, theme), width, theme),
    table: () => tokenTable(model),
  });

function tokenLines(model: MixerModel, theme: Theme): LinesOptions {
  const { weakest, tokenName, isMean } = model;
  const { node_fidelity } = model.mix!.combined;
  const reference = model.opened!.reference;
  const points = (list: readonly number[]) => pointsOf(list.slice(0, -1));
  return {
    label: 'Fidelity of every token',
    xTitle: 'token',
    yTitle: 'fidelity',
    logarithmic: true,
    height: 230,
    xFormat: tokenName,
    series: [
      ...(reference
        ? [{ name: 'weights of the data', colour: theme.muted, width: 1, points: points(reference.combined.node_fidelity) }]
        : []),
      { name: 'this mix', colour: theme.series[0]!, width: 1.8, points: points(node_fidelity) },
    ],
    notes:
      weakest < 0
        ? []
        : [
            {
              x: weakest,
              y: node_fidelity[weakest]!,
              label: `${isMean ? 'lowest mean' : 'weakest'}: ${tokenName(weakest)}`,
              side: 'below',
            },
          ],
  };
}

function tokenTable({ mix, tokenName }: MixerModel): TableData {
  const { node_fidelity, node_fidelity_upper } = mix!.combined;
  return {
    name: 'tokens',
    caption: 'Fidelity of every token with these weights',
    columns: [{ label: 'token' }, ...numeric('fidelity', 'at most')],
    rows: node_fidelity.map((value, j) => ({
      cells: [words(tokenName(j)), number(value), number(node_fidelity_upper[j]!)],
    })),
  };
}

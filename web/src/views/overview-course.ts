/** A quantity layer by layer: the figure and its numbers. */
import { lines, type LinesOptions, type Series } from '../charts/lines';
import { shortNames } from '../charts/text';
import type { Spread } from '../data/layers';
import { comparable, printed } from '../data/published';
import { format } from '../quantities';
import type { Theme } from '../theme';
import { figure, type Figure } from '../ui/figure';
import { numeric, words, type TableData } from '../ui/table';
import type { Context } from '../view';
import { deeper, sentence, spreadCell, type Shown } from './overview-map';

type Get = (layer: number) => Spread | null;

export function courseFigure(context: Context, now: () => Shown): Figure & { update(): void } {
  const made = figure({
    name: 'layers',
    title: '',
    draw: (width, theme) => lines(courseLines(now(), context, theme), width, theme),
    table: () => courseTable(now()),
  });
  return {
    ...made,
    update() {
      const { measure, convention } = now();
      const elsewhere =
        !comparable(measure.id, convention) && context.session.published.some((one) => one.quantity === measure.id);
      made.element.hidden = !measure.ofLayers;
      made.title(`${measure.whole ?? measure.label}, layer by layer`);
      made.caption(
        `${spreadWords(now())}${elsewhere ? ' The paper’s times use the published convention (--convention both).' : ''}`,
      );
      made.redraw();
    },
  };
}

function spreadWords({ table, measure }: Shown): string {
  const first = measure.get(0, 'all');
  if (!first || first.samples < 2) return sentence(measure.quantity.about);
  if (first.isError) return `Mean over ${first.samples} samples, ± its standard error.`;
  const same = new Set(table.layers.map((l) => l.samples)).size === 1;
  return `Mean over ${same ? `${first.samples} samples` : 'the samples'}. Dark band: one standard deviation; light band: least to largest sample. Small dots: each head alone.`;
}

/** All heads together, with the spread over samples. */
function togetherSeries({ measure }: Shown, all: (Spread | null)[], theme: Theme): Series {
  const floor = measure.quantity.kind === 'change' ? -Infinity : 0;
  const several = all.some((spread) => (spread?.samples ?? 0) > 1);
  const band = all.flatMap((of, x) =>
    of && of.mean !== null && of.spread !== null
      ? [{ x, low: Math.max(floor, of.mean - of.spread, of.min ?? -Infinity), high: of.mean + of.spread }]
      : [],
  );
  const outer = all.flatMap((of, x) => (of ? [{ x, low: of.min ?? null, high: of.max ?? null }] : []));
  return {
    name: 'all heads together',
    colour: theme.series[0]!,
    points: means(all),
    marks: 'dots',
    width: 2.5,
    ...(several ? { band } : {}),
    ...(several && all[0]?.min !== undefined ? { outer } : {}),
  };
}

const means = (spreads: (Spread | null)[]) => spreads.flatMap((of, x) => (of ? [{ x, y: of.mean }] : []));

/** What is drawn beside all heads together. */
function otherSeries(shown: Shown, { session }: Context, all: (Spread | null)[], theme: Theme): Series[] {
  const { table, measure, convention } = shown;
  const over = (get: Get) => means(table.layers.map((_, l) => get(l)));
  const single = { line: false, faint: true, marks: 'dots', opacity: 0.55, colour: theme.muted } as const;
  const diamonds = { line: false, marks: 'diamonds' } as const;
  const uppers = all.flatMap((of, x) => (of?.upper === undefined ? [] : [{ x, y: of.upper }]));
  const best =
    measure.id === 'minimax_fidelity' && table.headNames.length > 1
      ? table.measures.find((one) => one.id === 'best_head_fidelity')
      : undefined;
  const { analyze, published } = session;
  const model = { task: analyze?.task?.name, heads: analyze?.model?.heads };
  const paper = printed(published, { ...model, quantity: measure.id, convention });
  const points = paper.map((one) => ({ x: one.layer - 1, y: one.mean }));
  const heads = measure.ofHeads && measure.quantity.kind !== 'change' ? table.headNames : [];
  const colour = theme.series[1]!;
  const list: Series[] = [
    { ...diamonds, name: 'at most, where not certified', colour: theme.warm, points: uppers },
    {
      name: 'best head of each sample',
      colour,
      dash: '6 4',
      marks: 'dots',
      points: best ? over((l) => best.get(l, 'all')) : [],
    },
    ...heads.map((name, head) => ({ ...single, name: `head ${name}`, points: over((l) => measure.get(l, head)) })),
    { ...diamonds, name: 'the paper', colour, points },
  ];
  return list.filter((one) => one.points.length > 0);
}

function courseLines(shown: Shown, context: Context, theme: Theme): LinesOptions {
  const { table, measure } = shown;
  const { quantity } = measure;
  const all = table.layers.map((_, l) => measure.get(l, 'all'));
  const short = measure.whole ? measure.id.split('/')[0]! : quantity.short;
  return {
    label: `${measure.whole ?? measure.label} along the layers`,
    xTitle: 'layer',
    yTitle: quantity.kind === 'steps' ? `${quantity.short}, steps` : short,
    xNames: shortNames(table.layers.map((layer) => layer.name)),
    series: [togetherSeries(shown, all, theme), ...otherSeries(shown, context, all, theme)],
    logarithmic: quantity.logarithmic,
    height: 320,
    yFormat: (v) => format(quantity, v),
    levels: measure.id === 'synergy' ? [{ y: 1, label: 'above: together better than the best head' }] : [],
    go: (x) => deeper(context, x, 'all').go?.(),
  };
}

function courseTable({ table, measure }: Shown): TableData {
  const { quantity } = measure;
  const fields = ['spread', 'min', 'median', 'max'] as const;
  const all = table.layers.map((_, l) => measure.get(l, 'all'));
  const withUpper = all.some((of) => of?.upper !== undefined);
  const field = (of: Spread | null, name: (typeof fields)[number]) => {
    const never = of?.[name] === null && name !== 'spread' && quantity.kind === 'steps';
    return { value: never ? Infinity : (of?.[name] ?? null), text: of ? format(quantity, of[name]) : '' };
  };
  const upper = (of: Spread | null) => {
    const value = of?.upper ?? of?.mean ?? null;
    return { value, text: of ? format(quantity, value) : '' };
  };
  const count = (value: number) => ({ value, text: String(value) });
  return {
    name: `layers-${measure.id.replace('/', '-')}`,
    caption: measure.whole ?? `${measure.label} of all heads together, over samples`,
    columns: [
      { label: 'layer' },
      ...numeric('mean', '±', 'min', 'median', 'max', ...(withUpper ? ['mean, at most'] : []), 'never', 'samples'),
    ],
    rows: table.layers.map((layer, l) => {
      const of = all[l]!;
      return {
        cells: [
          words(layer.name),
          spreadCell(quantity, of),
          ...fields.map((name) => field(of, name)),
          ...(withUpper ? [upper(of)] : []),
          count(of?.never ?? 0),
          count(layer.samples),
        ],
      };
    }),
  };
}

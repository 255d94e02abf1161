/** The curves of the Layer view: survival of walks, signals, the fidelity of every token. */
import { lines, type LinesOptions, type Series } from '../charts/lines';
import type { Metrics } from '../core';
import { fidelityText, interval } from '../data/intervals';
import { digits } from '../quantities';
import type { Theme } from '../theme';
import { figure, type Figure } from '../ui/figure';
import { number, numeric, words, type TableData } from '../ui/table';
import { pointsOf, stepsTable, survivalAxes } from './curves';
import { shownHead, type ShownLayer } from './layer-model';
import { fidelityWords } from './layer-words';

/** Lines of single heads or tokens that a figure has at most. */
const MOST_HEADS = 64;
const MOST_TOKENS = 160;
/** Tokens up to which each has a dot. */
const MOST_DOTS = 140;

export interface LayerFigures {
  survival: Figure;
  signal: Figure;
  fidelity: Figure;
  /** Hides them where nothing is measured. */
  update(shown: ShownLayer | null): void;
}

/** `get` gives what is measured, while the figures are shown. `of` says in words what that is. */
export function layerFigures(get: () => ShownLayer, of: () => string): LayerFigures {
  const make = (name: string, title: string, draw: (shown: ShownLayer, theme: Theme) => LinesOptions, table: () => TableData) =>
    figure({ name, of, title, draw: (width, theme) => lines(draw(get(), theme), width, theme), table });
  const survival = make('survival', 'Survival of a random walk', survivalLines, () => survivalTable(get()));
  const signal = make('signals', 'Signals at the last token', signalLines, () => signalTable(get()));
  const fidelity = make('node-fidelity', 'Fidelity of every token', fidelityLines, () => fidelityTable(get()));
  const all = [survival, signal, fidelity];
  return {
    survival,
    signal,
    fidelity,
    update(shown) {
      for (const one of all) one.element.hidden = !shown;
      if (!shown) return;
      survival.caption(survivalWords(shown));
      signal.caption(
        'The signal of each token at the last one after t steps of diffusion; early tokens are faint, late ones strong. The bold line is the weakest peak so far: it ends at the minimax fidelity. Lines end where little is left.',
      );
      fidelity.caption(fidelityWords(shown.now));
      for (const one of all) one.redraw();
    },
  };
}

function survivalWords({ now }: ShownLayer): string {
  const others = now.head === 'all' ? 'each head alone' : 'the other heads, and all together';
  const grey = now.info.heads.length > 1 ? ` Grey: ${others}.` : '';
  return `The chance that a walk from the slowest token has not reached the last one after t steps (${shownHead(now)}). The mixing time is the step where it falls to ε.${grey}`;
}

function survivalLines(shown: ShownLayer, theme: Theme): LinesOptions {
  const { survival, meanSurvival } = shown.series;
  const others = shown.measured.curves.series.filter((one) => one !== shown.series).slice(0, MOST_HEADS);
  return {
    ...survivalAxes(shown.document, shown.of, theme),
    label: 'Survival curves',
    height: 290,
    series: [
      ...others.map((one) => ({
        name: one.name,
        colour: theme.muted,
        points: pointsOf(one.survival),
        faint: true,
        width: 1,
        opacity: 0.3,
      })),
      { name: 'mean over tokens', colour: theme.series[5]!, points: pointsOf(meanSurvival), dash: '5 4' },
      { name: 'slowest token', colour: theme.series[0]!, points: pointsOf(survival), width: 2.5 },
    ],
  };
}

const survivalTable = ({ series: { survival, meanSurvival } }: ShownLayer) =>
  stepsTable('survival', 'Chance not to have arrived after so many steps', ['slowest', 'mean'], survival.length, (t) => [
    survival[t]!,
    meanSurvival[t]!,
  ]);

function signalLines(shown: ShownLayer, theme: Theme): LinesOptions {
  const { nodes, steps } = shown.measured.curves;
  const { signal, minimax } = shown.series;
  const { time, value } = shown.of.minimax_fidelity;
  const { weakest, tokenName } = shown;
  // What is below the floor is left out: it would press everything else together.
  const floor = Math.max(1e-300, value / 300, value > 0 ? 0 : 1e-9);
  const points = (at: (step: number) => number) =>
    Array.from({ length: steps }, (_, t) => ({ x: t + 1, y: at(t + 1) })).filter(({ y }) => y > floor);
  const ofToken = (token: number) => points((t) => signal[t * nodes + token]!);
  const every = Math.ceil((nodes - 1) / MOST_TOKENS);
  const tokens = [...Array(nodes - 1).keys()].filter((token) => token % every === 0);
  const faint = tokens.map((token): Series => ({
    name: tokenName(token),
    colour: theme.ramp(0.22 + (0.7 * token) / Math.max(1, nodes - 2)),
    faint: true,
    width: 1,
    opacity: 0.7,
    points: ofToken(token),
  }));
  return {
    label: 'Signals of the tokens at the last one',
    xTitle: 'step t',
    yTitle: 'signal at the last token',
    logarithmic: true,
    height: 360,
    series: [
      ...faint,
      {
        name: `${shown.isMean ? 'lowest mean fidelity' : 'weakest token'}: ${tokenName(weakest)}`,
        colour: theme.warm,
        width: 1.8,
        dash: '5 3',
        points: ofToken(weakest),
      },
      { name: 'minimax so far', colour: theme.ink, width: 2.8, points: points((t) => minimax[t]!) },
    ],
    notes:
      time !== null && time > 0 && time <= steps
        ? [{ x: time, y: value, label: `${fidelityText(shown.of)} at step ${digits(time)}`, side: 'above' }]
        : [],
  };
}

function signalTable({ measured, series, tokenName }: ShownLayer): TableData {
  const { nodes, steps } = measured.curves;
  const names = Array.from({ length: nodes - 1 }, (_, token) => tokenName(token));
  const caption = 'Signal of each token at the last one, and the weakest peak so far';
  return stepsTable('signals', caption, ['minimax', ...names], steps + 1, (t) => [
    series.minimax[t]!,
    ...series.signal.subarray(t * nodes, (t + 1) * nodes - 1),
  ]);
}

function fidelityLines(shown: ShownLayer, theme: Theme): LinesOptions {
  const { of, weakest, tokenName, now } = shown;
  const points = (metrics: Metrics) => pointsOf(metrics.node_fidelity.slice(0, -1));
  const uppers = of.node_fidelity_upper.slice(0, -1).flatMap((y, x) => (y > of.node_fidelity[x]! * (1 + 1e-9) ? [{ x, y }] : []));
  const series: Series[] = [];
  if (uppers.length > 0)
    series.push({
      name: 'at most, where not certified',
      colour: theme.warm,
      line: false,
      marks: 'diamonds',
      points: uppers,
    });
  if (now.head !== 'all' && shown.document.heads.length > 1)
    series.push({ name: 'all heads together', colour: theme.muted, points: points(shown.document.combined), width: 1.2 });
  const marks = of.node_fidelity.length - 1 <= MOST_DOTS ? 'dots' : 'none';
  series.push({ name: shownHead(now), colour: theme.series[0]!, points: points(of), width: 1.6, marks });
  const label = `${shown.isMean ? 'lowest mean' : 'weakest'}: ${tokenName(weakest)}`;
  return {
    label: 'Fidelity of every token',
    xTitle: 'token',
    yTitle: 'fidelity',
    logarithmic: true,
    height: 250,
    xFormat: tokenName,
    series,
    notes: [{ x: weakest, y: of.node_fidelity[weakest]!, label, side: 'below' }],
  };
}

/** A step in words; null: no step, which `word` says. */
const step = (value: number | null | undefined, word: string) => ({
  value: value ?? Infinity,
  text: value == null ? word : digits(value),
});

const fidelityTable = ({ of, weakest, tokenName }: ShownLayer): TableData => ({
  name: 'tokens',
  caption: 'Every token on its own',
  columns: [{ label: 'token' }, ...numeric('fidelity', 'at most', 'at step', 'hitting time')],
  rows: of.node_fidelity.map((value, j) => {
    const upper = of.node_fidelity_upper[j]!;
    return {
      cells: [
        words(tokenName(j)),
        number(value),
        { value: upper, text: interval(upper, upper) },
        step(of.optimal_time[j], 'limit'),
        step(of.hitting_time.node[j], 'never'),
      ],
      marked: j === weakest,
    };
  }),
});

/** Curves over steps, as the views of graphs and layers draw them. */
import type { LinesOptions } from '../charts/lines';
import type { Metrics, SystemDocument } from '../core';
import { digits } from '../quantities';
import type { Theme } from '../theme';
import { number, numeric, type TableData } from '../ui/table';

/** A figure of survival but for its lines: the axes, ε and the mixing time. */
export function survivalAxes({ settings }: SystemDocument, of: Metrics, theme: Theme): Omit<LinesOptions, 'label' | 'series'> {
  const eps = settings.eps[0] ?? 0.25;
  const time = of.mixing_time[0]?.steps ?? null;
  return {
    xTitle: 'step t',
    yTitle: 'chance not to have arrived',
    yDomain: [0, 1],
    levels: [{ y: eps, label: `ε = ${digits(eps)}` }],
    moments: time === null ? [] : [{ x: time, label: `T_mix = ${digits(time)}`, colour: theme.warm }],
  };
}

export const pointsOf = (values: ArrayLike<number>) => Array.from(values, (y, x) => ({ x, y }));

/** Numbers step by step: `row(t)` are those of a step, by column. */
export const stepsTable = (
  name: string,
  caption: string,
  columns: readonly string[],
  steps: number,
  row: (step: number) => ArrayLike<number>,
): TableData => ({
  name,
  caption,
  columns: numeric('step', ...columns),
  rows: Array.from({ length: steps }, (_, t) => ({ cells: [number(t), ...Array.from(row(t), number)] })),
});

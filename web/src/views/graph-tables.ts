/** A graph and what is measured of it, as tables and in words. */
import type { Metrics, ParsedGraph, SystemDocument } from '../core';
import { backwardNumbers } from '../data/backward';
import { fidelityText, interval, synergyText } from '../data/intervals';
import { digits, percent } from '../quantities';
import { columnOf, measured, words, type TableData } from '../ui/table';

export function edgeTable({ nodes, heads }: ParsedGraph): TableData {
  return {
    name: 'edges',
    caption: 'Edges',
    columns: [{ label: 'head' }, { label: 'from' }, { label: 'to' }, { label: 'weight', numeric: true }],
    rows: heads.flatMap((head) =>
      head.edges.map(({ from, to, weight }) => ({
        cells: [words(head.name), words(nodes[from]!), words(nodes[to]!), { value: weight, text: digits(weight) }],
      })),
    ),
  };
}

/** The quantities that are measured of a graph, in the order of the table. */
export const measuredQuantities = ({ settings, combined }: SystemDocument): string[] => [
  'weight',
  'forward_probability',
  ...settings.eps.map((e) => `mixing_time_${e}`),
  'hitting_mean',
  'hitting_max',
  'truncated_hitting_mean',
  ...backwardNumbers(combined).map(([id]) => id),
  'minimax_fidelity',
];

export function measuredTable(document: SystemDocument): TableData {
  const row = (name: string, weight: number, of: Metrics) => ({
    cells: [
      words(name),
      measured('weight', weight),
      measured('forward_probability', of.forward_probability),
      ...of.mixing_time.map(({ eps: e, steps }) => measured(`mixing_time_${e}`, steps)),
      measured('hitting_mean', of.hitting_time.mean),
      measured('hitting_max', of.hitting_time.max),
      measured('truncated_hitting_mean', of.truncated_hitting_time.mean),
      ...backwardNumbers(of).map(([id, value]) => measured(id, value)),
      { value: of.minimax_fidelity.value, text: fidelityText(of) },
      words(of.minimax_fidelity.node),
      {
        value: of.minimax_fidelity.time ?? Infinity,
        text: of.minimax_fidelity.time === null ? 'limit' : digits(of.minimax_fidelity.time),
      },
    ],
  });
  return {
    name: 'graph',
    caption: 'Each head alone, and all together',
    columns: [
      { label: 'head' },
      ...measuredQuantities(document).map(columnOf),
      { label: 'node' },
      { label: 'at step', numeric: true },
    ],
    rows: [
      ...document.heads.map((head) => row(head.name, head.weight, head)),
      ...(document.heads.length > 1 ? [{ ...row('combined', 1, document.combined), marked: true }] : []),
    ],
  };
}

/** What the numbers say, in a sentence or two. */
export function inWords(document: SystemDocument): string {
  const { combined, heads } = document;
  const time = combined.mixing_time[0]?.steps ?? null;
  const speed =
    time === null
      ? 'Some walks never reach the sink.'
      : `A walk from any node reaches the sink within ${digits(time)} steps, except with probability ${digits(combined.mixing_time[0]!.eps)}.`;
  const faith = ` The weakest node, ${combined.minimax_fidelity.node}, delivers at most ${combined.minimax_fidelity.certified ? percent(combined.minimax_fidelity.value) : `${interval(100 * combined.minimax_fidelity.value, 100 * combined.minimax_fidelity.upper)} %`} of its signal.`;
  if (heads.length < 2) return speed + faith;
  const alone =
    heads.every((head) => (head.mixing_time[0]?.steps ?? null) === null) && time !== null
      ? ' With one head alone, some walks never arrive.'
      : '';
  const synergy =
    document.synergy === null
      ? document.synergy_present
        ? ' Together they deliver what no head alone does: synergy.'
        : document.synergy_present === null
          ? ` Whether the heads together beat the best head is undecided: they deliver ${synergyText(document)} times its fidelity.`
          : ' Neither a head alone nor all heads together deliver more: no synergy.'
      : document.synergy > 1
        ? ` That is ${digits(document.synergy)} times the fidelity of the best head alone: synergy.`
        : ` The best head alone, ${document.best_head}, delivers ${percent(document.best_head_fidelity)}: no synergy.`;
  return speed + alone + faith + synergy;
}

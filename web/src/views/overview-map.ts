/** The map of layers and heads. */
import { heatmap, type HeatCell } from '../charts/heatmap';
import { valueScale } from '../charts/scale';
import { shortNames } from '../charts/text';
import { spreadText, type LayerTable, type Measure, type Spread } from '../data/layers';
import { h } from '../dom';
import { format, type Quantity } from '../quantities';
import type { Theme } from '../theme';
import { figure, type Figure } from '../ui/figure';
import { numeric, words, type TableData } from '../ui/table';
import { tipLine } from '../ui/tooltip';
import type { Context } from '../view';

export interface Shown {
  table: LayerTable;
  measure: Measure;
  convention: 'exact' | 'published';
  /** What the colours span. */
  scale: 'all' | 'layer';
}

export const sentence = (text: string) => (text ? `${text[0]!.toUpperCase()}${text.slice(1)}.` : '');

export function mapFigure(context: Context, now: () => Shown): Figure & { update(): void } {
  const made = figure({
    name: 'layers-heads',
    title: '',
    draw: (width, theme) => drawMap(now(), context, width, theme),
    table: () => mapTable(now()),
  });
  return {
    ...made,
    update() {
      const { measure } = now();
      made.element.hidden = !measure.ofHeads;
      made.title(`${measure.label}, layers × heads`);
      made.caption(mapWords(now()));
      made.redraw();
    },
  };
}

function mapWords(shown: Shown): string {
  const { measure, convention, scale } = shown;
  const { about, better } = measure.quantity;
  const together = measure.ofLayers && !measure.id.endsWith('shapley') ? ', and all heads together where they beat it' : '';
  const none = uncertain(shown) ? '; none where intervals leave it open' : '';
  return [
    sentence(about),
    better && `A dot marks the head of a layer whose mean is ${better === 'high' ? 'largest' : 'smallest'}${together}${none}.`,
    scale === 'layer' && 'Each layer has its own colours: compare heads within a row.',
    measure.convention && measure.convention !== convention && `Measured by the ${measure.convention} convention.`,
  ]
    .filter(Boolean)
    .join(' ');
}

/** Whether some fidelities are intervals. */
const uncertain = ({ table, measure }: Shown) =>
  table.layers.some((layer, l) =>
    [...Array(layer.heads).keys(), 'all' as const].some((head) => measure.get(l, head)?.upper !== undefined),
  );

/** The best of a layer's heads, and whether all together beat it. */
function best({ table, measure }: Shown, layer: number): { head: number | null; all: boolean } {
  const { better } = measure.quantity;
  if (!better || table.layers[layer]!.heads < 2) return { head: null, all: false };
  const value = (spread: Spread | null) =>
    spread === null ? null : (spread.mean ?? (measure.quantity.kind === 'steps' ? Infinity : null));
  const beats = (a: number | null, b: number | null) => a !== null && (b === null || (better === 'high' ? a > b : a < b));
  let head: number | null = null;
  for (let h = 0; h < table.layers[layer]!.heads; ++h)
    if (beats(value(measure.get(layer, h)), head === null ? null : value(measure.get(layer, head)))) head = h;
  const all = measure.id.endsWith('shapley') ? null : measure.get(layer, 'all');
  if (head !== null) {
    const { mean, upper } = measure.get(layer, head)!;
    const rivals = [...Array(table.layers[layer]!.heads).keys()].filter((h) => h !== head).map((h) => measure.get(layer, h));
    if (rivals.some((rival) => rival?.upper !== undefined && rival.upper > (mean ?? 0))) return { head: null, all: false };
    if (upper !== undefined) return { head, all: (all?.mean ?? 0) > upper };
  }
  return { head, all: head !== null && all !== null && beats(value(all), value(measure.get(layer, head))) };
}

function spreadTip(measure: Measure, spread: Spread): HTMLElement[] {
  const { quantity } = measure;
  const of = (value: number | null | undefined) => format(quantity, value);
  return [
    tipLine(quantity.label, spreadText(quantity, spread, 4, true)),
    ...(spread.median !== undefined && spread.samples > 1
      ? [tipLine('median', of(spread.median)), tipLine('least, largest', `${of(spread.min)}, ${of(spread.max)}`)]
      : []),
    ...(spread.never > 0
      ? [tipLine(quantity.kind === 'steps' ? 'never' : 'infinite', `${spread.never} of ${spread.samples} samples`)]
      : []),
    ...(spread.undecided ? [tipLine('undecided', `${spread.undecided} of ${spread.samples} samples`)] : []),
  ];
}

/** The way to a layer, where there is more to see of it. */
export function deeper({ session, store }: Context, layer: number, head: number | 'all'): { go?: () => void } {
  if (session.attention?.layers.some(({ index }) => index === layer))
    return { go: () => store.set({ view: 'layer', layer, head }) };
  return session.heads ? { go: () => store.set({ view: 'mixer', layer, head }) } : {};
}

/** Colours for the numbers of a map, and what their ends are. */
interface Colours {
  diverging: boolean;
  /** null: the number has no place among the colours. */
  shade(layer: number, head: number | 'all', spread: Spread): number | null;
  legend: string[];
}

/** The short form of a head's name: ` (L3H7)`. Names that are not numbers have none. */
function shortForm({ layers, headNames }: LayerTable, layer: number, head: number | 'all'): string {
  const [l, of] = [layers[layer]!.name, head === 'all' ? '' : headNames[head]!];
  return /^\d+$/.test(l) && /^\d+$/.test(of) ? ` (L${l}H${of})` : '';
}

/** The least and the largest, in words. */
const ends = (quantity: Quantity, values: (number | null)[]) => {
  const of = (value: number) => format(quantity, Number.isFinite(value) ? value : null, 2);
  return [of(Math.min(...values.map((v) => v ?? Infinity))), of(Math.max(...values.map((v) => v ?? Infinity)))];
};

/** One scale for these layers. */
function coloursOver({ table, measure }: Shown, layers: number[], diverging: boolean): Colours {
  const { quantity } = measure;
  const spreads = layers.flatMap((l) => table.headNames.map((_, c) => measure.get(l, c))).filter((x) => x !== null);
  const largest = Math.max(...spreads.map((x) => Math.abs(x.mean ?? 0)), 1e-300);
  if (diverging)
    return {
      diverging,
      shade: (_, head, x) => (head === 'all' ? null : (x.mean ?? 0) / largest),
      legend: [format(quantity, -largest, 2), '0', format(quantity, largest, 2)],
    };
  const whole =
    measure.ofLayers && quantity.kind !== 'change'
      ? layers.map((l) => measure.get(l, 'all')).flatMap((x) => (x ? [x.mean] : []))
      : [];
  const values = [...spreads.map((x) => x.mean), ...whole];
  const { place } = valueScale(values, quantity.logarithmic, 0, 1000);
  // The colours end where the numbers do, as their key says.
  const places = values.map(place);
  const [low, high] = [Math.min(...places), Math.max(...places)];
  const share = (value: number | null) => (high > low ? (place(value) - low) / (high - low) : 0.5);
  return {
    diverging,
    shade: (_, head, x) => (head === 'all' && quantity.kind === 'change' ? null : 0.06 + 0.94 * share(x.mean)),
    legend: ends(quantity, values),
  };
}

/** The colours of the map: one scale over all layers, or one a layer. */
function mapColours(shown: Shown): Colours {
  const { table, measure, scale } = shown;
  const layers = [...table.layers.keys()];
  const diverging =
    measure.quantity.kind === 'change' && layers.some((l) => table.headNames.some((_, c) => (measure.get(l, c)?.mean ?? 0) < 0));
  if (scale === 'all') return coloursOver(shown, layers, diverging);
  const each = layers.map((l) => coloursOver(shown, [l], diverging));
  return {
    diverging,
    shade: (layer, head, spread) => each[layer]!.shade(layer, head, spread),
    legend: diverging ? ['− layer’s largest', '0', '+ layer’s largest'] : ['layer’s least', 'layer’s largest'],
  };
}

function drawMap(shown: Shown, context: Context, width: number, theme: Theme): SVGSVGElement {
  const { table, measure } = shown;
  const { quantity } = measure;
  const most = table.headNames.length;
  const colours = mapColours(shown);
  const marks = table.layers.map((_, l) => best(shown, l));
  const cell = (l: number, c: number): HeatCell | null => {
    const head = c === most ? ('all' as const) : c;
    const value = measure.get(l, head);
    if (!value) return null;
    const name = head === 'all' ? 'all heads together' : `head ${table.headNames[head]}`;
    const isBest = head === 'all' ? marks[l]!.all : marks[l]!.head === head;
    return {
      shade: colours.shade(l, head, value),
      text: spreadText(quantity, value, 2),
      label: `layer ${table.layers[l]!.name}, ${name}: ${spreadText(quantity, value, 4, true)}${isBest ? ', best' : ''}`,
      marked: isBest,
      tip: () => [
        h('div', { class: 'tip-line' }, h('b', {}, `Layer ${table.layers[l]!.name}, ${name}${shortForm(table, l, head)}`)),
        ...spreadTip(measure, value),
      ],
      ...deeper(context, l, head),
    };
  };
  return heatmap(
    {
      label: `${measure.label} of each head in each layer`,
      rows: shortNames(table.layers.map((layer) => layer.name)),
      columns: [...table.headNames, ...(measure.ofLayers ? ['all'] : [])],
      rowTitle: 'layer',
      columnTitle: 'head',
      diverging: colours.diverging,
      ...(measure.ofLayers ? { gapBefore: most } : {}),
      legend: colours.legend,
      cell,
    },
    width,
    theme,
  );
}

/** A number as a cell of a table; an infinite time is one that never comes. */
export const spreadCell = (quantity: Quantity, of: Spread | null, nothing = '') => ({
  value: of === null ? null : (of.mean ?? (quantity.kind === 'steps' || isInfinite(of) ? Infinity : null)),
  text: of ? spreadText(quantity, of) : nothing,
});

const isInfinite = (of: Spread) => of.samples > 0 && of.never === of.samples;

function mapTable({ table, measure }: Shown): TableData {
  return {
    name: `layers-heads-${measure.id.replace('/', '-')}`,
    caption: `${measure.label}: mean over samples`,
    columns: [
      { label: 'layer' },
      ...numeric(...table.headNames.map((name) => `head ${name}`), ...(measure.ofLayers ? ['all'] : [])),
    ],
    rows: table.layers.map((layer, l) => ({
      cells: [
        words(layer.name),
        ...[...table.headNames.keys(), ...(measure.ofLayers ? (['all'] as const) : [])].map((head) =>
          spreadCell(measure.quantity, measure.get(l, head)),
        ),
      ],
    })),
  };
}

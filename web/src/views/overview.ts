import { heatmap, type HeatCell } from '../charts/heatmap';
import { lines, type Series } from '../charts/lines';
import { valueScale } from '../charts/scale';
import { layerTable, spreadText, type LayerTable, type Measure, type Spread } from '../data/layers';
import { comparable, printed } from '../data/published';
import { fill, h } from '../dom';
import { format, type Quantity } from '../quantities';
import type { State } from '../state';
import type { Theme } from '../theme';
import { choose } from '../ui/controls';
import { figure } from '../ui/figure';
import { columnOf, csvButton, table, words, type TableData } from '../ui/table';
import { saveFile } from '../ui/save';
import { tipLine } from '../ui/tooltip';
import type { Context, View } from '../view';
import { conventionControl, sessionHeader, settingsNote } from './facts';

/** Layers by heads: any quantity as a map, its course along the layers, and all numbers. */
export const overview: View = {
  name: 'overview',
  title: 'Overview',
  shows: (session) => session.analyze !== null || session.heads !== null,
  mount(root, context) {
    const { store, session } = context;
    let shown = look(context, store.get());

    const quantities = choose<string>('Quantity', options(shown.table), (quantity) => store.set({ quantity }));
    const conventions = conventionControl(context);
    const measuredWith = settingsNote(session);

    const map = figure({
      name: 'layers-heads',
      title: '',
      draw: (width, theme) => drawMap(shown, context, width, theme),
      table: () => mapTable(shown),
    });
    const course = figure({
      name: 'layers',
      title: '',
      draw: (width, theme) => drawCourse(shown, context, width, theme),
      table: () => courseTable(shown),
    });
    const numbers = table(allNumbers(shown, context));
    const document = session.analyze ?? session.heads!;
    fill(
      root,
      sessionHeader(session, session.title, quantities.element, conventions.element),
      measuredWith.element,
      session.heads
        ? h(
            'section',
            { class: 'card' },
            h('h2', {}, 'In words'),
            h(
              'ul',
              { class: 'findings' },
              session.heads.summary.map((line) => h('li', {}, line)),
            ),
          )
        : null,
      h('div', { class: 'grid wide' }, map.element, course.element),
      h(
        'section',
        { class: 'card' },
        h(
          'div',
          { class: 'figure-head' },
          h('h2', { class: 'small' }, 'All numbers'),
          h(
            'div',
            { class: 'tools' },
            csvButton(() => allNumbers(shown, context)),
            h(
              'button',
              {
                type: 'button',
                class: 'quiet',
                onclick: () => saveFile('synergraph.json', JSON.stringify(document, null, 2) + '\n', 'application/json'),
              },
              'Save JSON',
            ),
          ),
        ),
        h('p', { class: 'note' }, `Best head: ${shown.table.bestHeadAbout}.`),
        numbers.element,
      ),
    );

    return {
      update(state, before) {
        if (before && before.quantity === state.quantity && before.convention === state.convention) return;
        shown = look(context, state);
        quantities.update(shown.measure.id, options(shown.table));
        conventions.update(state.convention);
        measuredWith.update(state.convention);
        const { measure } = shown;
        map.element.hidden = !measure.ofHeads;
        map.title(`${measure.label}, layers × heads`);
        map.caption(
          `${sentence(measure.quantity.about)} ${measure.quantity.better ? `A dot marks the head of a layer whose mean is ${measure.quantity.better === 'high' ? 'largest' : 'smallest'}${measure.ofLayers && !measure.id.endsWith('shapley') ? ', and all heads together where they beat it' : ''}${uncertain(shown) ? '; none where intervals leave it open' : ''}.` : ''}`,
        );
        course.element.hidden = !measure.ofLayers;
        course.title(`${measure.whole ?? measure.label}, layer by layer`);
        course.caption(
          `${spreadWords(shown)}${paperElsewhere(shown, context) ? ' The paper’s times are by the published convention (--convention both).' : ''}`,
        );
        map.redraw();
        course.redraw();
        numbers.update(allNumbers(shown, context));
      },
    };
  },
};

interface Shown {
  table: LayerTable;
  measure: Measure;
  convention: 'exact' | 'published';
}

function look(context: Context, state: State): Shown {
  const table = layerTable(context.session, state.convention)!;
  const measure = table.measures.find((one) => one.id === state.quantity) ?? table.measures[0]!;
  const convention = table.conventions.includes(state.convention) ? state.convention : table.conventions[0]!;
  return { table, measure, convention };
}

const options = (table: LayerTable) => table.measures.map((one) => ({ value: one.id, label: one.label, group: one.group }));

const sentence = (text: string) => (text ? `${text[0]!.toUpperCase()}${text.slice(1)}.` : '');

/** Some fidelities are intervals. */
const uncertain = ({ table, measure }: Shown) =>
  table.layers.some((layer, l) =>
    [...Array(layer.heads).keys(), 'all' as const].some((head) => measure.get(l, head)?.upper !== undefined),
  );

/** The paper has values of this quantity, but by the other convention. */
const paperElsewhere = ({ measure, convention }: Shown, { session }: Context) =>
  !comparable(measure.id, convention) && session.published.some((one) => one.quantity === measure.id);

function spreadWords({ table, measure }: Shown): string {
  const first = measure.get(0, 'all');
  if (!first || first.samples < 2) return sentence(measure.quantity.about);
  if (first.isError) return `Mean over ${first.samples} samples, ± its standard error.`;
  const counts = new Set(table.layers.map((l) => l.samples));
  return `Mean over ${counts.size === 1 ? `${first.samples} samples` : 'the samples'}; dark band: one standard deviation; light band: least to largest sample. Small dots: each head alone.`;
}

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

export function spreadTip(measure: Measure, spread: Spread): HTMLElement[] {
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
function deeper({ session, store }: Context, layer: number, head: number | 'all'): { go?: () => void } {
  if (session.attention?.layers.some(({ index }) => index === layer))
    return { go: () => store.set({ view: 'layer', layer, head }) };
  return session.heads ? { go: () => store.set({ view: 'mixer', layer, head }) } : {};
}

function drawMap(shown: Shown, context: Context, width: number, theme: Theme): SVGSVGElement {
  const { table, measure } = shown;
  const { quantity } = measure;
  const most = table.headNames.length;
  const spreads = table.layers.flatMap((_, l) => [...Array(most).keys()].map((c) => measure.get(l, c))).filter((x) => x !== null);
  const signed = quantity.kind === 'change' && spreads.some((x) => (x.mean ?? 0) < 0);
  const allValues =
    signed || !measure.ofLayers || quantity.kind === 'change'
      ? []
      : table.layers.map((_, l) => measure.get(l, 'all')).flatMap((x) => (x ? [x.mean] : []));
  const scale = valueScale([...spreads.map((x) => x.mean), ...allValues], quantity.logarithmic, 0, 1000, !signed);
  const largest = Math.max(...spreads.map((x) => Math.abs(x.mean ?? 0)), 1e-300);
  const shade = (x: Spread) => (signed ? (x.mean ?? 0) / largest : 0.06 + (0.94 * scale.place(x.mean)) / 1000);
  const marks = table.layers.map((_, l) => best(shown, l));
  const withAll = measure.ofLayers;
  return heatmap(
    {
      label: `${measure.label} of each head in each layer`,
      rows: table.layers.map((layer) => layer.name),
      columns: [...table.headNames, ...(withAll ? ['all'] : [])],
      rowTitle: 'layer',
      columnTitle: 'head',
      diverging: signed,
      ...(withAll ? { gapBefore: most } : {}),
      legend: signed
        ? [format(quantity, -largest, 2), '0', format(quantity, largest, 2)]
        : ends(quantity, [...spreads.map((x) => x.mean), ...allValues]),
      cell(l, c): HeatCell | null {
        const head = c === most ? ('all' as const) : c;
        const value = measure.get(l, head);
        if (!value) return null;
        const name = head === 'all' ? 'all heads together' : `head ${table.headNames[head]}`;
        const isBest = head === 'all' ? marks[l]!.all : marks[l]!.head === head;
        return {
          shade: signed && head === 'all' ? null : head === 'all' && quantity.kind === 'change' ? null : shade(value),
          text: spreadText(quantity, value, 2),
          label: `layer ${table.layers[l]!.name}, ${name}: ${spreadText(quantity, value, 4, true)}${isBest ? ', best' : ''}`,
          marked: isBest,
          tip: () => [
            h('div', { class: 'tip-line' }, h('b', {}, `Layer ${table.layers[l]!.name}, ${name}`)),
            ...spreadTip(measure, value),
          ],
          ...deeper(context, l, head),
        };
      },
    },
    width,
    theme,
  );
}

/** The least and the largest, in words. */
const ends = (quantity: Quantity, values: (number | null)[]) => {
  const of = (value: number) => format(quantity, Number.isFinite(value) ? value : null, 2);
  return [of(Math.min(...values.map((v) => v ?? Infinity))), of(Math.max(...values.map((v) => v ?? Infinity)))];
};

function drawCourse({ table, measure, convention }: Shown, context: Context, width: number, theme: Theme): SVGSVGElement {
  const { quantity } = measure;
  const all = table.layers.map((_, l) => measure.get(l, 'all'));
  const at = (pick: (spread: Spread) => number | null | undefined) =>
    all.flatMap((spread, x) => {
      const y = spread ? pick(spread) : undefined;
      return y === undefined ? [] : [{ x, y }];
    });
  const several = all.some((spread) => (spread?.samples ?? 0) > 1);
  const floor = quantity.kind === 'change' ? -Infinity : 0;
  const series: Series[] = [
    {
      name: 'all heads together',
      colour: theme.series[0]!,
      points: at((x) => x.mean),
      marks: 'dots',
      width: 2.5,
      ...(several
        ? {
            band: all.flatMap((x, i) =>
              x && x.mean !== null && x.spread !== null
                ? [{ x: i, low: Math.max(floor, x.mean - x.spread, x.min ?? -Infinity), high: x.mean + x.spread }]
                : [],
            ),
          }
        : {}),
      ...(several && all[0]?.min !== undefined
        ? { outer: all.flatMap((x, i) => (x ? [{ x: i, low: x.min ?? null, high: x.max ?? null }] : [])) }
        : {}),
    },
  ];
  if (all.some((x) => x?.upper !== undefined))
    series.push({
      name: 'at most, where not certified',
      colour: theme.warm,
      line: false,
      marks: 'diamonds',
      points: all.flatMap((x, i) => (x?.upper === undefined ? [] : [{ x: i, y: x.upper }])),
    });
  if (measure.id === 'minimax_fidelity') {
    const bestHead = table.measures.find((one) => one.id === 'best_head_fidelity');
    if (bestHead && table.headNames.length > 1)
      series.push({
        name: 'best head of each sample',
        colour: theme.series[1]!,
        dash: '6 4',
        marks: 'dots',
        points: table.layers.flatMap((_, x) => {
          const y = bestHead.get(x, 'all');
          return y ? [{ x, y: y.mean }] : [];
        }),
      });
  }
  if (measure.ofHeads && quantity.kind !== 'change')
    for (let head = 0; head < table.headNames.length; ++head)
      series.push({
        name: `head ${table.headNames[head]}`,
        colour: theme.muted,
        faint: true,
        line: false,
        marks: 'dots',
        opacity: 0.55,
        points: table.layers.flatMap((_, x) => {
          const y = measure.get(x, head);
          return y ? [{ x, y: y.mean }] : [];
        }),
      });
  const { analyze, published } = context.session;
  const paper = printed(published, {
    task: analyze?.task?.name,
    heads: analyze?.model?.heads,
    quantity: measure.id,
    convention,
  });
  if (paper.length > 0)
    series.push({
      name: 'the paper',
      colour: theme.series[1]!,
      line: false,
      marks: 'diamonds',
      points: paper.map((one) => ({ x: one.layer - 1, y: one.mean })),
    });
  return lines(
    {
      label: `${measure.whole ?? measure.label} along the layers`,
      xTitle: 'layer',
      yTitle: quantity.kind === 'steps' ? `${quantity.short}, steps` : measure.whole ? measure.id.split('/')[0]! : quantity.short,
      xNames: table.layers.map((layer) => layer.name),
      series,
      logarithmic: quantity.logarithmic,
      height: 320,
      yFormat: (v) => format(quantity, v),
      ...(measure.id === 'synergy' ? { levels: [{ y: 1, label: 'above: together better than the best head' }] } : {}),
      go: (x) => deeper(context, x, 'all').go?.(),
    },
    width,
    theme,
  );
}

function mapTable({ table, measure }: Shown): TableData {
  return {
    name: `layers-heads-${measure.id.replace('/', '-')}`,
    caption: `${measure.label}: mean over samples`,
    columns: [
      { label: 'layer' },
      ...table.headNames.map((name) => ({ label: `head ${name}`, numeric: true })),
      ...(measure.ofLayers ? [{ label: 'all', numeric: true }] : []),
    ],
    rows: table.layers.map((layer, l) => ({
      cells: [
        words(layer.name),
        ...[...table.headNames.keys(), ...(measure.ofLayers ? (['all'] as const) : [])].map((head) => {
          const value = measure.get(l, head);
          return { value: value?.mean ?? null, text: value ? spreadText(measure.quantity, value) : '' };
        }),
      ],
    })),
  };
}

function courseTable({ table, measure }: Shown): TableData {
  const fields = ['mean', 'spread', 'min', 'median', 'max'] as const;
  const withUpper = table.layers.some((_, l) => measure.get(l, 'all')?.upper !== undefined);
  return {
    name: `layers-${measure.id.replace('/', '-')}`,
    caption: measure.whole ?? `${measure.label} of all heads together, over samples`,
    columns: [
      { label: 'layer' },
      ...fields.map((f) => ({ label: f === 'spread' ? '±' : f, numeric: true })),
      ...(withUpper ? [{ label: 'mean, at most', numeric: true }] : []),
      { label: 'never', numeric: true },
      { label: 'samples', numeric: true },
    ],
    rows: table.layers.map((layer, l) => {
      const value = measure.get(l, 'all');
      return {
        cells: [
          words(layer.name),
          ...fields.map((f) => ({
            value: value?.[f] ?? null,
            text: !value ? '' : f === 'mean' ? spreadText(measure.quantity, value) : format(measure.quantity, value[f]),
          })),
          ...(withUpper
            ? [
                {
                  value: value?.upper ?? value?.mean ?? null,
                  text: value ? format(measure.quantity, value.upper ?? value.mean) : '',
                },
              ]
            : []),
          { value: value?.never ?? 0, text: String(value?.never ?? 0) },
          { value: layer.samples, text: String(layer.samples) },
        ],
      };
    }),
  };
}

function allNumbers({ table }: Shown, context: Context): TableData {
  const measures = table.measures.filter((one) => one.ofLayers && !one.id.endsWith('alone'));
  return {
    name: 'layers',
    caption: 'All heads together, mean over samples',
    columns: [
      { label: 'layer' },
      ...measures.map((one) => ({
        ...columnOf(one.quantity.id),
        ...(one.id.includes('/') ? { label: one.id.split('/')[0]!, about: one.label } : {}),
      })),
      { label: 'best head', numeric: true, about: table.bestHeadAbout },
    ],
    rows: table.layers.map((layer, l) => {
      const best = table.bestHead(l);
      return {
        cells: [
          words(layer.name),
          ...measures.map((one) => {
            const value = one.get(l, 'all');
            return { value: value?.mean ?? null, text: value ? spreadText(one.quantity, value) : '–' };
          }),
          words(best ? `${table.headNames[best.head] ?? ''}${best.note && ` (${best.note})`}` : ''),
        ],
        ...deeper(context, l, 'all'),
      };
    }),
  };
}

import { lines, type Series } from '../charts/lines';
import { shortNames } from '../charts/text';
import { layerTable, type LayerTable, type Spread } from '../data/layers';
import { comparable, printed } from '../data/published';
import { fill, h } from '../dom';
import { format } from '../quantities';
import type { State } from '../state';
import type { Theme } from '../theme';
import { choose, segments } from '../ui/controls';
import { figure } from '../ui/figure';
import { glossary } from '../ui/glossary';
import { columnOf, csvButton, table, words, type TableData } from '../ui/table';
import type { Context, View } from '../view';
import { conventionControl, sessionHeader, settingsNote } from './facts';
import { missingWords, saveDocuments } from './other-documents';
import { deeper, drawMap, mapTable, spreadCell, type Shown } from './overview-map';

/** Above so many heads the map takes the whole width. */
const MANY_HEADS = 12;

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
    const scales = segments<State['scale']>(
      'Colours',
      [
        { value: 'all', label: 'One scale' },
        { value: 'layer', label: 'Each layer its own' },
      ],
      (scale) => store.set({ scale }),
    );
    const meanings = glossary();
    const missing = missingWords(session);
    if (shown.table.headNames.length > MANY_HEADS) for (const one of [map, course]) one.element.classList.add('whole-row');
    fill(
      root,
      sessionHeader(session, session.title, quantities.element, conventions.element, scales.element),
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
            saveDocuments(session),
          ),
        ),
        h('p', { class: 'note' }, `Best head: ${shown.table.bestHeadAbout}.`),
        meanings.element,
        numbers.element,
      ),
      missing && h('p', { class: 'note screen-only' }, missing),
    );

    return {
      update(state, before) {
        const same = (['quantity', 'convention', 'scale'] as const).every((field) => before?.[field] === state[field]);
        if (same) return;
        shown = look(context, state);
        quantities.update(shown.measure.id, options(shown.table));
        conventions.update(state.convention);
        scales.update(state.scale);
        scales.element.hidden = !shown.measure.ofHeads || shown.table.layers.length < 2;
        measuredWith.update(state.convention);
        const { measure } = shown;
        map.element.hidden = !measure.ofHeads;
        map.title(`${measure.label}, layers × heads`);
        map.caption(
          `${sentence(measure.quantity.about)} ${measure.quantity.better ? `A dot marks the head of a layer whose mean is ${measure.quantity.better === 'high' ? 'largest' : 'smallest'}${measure.ofLayers && !measure.id.endsWith('shapley') ? ', and all heads together where they beat it' : ''}${uncertain(shown) ? '; none where intervals leave it open' : ''}.` : ''}${state.scale === 'layer' ? ' Each layer has its own colours: compare heads within a row.' : ''}${otherConvention(shown)}`,
        );
        course.element.hidden = !measure.ofLayers;
        course.title(`${measure.whole ?? measure.label}, layer by layer`);
        course.caption(
          `${spreadWords(shown)}${paperElsewhere(shown, context) ? ' The paper’s times are by the published convention (--convention both).' : ''}`,
        );
        map.redraw();
        course.redraw();
        numbers.update(allNumbers(shown, context));
        meanings.update([measure, ...shown.table.measures].map(({ quantity }) => quantity.id));
      },
    };
  },
};

function look(context: Context, state: State): Shown {
  const table = layerTable(context.session, state.convention)!;
  const measure = table.measures.find((one) => one.id === state.quantity) ?? table.measures[0]!;
  const convention = table.conventions.includes(state.convention) ? state.convention : table.conventions[0]!;
  return { table, measure, convention, scale: state.scale };
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

/** Says by which convention a number was measured that does not follow the choice. */
const otherConvention = ({ measure, convention }: Shown) =>
  measure.convention && measure.convention !== convention ? ` Measured by the ${measure.convention} convention.` : '';

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
      xNames: shortNames(table.layers.map((layer) => layer.name)),
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
          ...fields.map((f) => {
            if (f === 'mean') return spreadCell(measure.quantity, value);
            const never = value?.[f] === null && f !== 'spread' && measure.quantity.kind === 'steps';
            return { value: never ? Infinity : (value?.[f] ?? null), text: value ? format(measure.quantity, value[f]) : '' };
          }),
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
  const there = new Set(table.measures.map(({ id }) => id));
  // The fidelity of all heads is in both documents.
  const again = (id: string) => id.endsWith('alone') || (id === 'fidelity/shapley' && there.has('minimax_fidelity'));
  const measures = table.measures.filter((one) => one.ofLayers && !again(one.id));
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
          ...measures.map((one) => spreadCell(one.quantity, one.get(l, 'all'), '–')),
          words(best ? `${table.headNames[best.head] ?? ''}${best.note && ` (${best.note})`}` : ''),
        ],
        ...deeper(context, l, 'all'),
      };
    }),
  };
}

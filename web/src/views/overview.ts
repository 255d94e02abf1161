import { layerTable, type LayerTable } from '../data/layers';
import { fill } from '../dom';
import type { State } from '../state';
import { choose, segments } from '../ui/controls';
import { glossary } from '../ui/glossary';
import { card, cardHead, div, note } from '../ui/parts';
import { columnOf, csvButton, table, words, type TableData } from '../ui/table';
import type { Context, View } from '../view';
import { conventionControl, findings, sessionHeader, settingsNote } from './facts';
import { missingWords, saveDocuments } from './other-documents';
import { courseFigure } from './overview-course';
import { deeper, mapFigure, spreadCell, type Shown } from './overview-map';

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
    const scales = segments<State['scale']>('Colours', { all: 'One scale', layer: 'One scale per layer' }, (scale) =>
      store.set({ scale }),
    );
    const figures = [mapFigure(context, () => shown), courseFigure(context, () => shown)];
    const numbers = table(allNumbers(shown, context));
    const meanings = glossary();
    const missing = missingWords(session);
    if (shown.table.headNames.length > MANY_HEADS) for (const { element } of figures) element.classList.add('whole-row');
    const controls = [quantities, conventions, scales];
    const head = cardHead(
      'All numbers',
      csvButton(() => allNumbers(shown, context)),
      saveDocuments(session),
    );
    fill(
      root,
      sessionHeader(session, session.title, ...controls),
      measuredWith,
      session.heads && findings('In words', session.heads.summary),
      div('grid wide', figures),
      card(head, note(`Best head: ${shown.table.bestHeadAbout}.`), meanings, numbers),
      missing && div('screen-only', note(missing)),
    );
    return {
      update(state, before) {
        if ((['quantity', 'convention', 'scale'] as const).every((field) => before?.[field] === state[field])) return;
        shown = look(context, state);
        const { measure, table: of } = shown;
        quantities.update(measure.id, options(of));
        conventions.update(state.convention);
        scales.update(state.scale);
        scales.element.hidden = !measure.ofHeads || of.layers.length < 2;
        measuredWith.update({ convention: state.convention, edges: (session.analyze ?? session.heads)?.edges ?? 'attention' });
        for (const one of figures) one.update();
        numbers.update(allNumbers(shown, context));
        meanings.update([measure, ...of.measures].map(({ quantity }) => quantity.id));
      },
    };
  },
};

function look(context: Context, state: State): Shown {
  const of = layerTable(context.session, state.convention)!;
  const measure = of.measures.find((one) => one.id === state.quantity) ?? of.measures[0]!;
  const convention = of.conventions.includes(state.convention) ? state.convention : of.conventions[0]!;
  return { table: of, measure, convention, scale: state.scale };
}

const options = (of: LayerTable) => of.measures.map(({ id, label, group }) => ({ value: id, label, group }));

function allNumbers({ table: of }: Shown, context: Context): TableData {
  const there = new Set(of.measures.map(({ id }) => id));
  // The fidelity of all heads is in both documents.
  const again = (id: string) => id.endsWith('alone') || (id === 'fidelity/shapley' && there.has('minimax_fidelity'));
  const measures = of.measures.filter((one) => one.ofLayers && !again(one.id));
  const best = (layer: number) => {
    const found = of.bestHead(layer);
    return words(found ? `${of.headNames[found.head] ?? ''}${found.note && ` (${found.note})`}` : '');
  };
  return {
    name: 'layers',
    caption: 'All heads together, mean over samples',
    columns: [
      { label: 'layer' },
      ...measures.map(({ id, label, quantity }) => ({
        ...columnOf(quantity.id),
        ...(id.includes('/') ? { label: id.split('/')[0]!, about: label } : {}),
      })),
      { label: 'best head', numeric: true, about: of.bestHeadAbout },
    ],
    rows: of.layers.map((layer, l) => ({
      cells: [words(layer.name), ...measures.map((one) => spreadCell(one.quantity, one.get(l, 'all'), '–')), best(l)],
      ...deeper(context, l, 'all'),
    })),
  };
}

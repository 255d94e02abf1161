import { fill } from '../dom';
import type { State } from '../state';
import { choose, segments, type Control } from '../ui/controls';
import { div, note } from '../ui/parts';
import type { HeadValue } from '../core';
import type { Context, Mounted } from '../view';
import { sessionHeader, settingsNote } from './facts';
import { pruningFigure } from './pruning';
import { worthFigures, worthOfDocument } from './worth';

export const valueControl = ({ store }: Context): Control<HeadValue> =>
  segments<HeadValue>('Values of heads by', { fidelity: 'Fidelity', speed: 'Speed' }, (value) => store.set({ value }));

/** The mixer without attention at hand: what the document says. */
export function mountDocument(root: HTMLElement, context: Context): Mounted {
  const { store, session } = context;
  const document = session.heads!;
  const place = ({ layer }: State) => Math.min(layer, document.layers.length - 1);
  const layer = () => document.layers[place(store.get())]!;
  const names = () => document.head_names ?? layer().weights.map((_, head) => String(head));
  const value = () => layer().values.find((one) => one.value === store.get().value) ?? layer().values[0];
  const options = document.layers.map(({ name }, index) => ({ value: index, label: name }));
  const layers = choose<number>('Layer', options, (index) => store.set({ layer: index }));
  const values = valueControl(context);
  const worth = worthFigures(
    () => (value() ? worthOfDocument(value()!, layer().samples, names()) : null),
    () => layer().name,
  );
  const pruning = pruningFigure(value, names);
  const measuredWith = settingsNote(session);
  measuredWith.update(store.get());
  fill(
    root,
    sessionHeader(session, session.title, layers, values),
    measuredWith,
    note('The attention itself is not in this page. So weights cannot be moved; this is what the document says.'),
    div('grid', [...worth.list, pruning]),
  );
  return {
    update(state) {
      layers.update(place(state));
      values.update(state.value);
      worth.redraw();
      pruning.update();
    },
  };
}

import { fill, h, type Child } from '../dom';
import { quantityOf } from '../quantities';
import { readings, type Reading } from './controls';

/** A list that unfolds: what the quantities in sight mean. Every text is of src/quantities.ts. */
export function glossary(): { element: HTMLElement; update(ids: Iterable<string>): void } {
  const list = h('dl');
  const element = h('details', { class: 'glossary screen-only' }, h('summary', {}, 'What these numbers mean'), list);
  let before = '';
  return {
    element,
    update(ids) {
      const known = [...new Set(ids)].map(quantityOf).filter(({ about }) => about !== '');
      const key = known.map(({ id }) => id).join();
      element.hidden = known.length === 0;
      if (key === before) return;
      before = key;
      fill(
        list,
        known.map(({ label, short, about }) =>
          h(
            'div',
            {},
            h(
              'dt',
              {},
              label,
              label.toLowerCase().includes(short.toLowerCase()) ? null : h('span', { class: 'note' }, ` (${short})`),
            ),
            h('dd', {}, `${about[0]!.toUpperCase()}${about.slice(1)}.`),
          ),
        ),
      );
    },
  };
}

/** Numbers that are looked at first, and what they mean. */
export function explainedReadings(): { elements: Child[]; update(list: Reading[]): void } {
  const [numbers, meanings] = [readings(), glossary()];
  return {
    elements: [numbers, meanings],
    update(list) {
      numbers.update(list);
      meanings.update(list.map(({ id }) => id));
    },
  };
}

/** The same of quantities that do not change. */
export function glossaryOf(ids: Iterable<string>): HTMLElement {
  const made = glossary();
  made.update(ids);
  return made.element;
}

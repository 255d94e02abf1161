/** What is on the page, in a line. */
import type { Convention } from '../core';
import type { Session } from '../data/session';
import { measurementOf, settingsWords } from '../data/settings';
import { fill, h, type Child } from '../dom';
import { percent } from '../quantities';
import { segments, type Control } from '../ui/controls';
import type { Context } from '../view';

const range = (values: number[]) => {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  return low === high ? String(low) : `${low} to ${high}`;
};

const count = (values: number[], one: string, many: string) => [range(values), Math.max(...values) === 1 ? one : many] as const;

/** The title of a view, and its controls beside it. */
export function sessionHeader(session: Session, title: string, ...controls: Child[]): HTMLElement {
  const facts: (readonly [string, string])[] = [];
  const document = session.analyze ?? session.heads;
  const layers = session.analyze
    ? session.analyze.conventions[0]!.layers.map((l) => ({ heads: l.heads.length, tokens: l.tokens, samples: l.samples }))
    : session.heads?.layers.map((l) => ({ heads: l.weights.length, tokens: l.tokens, samples: l.samples }));
  if (layers && layers.length > 0)
    facts.push(
      count([layers.length], 'layer', 'layers'),
      count(
        layers.map((l) => l.heads),
        'head',
        'heads',
      ),
      count(
        layers.map((l) => l.tokens),
        'token',
        'tokens',
      ),
      count(
        layers.map((l) => l.samples),
        'sample',
        'samples',
      ),
    );
  if (document) facts.push([document.weights, 'head weights']);
  if (document?.task?.accuracy != null) facts.push([document.task.name, `task, accuracy ${percent(document.task.accuracy)}`]);
  if (session.study) {
    const { cells, settings } = session.study;
    facts.push(
      [String(cells.length), 'models'],
      [settings.tasks.join(', '), settings.tasks.length === 1 ? 'task' : 'tasks'],
      [settings.heads.join(', '), 'heads'],
      [String(settings.seeds.length), settings.seeds.length === 1 ? 'seed' : 'seeds'],
      [String(settings.samples), 'sequences each'],
    );
  }
  return h(
    'div',
    { class: 'head-row' },
    h(
      'div',
      { class: 'title' },
      h('h1', {}, title),
      facts.length > 0 &&
        h(
          'p',
          { class: 'facts' },
          facts.map(([number, what]) => h('span', {}, h('b', {}, number), ' ', what)),
        ),
      session.leftOut && h('p', { class: 'note' }, `${session.leftOut[0]!.toUpperCase()}${session.leftOut.slice(1)}.`),
    ),
    h('div', { class: 'controls' }, controls),
  );
}

/** One of the conventions that the data were measured by. */
export function conventionControl({ session, store }: Context): Control<Convention> {
  const there = session.analyze?.conventions.map(({ convention }) => convention) ?? [];
  const control = segments<Convention>(
    'Convention',
    there.map((value) => ({ value, label: value === 'exact' ? 'Exact' : 'Published' })),
    (convention) => store.set({ convention }),
  );
  control.element.hidden = there.length < 2;
  return control;
}

/** How the numbers were measured, in a line. */
export function settingsNote(session: Session): { element: HTMLElement; update(chosen: Convention): void } {
  const element = h('p', { class: 'note settings' });
  return {
    element,
    update(chosen) {
      fill(element, settingsWords(measurementOf(session, chosen)));
      element.hidden = element.textContent === '';
    },
  };
}

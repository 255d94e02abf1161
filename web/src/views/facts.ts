/** What is on the page, in a line. */
import type { Convention, EdgeKind } from '../core';
import type { Session } from '../data/session';
import { measurementOf, settingsWords } from '../data/settings';
import { fill, h, type Child } from '../dom';
import { percent } from '../quantities';
import { segments, type Control } from '../ui/controls';
import { card, headRow, note } from '../ui/parts';
import type { State } from '../state';
import type { Context } from '../view';

const range = (values: number[]) => {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  return low === high ? String(low) : `${low} to ${high}`;
};

const plural = (number: number, one: string) => [String(number), number === 1 ? one : `${one}s`] as const;

function factsOf(session: Session): (readonly [string, string])[] {
  const facts: (readonly [string, string])[] = [];
  const { analyze, heads, study } = session;
  const document = analyze ?? heads;
  const layers = analyze
    ? analyze.conventions[0]!.layers.map((l) => ({ heads: l.heads.length, tokens: l.tokens, samples: l.samples }))
    : (heads?.layers.map((l) => ({ heads: l.weights.length, tokens: l.tokens, samples: l.samples })) ?? []);
  if (layers.length > 0)
    facts.push(
      plural(layers.length, 'layer'),
      ...(['heads', 'tokens', 'samples'] as const).map((what) => {
        const counts = layers.map((l) => l[what]);
        return [range(counts), Math.max(...counts) === 1 ? what.slice(0, -1) : what] as const;
      }),
    );
  if (document) facts.push([document.weights, 'head weights']);
  if (document?.task?.accuracy != null) facts.push([document.task.name, `task, accuracy ${percent(document.task.accuracy)}`]);
  if (study) {
    const { tasks, heads: counts, seeds, samples } = study.settings;
    facts.push(
      ...(study.cells.length > 0 ? [plural(study.cells.length, 'model')] : []),
      [tasks.join(', '), tasks.length === 1 ? 'task' : 'tasks'],
      [counts.join(', '), 'heads'],
      plural(seeds.length, 'seed'),
      [String(samples), 'sequences each'],
    );
  }
  return facts;
}

/** The title of a view, and its controls beside it. */
export function sessionHeader(session: Session, title: string, ...controls: Child[]): HTMLElement {
  const facts = factsOf(session).map(([number, what]) => h('span', {}, h('b', {}, number), ' ', what));
  const { leftOut } = session;
  const below = [
    facts.length > 0 && h('p', { class: 'facts' }, facts),
    leftOut && note(`${leftOut[0]!.toUpperCase()}${leftOut.slice(1)}.`),
  ];
  return headRow(title, below, ...controls);
}

/** A list of sentences under a title. */
export const findings = (title: string, statements: readonly string[], ...more: Child[]): HTMLElement =>
  card(
    h('h2', {}, title),
    h(
      'ul',
      { class: 'findings' },
      statements.map((line) => h('li', {}, line)),
    ),
    more,
  );

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

/** One of the edges that the attention at hand has. */
export function edgesControl({ session, store }: Context): Control<EdgeKind> {
  const there = session.attention?.edges ?? [];
  const control = segments<EdgeKind>(
    'Edges',
    there.map((value) => ({ value, label: value[0]!.toUpperCase() + value.slice(1) })),
    (edges) => store.set({ edges }),
  );
  control.element.hidden = there.length < 2;
  return control;
}

/** How the numbers were measured, in a line. */
export function settingsNote(session: Session): {
  element: HTMLElement;
  update(chosen: Pick<State, 'convention' | 'edges'>): void;
} {
  const element = h('p', { class: 'note settings' });
  return {
    element,
    update({ convention, edges }) {
      fill(element, settingsWords(measurementOf(session, convention, edges)));
      element.hidden = element.textContent === '';
    },
  };
}

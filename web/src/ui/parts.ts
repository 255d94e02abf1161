/** Small parts that every view is made of. */
import { h, type Attributes, type Child } from '../dom';

export const button = (label: Child, onclick: () => void, attributes: Attributes = {}): HTMLButtonElement =>
  h('button', { type: 'button', onclick, ...attributes }, label);

/** A button without a frame, among the tools of a card. */
export const quiet = (label: Child, onclick: () => void, attributes: Attributes = {}): HTMLButtonElement =>
  button(label, onclick, { class: 'quiet', ...attributes });

/** A button that looks like a link. */
export const link = (label: Child, onclick: () => void): HTMLButtonElement => button(label, onclick, { class: 'link' });

export const note = (...children: Child[]): HTMLElement => h('p', { class: 'note' }, ...children);

export const div = (name: string, ...children: Child[]): HTMLElement => h('div', { class: name }, ...children);

export const card = (...children: Child[]): HTMLElement => h('section', { class: 'card' }, ...children);

/** An input with its label. */
export const field = (label: Child, input: HTMLElement): HTMLElement => div('field', h('label', { for: input.id }, label), input);

/** The title of a card and its tools. */
export const cardHead = (title: Child, ...tools: Child[]): HTMLElement =>
  div('figure-head', h('h2', { class: 'small' }, title), div('tools', ...tools));

/** The title of a view, with words below it, and its controls. */
export const headRow = (title: Child, below: Child, ...controls: Child[]): HTMLElement =>
  div('head-row', div('title', h('h1', {}, title), below), div('controls', ...controls));

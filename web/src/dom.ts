/** Elements from data: names and values become attributes and text, never markup. A component stands for its element. */

export type Child = Node | { element: Node } | string | number | null | undefined | false | readonly Child[];

export type Attributes = Record<string, string | number | boolean | null | undefined | ((event: never) => void)>;

function append(parent: Element, children: readonly Child[]): void {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    if (typeof child !== 'object') parent.append(String(child));
    else if (child instanceof Node) parent.append(child);
    else append(parent, 'element' in child ? [child.element] : child);
  }
}

function setAll(element: Element, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === 'function') element.addEventListener(name.replace(/^on/, ''), value as EventListener);
    else element.setAttribute(name, value === true ? '' : String(value));
  }
}

/** An HTML element: `h('button', { class: 'quiet', onclick: go }, 'Go')`. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  setAll(element, attributes);
  append(element, children);
  return element;
}

/** An SVG element. */
export function s<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): SVGElementTagNameMap[K] {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  setAll(element, attributes);
  append(element, children);
  return element;
}

/** Replaces what an element holds. */
export function fill(element: Element, ...children: Child[]): void {
  element.replaceChildren();
  append(element, children);
}

let identifiers = 0;

/** An id that no other element has. */
export const uniqueId = (prefix: string): string => `${prefix}-${++identifiers}`;

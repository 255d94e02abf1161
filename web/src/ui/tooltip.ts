import { fill, h, type Child } from '../dom';

let box: HTMLElement | null = null;

/** Shows lines beside a place on the screen. Readers of screens have the same words as labels, so it is hidden from them. */
export function showTooltip(x: number, y: number, ...lines: Child[]): void {
  if (!box) {
    box = h('div', { class: 'tooltip', 'aria-hidden': 'true' });
    document.body.append(box);
  }
  fill(box, ...lines);
  box.hidden = false;
  const { width, height } = box.getBoundingClientRect();
  const left = x + 14 + width > innerWidth - 8 ? x - width - 14 : x + 14;
  const top = y + 14 + height > innerHeight - 8 ? y - height - 14 : y + 14;
  box.style.transform = `translate(${Math.max(8, left)}px, ${Math.max(8, top)}px)`;
}

export function hideTooltip(): void {
  if (box) box.hidden = true;
}

/** A line of a tooltip: a name and its number, with the colour of its mark. */
export const tipLine = (name: string, value: string, colour?: string): HTMLElement => {
  const swatch = h('i');
  if (colour) swatch.style.background = colour;
  return h('div', { class: 'tip-line' }, colour ? swatch : null, h('span', {}, name), h('b', {}, value));
};

/** Elements that say something when pointed at, or reached by the keyboard. */
export function withTip<T extends Element>(element: T, lines: () => Child[]): T {
  const at = (event: MouseEvent) => showTooltip(event.clientX, event.clientY, ...lines());
  element.addEventListener('pointermove', at as EventListener);
  element.addEventListener('pointerleave', hideTooltip);
  element.addEventListener('focus', () => {
    if (!element.matches(':focus-visible')) return;
    const { right, top } = element.getBoundingClientRect();
    showTooltip(right, top, ...lines());
  });
  element.addEventListener('blur', hideTooltip);
  return element;
}

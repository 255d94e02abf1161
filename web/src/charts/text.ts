/** How wide text is, and how it is cut. */

let pen: CanvasRenderingContext2D | null = null;

/** The width of a text on the screen. Digits are as wide as the widest one: figures have tabular numbers. */
export function textWidth(text: string, size: number, font: string): number {
  pen ??= document.createElement('canvas').getContext('2d')!;
  pen.font = `${size}px ${font}`;
  return pen.measureText(text.replace(/\d/g, '0')).width;
}

export const shorten = (text: string, length: number) => (text.length > length ? `${text.slice(0, length - 1)}…` : text);

/** How many characters all names share at their beginning. Digits of a number in which they differ are not shared. */
function sharedStart(names: readonly (readonly string[])[]): number {
  const [first = []] = names;
  let length = 0;
  while (length < first.length && names.every((name) => name[length] === first[length])) ++length;
  while (length > 0 && /\d/.test(first[length - 1]!)) --length;
  return length;
}

/** Names without what all of them share: `model.layers.3.self_attn` among its like is `3`. They stay different, and none is empty. */
export function shortNames(names: readonly string[]): string[] {
  if (names.length < 2) return [...names];
  const letters = names.map((name) => [...name]);
  const before = sharedStart(letters);
  const rest = letters.map((name) => name.slice(before));
  const after = sharedStart(rest.map((name) => [...name].reverse()));
  const short = rest.map((name) => name.slice(0, Math.max(0, name.length - after)).join(''));
  return short.every((name) => name !== '') ? short : [...names];
}

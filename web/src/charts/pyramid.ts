/** A square matrix of shades at every size: an entry of a smaller one is the largest of the four that it stands for, so nothing bright is lost. */

export type Colours = 'linear' | 'root' | 'log';

export interface Level {
  size: number;
  /** Row after row. 0: nothing there; 1 to 255: from nothing to the largest. */
  shades: Uint8Array;
}

/** How far below the largest entry the logarithmic colours go. */
const DECADES = 5;

/** An entry's shade, 0 to 1, where `largest` has 1. */
export function shadeOf(value: number, largest: number, colours: Colours): number {
  if (!(value > 0) || !(largest > 0)) return 0;
  const share = value / largest;
  if (colours === 'linear') return share;
  if (colours === 'root') return Math.sqrt(share);
  return Math.max(0, 1 + Math.log10(share) / DECADES);
}

/** The entry that has a shade. */
export function valueOf(shade: number, largest: number, colours: Colours): number {
  if (colours === 'linear') return shade * largest;
  if (colours === 'root') return shade * shade * largest;
  return largest * 10 ** (DECADES * (shade - 1));
}

/** The entries on and below the diagonal, from (n, n) numbers, and all sizes below. */
export function pyramid(n: number, values: Float64Array, colours: Colours): { levels: Level[]; largest: number } {
  let largest = 0;
  for (let i = 0; i < n; ++i) for (let k = i * n, end = k + i; k <= end; ++k) if (values[k]! > largest) largest = values[k]!;
  const shades = new Uint8Array(n * n);
  const scale = largest > 0 ? 1 / largest : 0;
  for (let i = 0; i < n; ++i)
    for (let k = i * n, end = k + i; k <= end; ++k) {
      const share = values[k]! * scale;
      const shade = colours === 'root' ? Math.sqrt(share) : colours === 'linear' ? share : shadeOf(share, 1, colours);
      shades[k] = 1 + Math.round(254 * shade);
    }
  const levels: Level[] = [{ size: n, shades }];
  while (levels.at(-1)!.size > 64) levels.push(halve(levels.at(-1)!));
  return { levels, largest };
}

function halve({ size, shades }: Level): Level {
  const half = Math.ceil(size / 2);
  const out = new Uint8Array(half * half);
  for (let i = 0; i < half; ++i) {
    const [a, b] = [2 * i * size, Math.min(2 * i + 1, size - 1) * size];
    for (let j = 0; j <= i; ++j) {
      const [c, d] = [2 * j, Math.min(2 * j + 1, size - 1)];
      out[i * half + j] = Math.max(shades[a + c]!, shades[a + d]!, shades[b + c]!, shades[b + d]!);
    }
  }
  return { size: half, shades: out };
}

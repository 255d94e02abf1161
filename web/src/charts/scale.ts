import { extent, ticks as linearTicks } from 'd3-array';
import { scaleLinear, scaleLog, type ScaleContinuousNumeric } from 'd3-scale';

/** Numbers to places. On a logarithmic scale 0 stands on a line of its own at the low end; what is infinite (null) at the high end. */
export interface ValueScale {
  logarithmic: boolean;
  place(value: number | null): number;
  /** Ticks and where they are. */
  ticks(count: number): { at: number; value: number; edge?: 'zero' | 'never' }[];
  /** The scale between the edges. */
  inner: ScaleContinuousNumeric<number, number>;
}

const EDGE = 16;

/** A scale for these values from `low` (a place) to `high`. Logarithmic where asked for and the values span it. */
export function valueScale(values: Iterable<number | null>, logarithmic: boolean, low: number, high: number): ValueScale {
  const all = [...values];
  const finite = all.filter((v): v is number => v !== null && Number.isFinite(v));
  const never = all.some((v) => v === null || v === Infinity);
  const positive = finite.filter((v) => v > 0);
  const [least = 0, most = 1] = extent(positive);
  const isLog = logarithmic && positive.length > 0 && finite.every((v) => v >= 0) && most / least > 20;
  const zero = isLog && positive.length < finite.length;
  const towards = Math.sign(high - low);
  const inner: [number, number] = [low + (zero ? towards * EDGE : 0), high - (never ? towards * EDGE : 0)];
  let scale: ScaleContinuousNumeric<number, number>;
  if (isLog) {
    scale = scaleLog().domain([least, most]).range(inner);
    const [a, b] = [Math.log10(least), Math.log10(most)];
    const pad = Math.max(0.04 * (b - a), 0.02);
    scale.domain([10 ** (a - pad), 10 ** (b + pad)]);
  } else {
    let [a = 0, b = 1] = extent(finite);
    if (a > 0 && (a < 0.6 * b || a === b)) a = 0;
    if (a === b) [a, b] = a === 0 ? [0, 1] : [a - Math.abs(a) / 2, b + Math.abs(b) / 2];
    scale = scaleLinear().domain([a, b]).nice(6).range(inner);
  }
  const place = (value: number | null): number => {
    if (value === null || value === Infinity) return high;
    if (isLog && value <= 0) return low;
    return scale(value);
  };
  return {
    logarithmic: isLog,
    place,
    inner: scale,
    ticks(count) {
      const [a, b] = scale.domain() as [number, number];
      const marks = (isLog ? logTicks(a, b, count) : linearTicks(a, b, count)).map((value) => ({ at: scale(value), value }));
      return [
        ...(zero ? [{ at: low, value: 0, edge: 'zero' as const }] : []),
        ...marks,
        ...(never ? [{ at: high, value: Infinity, edge: 'never' as const }] : []),
      ];
    },
  };
}

/** Round numbers between a and b: powers of ten, and 2 and 5 of each where there is room. */
export function logTicks(a: number, b: number, count: number): number[] {
  const first = Math.floor(Math.log10(a));
  const last = Math.ceil(Math.log10(b));
  const within = (v: number) => v >= a * (1 - 1e-9) && v <= b * (1 + 1e-9);
  const of = (factors: number[], every = 1) => {
    const marks: number[] = [];
    for (let e = first; e <= last; ++e)
      if (((e % every) + every) % every === 0) marks.push(...factors.map((f) => Number(`${f}e${e}`)));
    return marks.filter(within);
  };
  for (const factors of [
    [1, 2, 3, 5, 7],
    [1, 2, 5],
    [1, 3],
  ]) {
    const marks = of(factors);
    if (marks.length <= count && marks.length > 1) return marks;
  }
  for (let every = 1; every <= 64; every *= 2) {
    const marks = of([1], every);
    if (marks.length <= count && marks.length > 0) return marks;
  }
  return [a, b];
}

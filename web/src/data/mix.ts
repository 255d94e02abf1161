/** Shares of the heads in a mix: not negative, summing to one. A head with 0 is off. They are what the reader enters; the core measures. */
import { headName } from './intervals';

/** Gives a head a share; the others keep their proportions. */
export function withShare(shares: readonly number[], head: number, share: number): number[] {
  const rest = shares.reduce((sum, value, h) => sum + (h === head ? 0 : value), 0);
  if (rest <= 0) return shares.map((_, h) => (h === head ? 1 : 0));
  const clamped = Math.max(0, Math.min(1, share));
  return shares.map((value, h) => (h === head ? clamped : (value / rest) * (1 - clamped)));
}

/** Weights of all heads in the proportions of a mix; those that are off get the place they have in `given`. */
export function withAll(shares: readonly number[], given: readonly number[]): number[] {
  const on = shares.map((value) => value > 0);
  const sum = (list: readonly number[]) => list.reduce((total, value, h) => total + (on[h] ? value : 0), 0);
  const known = sum(given);
  const factor = known > 0 ? sum(shares) / known : 1;
  const filled = shares.map((value, h) => (on[h] ? value : given[h]! * factor));
  const total = filled.reduce((a, b) => a + b, 0);
  return filled.map((value) => value / total);
}

/**
 * Switches a head: on with its place among all, off with none. The last one stays on. A head that weighs 0 in the data stays off: no
 * weight is made up for it.
 */
export function switched(shares: readonly number[], head: number, given: readonly number[]): number[] {
  if (shares[head]! > 0) return shares.some((value, h) => h !== head && value > 0) ? withShare(shares, head, 0) : [...shares];
  const on = shares.map((value, h) => value > 0 || h === head);
  return only(withAll(shares, given), on) ?? [...shares];
}

/** These heads alone, in the proportions they have; nothing where all of them weigh 0. */
export function only(weights: readonly number[], on: readonly boolean[]): number[] | null {
  const total = weights.reduce((sum, value, h) => sum + (on[h] ? value : 0), 0);
  return total > 0 ? weights.map((value, h) => (on[h] ? value / total : 0)) : null;
}

/** What is said when heads are switched on that weigh 0. */
export const weightlessWords = (names: readonly string[]): string =>
  names.length === 1
    ? `${headName(names[0]!)[0]!.toUpperCase()}${headName(names[0]!).slice(1)} has weight 0: it stays off until its slider gives it a weight.`
    : `Heads ${names.join(', ')} have weight 0: they stay off until their sliders give them a weight.`;

/** The heads that are on, as bits. */
export const bits = (shares: readonly number[]): number =>
  shares.reduce((set, value, h) => (value > 0 ? set | (1 << h) : set), 0);

/** How many bits are set. */
export function size(set: number): number {
  let count = 0;
  for (let rest = set; rest; rest &= rest - 1) ++count;
  return count;
}

/** Heads as a reader says them: `0–3 5`, `all but 4`. */
export function setName(set: number, names: readonly string[]): string {
  const on = names.filter((_, h) => (set >> h) & 1);
  if (on.length === 0) return 'no head';
  if (on.length === names.length) return names.length === 1 ? `head ${names[0]}` : 'all heads';
  if (on.length === names.length - 1 && names.length > 3) return `all but ${names.find((_, h) => !((set >> h) & 1))}`;
  return `${on.length === 1 ? 'head' : 'heads'} ${on.join(' ')}`;
}

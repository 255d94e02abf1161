/** Numbers that are only known to lie between two ends, and those that are no numbers, in words. */
import type { Metrics, Together } from '../core';
import { digits } from '../quantities';

/** Two ends; one number where they are the same. Without an upper end there is none. */
export function interval(low: number, high: number | null, precision = 4): string {
  if (high === null) return `at least ${digits(low, precision)}`;
  const [from, to] = [digits(low, precision), digits(high, precision)];
  return high > low && from !== to ? `${from} to ${to}` : from;
}

/** A minimax fidelity: a number where it is certified. */
export const fidelityText = ({ minimax_fidelity: of }: Pick<Metrics, 'minimax_fidelity'>, precision = 4): string =>
  of.certified ? digits(of.value, precision) : interval(of.value, of.upper, precision);

type Synergy = Pick<Together, 'synergy' | 'synergy_lower' | 'synergy_upper' | 'synergy_present'>;

/** A synergy: a number, an interval, infinite where the best head alone delivers nothing. */
export function synergyText(of: Synergy, precision = 4): string {
  if (of.synergy !== null) return digits(of.synergy, precision);
  if (of.synergy_lower !== null) return interval(of.synergy_lower, of.synergy_upper, precision);
  return of.synergy_present === true ? '∞' : 'none';
}

/** What a synergy without a number is. */
export function synergyNote(of: Synergy): string {
  if (of.synergy !== null) return '';
  if (of.synergy_present === null) return 'undecided: the heads may or may not beat it';
  if (of.synergy_lower !== null) return of.synergy_present ? 'present' : 'absent';
  return of.synergy_present ? 'present: the best head delivers nothing' : 'no head delivers anything';
}

/** The best head by its fidelity alone, and whether that is settled. */
export const bestHeadText = (
  of: Pick<Together, 'best_head' | 'best_head_decided' | 'best_head_fidelity' | 'best_head_fidelity_upper'>,
) =>
  `best alone: ${headName(of.best_head)}, ${interval(of.best_head_fidelity, of.best_head_fidelity_upper)}${of.best_head_decided ? '' : ' (undecided)'}`;

/** A head as a reader says it; names that say so themselves are left alone. */
export const headName = (name: string) => (/^head\b/i.test(name) ? name : `head ${name}`);

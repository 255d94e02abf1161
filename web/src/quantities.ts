/** Every quantity that the page shows: its name, what it means, how its numbers are written. All views take them from here. */

export type Kind = 'steps' | 'share' | 'ratio' | 'change';

export interface Quantity {
  /** Its name in the program's documents. */
  id: string;
  label: string;
  /** For axes and narrow columns. */
  short: string;
  about: string;
  kind: Kind;
  /** Which end is good. */
  better: 'low' | 'high' | null;
  /** Whether values are usually orders of magnitude apart. */
  logarithmic: boolean;
}

const quantity = (
  id: string,
  label: string,
  short: string,
  kind: Kind,
  better: Quantity['better'],
  about: string,
  logarithmic = kind === 'steps',
): Quantity => ({ id, label, short, kind, better, about, logarithmic });

const LIST: Quantity[] = [
  quantity(
    'minimax_fidelity',
    'Minimax fidelity',
    'fidelity',
    'share',
    'high',
    'the weakest peak signal that any token delivers to the last one',
    true,
  ),
  quantity(
    'minimax_fidelity_upper',
    'Minimax fidelity, upper end',
    'fidelity, at most',
    'share',
    'high',
    'what the fidelity is at most; the same where it is certified',
    true,
  ),
  quantity(
    'minimax_time',
    'Time of the minimax fidelity',
    'at step',
    'steps',
    null,
    'the step at which the weakest token’s signal peaks',
  ),
  quantity(
    'truncated_hitting_mean',
    'Hitting time, mean, cut',
    'hit cut',
    'steps',
    'low',
    'expected steps of a random walk to the last token, every walk cut at the cutoff, mean over all start tokens: the paper’s mixing time',
  ),
  quantity(
    'truncated_hitting_max',
    'Hitting time, largest, cut',
    'hit cut max',
    'steps',
    'low',
    'the same from the slowest start token',
  ),
  quantity(
    'hitting_mean',
    'Hitting time, mean',
    'hit mean',
    'steps',
    'low',
    'expected steps of a random walk to the last token, mean over all start tokens',
  ),
  quantity('hitting_max', 'Hitting time, largest', 'hit max', 'steps', 'low', 'the same from the slowest start token'),
  quantity(
    'forward_probability',
    'Forward probability',
    'p',
    'share',
    'high',
    'least probability of a step forward, over the sources',
  ),
  quantity(
    'effective_forward_probability',
    'Effective forward probability',
    'Σ w p',
    'share',
    'high',
    'the heads’ forward probabilities, weighted',
  ),
  quantity(
    'best_head_fidelity',
    'Fidelity of the best head',
    'best head’s',
    'share',
    'high',
    'minimax fidelity of the head that is best alone, on each sample its own',
    true,
  ),
  quantity(
    'synergy',
    'Synergy',
    'synergy',
    'ratio',
    'high',
    'fidelity of all heads together over that of the best head; above 1 they beat their best member',
    false,
  ),
  quantity(
    'mixing_synergy',
    'Mixing synergy',
    'mixing synergy',
    'ratio',
    'high',
    'mixing time of the fastest head over that of all together',
    false,
  ),
  quantity(
    'cross_head_share',
    'Cross-head share',
    'cross-head',
    'share',
    null,
    'share of the weakest signal that changes head on its way',
    false,
  ),
  quantity('weight', 'Head weight', 'weight', 'share', null, 'what the head counts in the combination', false),
  quantity(
    'best_share',
    'Samples in which it is the best head',
    'best in',
    'share',
    null,
    'share of the samples in which this head has the largest fidelity',
    false,
  ),
  quantity(
    'speed',
    'Speed',
    'speed',
    'share',
    'high',
    'share of the steps up to the cutoff that a walk saves on its way to the last token',
    false,
  ),
  quantity(
    'shapley',
    'Shapley value',
    'Shapley',
    'change',
    'high',
    'the head’s part of the value of all: what it adds to those before it in a random order, on average',
    false,
  ),
  quantity('banzhaf', 'Banzhaf value', 'Banzhaf', 'change', 'high', 'what the head adds to a random set of the others', false),
  quantity('alone', 'Value alone', 'alone', 'share', 'high', 'the value of this head as the only one', false),
  quantity(
    'dropped',
    'Lost without it',
    'lost',
    'change',
    null,
    'what all heads lose without this one; below 0 they are better without it',
    false,
  ),
  quantity(
    'stack_share',
    'Share of the weakest token’s signal',
    'share',
    'share',
    null,
    'of the signal that the followed token sends through all layers, the part that passes through this head; the rest of a layer passes beside its heads',
    false,
  ),
  quantity(
    'interaction',
    'Interaction',
    'interaction',
    'change',
    null,
    'Shapley interaction index of a pair: above 0 complementary, below 0 redundant',
    false,
  ),
];

const BY_ID = new Map(LIST.map((q) => [q.id, q]));

/** A quantity by its name in the documents; names that are not known are shown as they are. */
export function quantityOf(id: string): Quantity {
  const known = BY_ID.get(id);
  if (known) return known;
  const mixing = /^mixing_time_(.+)$/.exec(id);
  if (mixing) {
    const name = `T_mix(${mixing[1]})`;
    return quantity(
      id,
      `Mixing time ${name}`,
      name,
      'steps',
      'low',
      `steps after which a walk from any token has reached the last one but for a chance of ${mixing[1]}`,
    );
  }
  return quantity(id, id.replaceAll('_', ' '), id.replaceAll('_', ' '), 'ratio', null, '', false);
}

/** At most so many digits, without zeros at the end; small and large numbers with an exponent. */
export function digits(value: number, precision = 4): string {
  if (value === 0) return '0';
  const size = Math.abs(value);
  const rounded = Number(value.toPrecision(precision));
  if (size >= 1e-4 && size < 1e6) return String(rounded).replace('-', '−');
  return rounded.toExponential().replace('e+', 'e').replaceAll('-', '−');
}

/** A number for reading. `null` of steps is a time that is never reached; of other quantities, what does not exist. */
export function format(q: Quantity, value: number | null | undefined, precision = 4): string {
  if (value === undefined || (typeof value === 'number' && Number.isNaN(value))) return '–';
  if (value === null || value === Infinity) return q.kind === 'steps' ? 'never' : 'none';
  return digits(value, precision);
}

/** A mean and its spread: `0.0042 ± 0.0008`. */
export function formatSpread(q: Quantity, mean: number | null, spread: number | null, precision = 4): string {
  const text = format(q, mean, precision);
  return mean === null || spread === null || !Number.isFinite(spread) ? text : `${text} ± ${digits(spread, 2)}`;
}

/** A share as a percentage. */
export const percent = (share: number): string => `${digits(share * 100, 3)} %`;

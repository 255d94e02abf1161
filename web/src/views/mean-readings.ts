/** Numbers that are means over samples, as the overview prints them. */
import { spreadText, type Spread } from '../data/layers';
import type { MeanNumbers } from '../data/measure-layer';
import type { MeanMix } from '../data/mean';
import { digits, percent, quantityOf } from '../quantities';
import type { Reading } from '../ui/controls';

/** What is beside a mean: how far samples spread, and those it is not of. */
function besides(id: string, of: Spread): string {
  const times = quantityOf(id).kind === 'steps';
  return [
    of.mean !== null && of.spread !== null && of.samples > 1 ? `±\u00a0${digits(of.spread, 2)}` : '',
    of.never > 0 ? `${of.never} of ${of.samples} ${times ? 'never' : 'infinite'}` : '',
    of.undecided ? `${of.undecided} of ${of.samples} undecided` : '',
  ]
    .filter(Boolean)
    .join(' · ');
}

function reading(id: string, of: Spread | null, note = ''): Reading[] {
  if (!of) return [];
  const q = quantityOf(id);
  return [
    {
      id,
      label: q.label,
      value: spreadText(q, of),
      about: q.about,
      below: [note, besides(id, of)].filter(Boolean).join(' · '),
    },
  ];
}

/** The quantities that the readings have, in their order. */
const ids = (eps: readonly number[], together: boolean) => [
  'minimax_fidelity',
  ...eps.map((one) => `mixing_time_${one}`),
  'hitting_mean',
  'truncated_hitting_mean',
  ...(together ? ['synergy', 'cross_head_share'] : []),
];

/** Of a layer. */
export const meanReadings = (numbers: MeanNumbers, eps: readonly number[], together: boolean): Reading[] =>
  ids(eps, together).flatMap((id) => reading(id, numbers.get(id), `mean of ${numbers.samples} samples`));

/** Of a mix, beside the means with the data's weights. */
export function meanMixReadings(mix: MeanMix, reference: MeanMix | null, heads: number): Reading[] {
  const eps = mix.combined.mixing_time.map((one) => one.eps);
  const list = ids(eps, heads > 1);
  list.splice(list.indexOf('hitting_mean') + 1, 0, 'hitting_max');
  return list.flatMap((id) => {
    const [of, given] = [mix.spreads.get(id) ?? null, reference?.spreads.get(id) ?? null];
    const { better } = quantityOf(id);
    const comparable = of?.mean != null && given?.mean && of.never === given.never && of.undecided === given.undecided;
    const ratio = comparable ? of.mean! / given.mean! - 1 : 0;
    const change = Math.abs(ratio) < 5e-4 ? '' : `${ratio > 0 ? '+' : '−'}${percent(Math.abs(ratio))}`;
    const tone = change && better ? (ratio > 0 === (better === 'high') ? ('good' as const) : ('bad' as const)) : undefined;
    return reading(id, of, change).map((one) => ({ ...one, tone }));
  });
}

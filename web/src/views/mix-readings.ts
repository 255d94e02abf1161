import type { Mix } from '../core';
import { bestHeadText, fidelityText, synergyNote, synergyText } from '../data/intervals';
import { format, percent, quantityOf } from '../quantities';
import type { Reading } from '../ui/controls';
import { isMean } from '../data/mean';
import { meanMixReadings } from './mean-readings';

/** Numbers of a mix, and what they are beside those of the data's weights. */
export function mixReadings(mix: Mix, reference: Mix | null, heads: number, weakest: string): Reading[] {
  if (isMean(mix)) return meanMixReadings(mix, reference && isMean(reference) ? reference : null, heads);
  /** `text`: of a number that may be an interval; then only certain numbers are compared. */
  const reading = (id: string, get: (mix: Mix) => number | null, note?: string, text?: (mix: Mix) => string): Reading => {
    const q = quantityOf(id);
    const value = get(mix);
    const given = reference ? get(reference) : null;
    const same = value === given || (value !== null && given !== null && Math.abs(value - given) < 5e-4 * Math.abs(given));
    const order = (value ?? Infinity) - (given ?? Infinity);
    const certain = !text || [mix, reference].every((of) => !of || text(of) === format(q, get(of)));
    const good = q.better === null || !certain || same || !reference ? undefined : order > 0 === (q.better === 'high');
    const change = !reference
      ? ''
      : (text ?? ((of: Mix) => format(q, get(of))))(mix) === (text ?? ((of: Mix) => format(q, get(of))))(reference) && same
        ? ''
        : certain && value !== null && given
          ? `${order > 0 ? '+' : '−'}${percent(Math.abs(value / given - 1))}`
          : `data: ${text ? text(reference) : format(q, given)}`;
    return {
      id,
      label: q.label,
      value: text ? text(mix) : format(q, value),
      about: q.about,
      tone: good === undefined ? undefined : good ? 'good' : 'bad',
      below: [change, note ?? ''].filter(Boolean).join(' · ') || (reference ? 'as in the data' : ''),
    };
  };
  const { combined } = mix;
  return [
    reading(
      'minimax_fidelity',
      (m) => m.combined.minimax_fidelity.value,
      `${weakest}${combined.minimax_fidelity.certified ? '' : ', not certified'}`,
      (m) => fidelityText(m.combined),
    ),
    ...combined.mixing_time.map(({ eps }, i) => reading(`mixing_time_${eps}`, (m) => m.combined.mixing_time[i]?.steps ?? null)),
    reading('hitting_mean', (m) => m.combined.hitting_time.mean),
    reading('hitting_max', (m) => m.combined.hitting_time.max),
    reading('truncated_hitting_mean', (m) => m.combined.truncated_hitting_time.mean),
    ...(heads > 1
      ? [
          reading('synergy', (m) => m.synergy, [synergyNote(mix), bestHeadText(mix)].filter(Boolean).join(' · '), synergyText),
          reading('cross_head_share', (m) => m.cross_head_share),
        ]
      : []),
  ];
}

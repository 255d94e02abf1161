import type { Mix } from '../core';
import { digits, format, percent, quantityOf } from '../quantities';
import type { Reading } from '../ui/controls';

/** Numbers of a mix, and what they are beside those of the data's weights. */
export function mixReadings(mix: Mix, reference: Mix | null, heads: number, weakest: string): Reading[] {
  const reading = (id: string, get: (mix: Mix) => number | null, note?: string): Reading => {
    const q = quantityOf(id);
    const value = get(mix);
    const given = reference ? get(reference) : null;
    const same = value === given || (value !== null && given !== null && Math.abs(value - given) < 5e-4 * Math.abs(given));
    const order = (value ?? Infinity) - (given ?? Infinity);
    const good = q.better === null || same || !reference ? undefined : order > 0 === (q.better === 'high');
    const change = !reference
      ? ''
      : same
        ? ''
        : value !== null && given
          ? `${order > 0 ? '+' : '−'}${percent(Math.abs(value / given - 1))}`
          : `data: ${format(q, given)}`;
    return {
      label: q.label,
      value: format(q, value),
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
      `token ${weakest}${combined.minimax_fidelity.certified ? '' : `, at most ${digits(combined.minimax_fidelity.upper)}`}`,
    ),
    ...combined.mixing_time.map(({ eps }, i) => reading(`mixing_time_${eps}`, (m) => m.combined.mixing_time[i]?.steps ?? null)),
    reading('hitting_mean', (m) => m.combined.hitting_time.mean),
    reading('hitting_max', (m) => m.combined.hitting_time.max),
    reading('truncated_hitting_mean', (m) => m.combined.truncated_hitting_time.mean),
    ...(heads > 1
      ? [
          reading('synergy', (m) => m.synergy, `best: head ${mix.best_head}`),
          reading('cross_head_share', (m) => m.cross_head_share),
        ]
      : []),
  ];
}

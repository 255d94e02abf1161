import { backwardNumbers } from '../data/backward';
import { bestHeadText, fidelityText, synergyNote, synergyText } from '../data/intervals';
import { digits, format, quantityOf } from '../quantities';
import type { Reading } from '../ui/controls';
import type { ShownLayer } from './layer-model';

function reading(id: string, value: number | null | string, below = ''): Reading {
  const q = quantityOf(id);
  return { id, label: q.label, value: typeof value === 'string' ? value : format(q, value), about: q.about, below };
}

/** The numbers of a layer on one sample. */
export function metricReadings({ of, document, together, weakestPhrase }: ShownLayer): Reading[] {
  const { minimax_fidelity: fidelity, mixing_time, hitting_time, truncated_hitting_time } = of;
  const when = fidelity.time === null ? 'approached, never attained' : `step ${digits(fidelity.time)}`;
  const list = [
    reading('minimax_fidelity', fidelityText(of), `${fidelity.certified ? '' : 'not certified; '}${weakestPhrase}, ${when}`),
    ...mixing_time.map(({ eps, steps }) => reading(`mixing_time_${eps}`, steps, 'steps')),
    reading('hitting_mean', hitting_time.mean, `largest ${format(quantityOf('hitting_max'), hitting_time.max)}`),
    reading('truncated_hitting_mean', truncated_hitting_time.mean, `walks cut at ${document.settings.cutoff} steps`),
    ...backwardNumbers(of).map(([id, value]) => reading(id, value)),
  ];
  if (together) {
    const notes = [synergyNote(document), bestHeadText(document)].filter(Boolean).join(' · ');
    list.push(reading('synergy', synergyText(document), notes), reading('cross_head_share', document.cross_head_share));
  }
  return list;
}

/** The numbers of averages and the way back, where the data were measured with them (`--backward`). */
import type { Maybe, Metrics } from '../core';

/** Each by its quantity, in the order of the rows; nothing where they were not measured. */
export const backwardNumbers = (of: Metrics): [id: string, value: Maybe][] => [
  ...(of.averaged_mixing_time ?? []).map(({ eps, steps }): [string, Maybe] => [`averaged_mixing_time_${eps}`, steps]),
  ...(of.normalised_fidelity === undefined ? [] : ([['normalised_fidelity', of.normalised_fidelity]] as [string, Maybe][])),
  ...(of.backward_hitting_time === undefined ? [] : ([['backward_hitting_time', of.backward_hitting_time]] as [string, Maybe][])),
  ...(of.backward_mixing_time ?? []).map(({ eps, steps }): [string, Maybe] => [`backward_mixing_time_${eps}`, steps]),
  ...(of.fidelity_tightness === undefined ? [] : ([['fidelity_tightness', of.fidelity_tightness]] as [string, Maybe][])),
];

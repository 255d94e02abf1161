import type { PublishedValue } from '../core';

type Convention = 'exact' | 'published';

/** Whether the paper's values are of the same kind as ours: it measured times by the published walk; fidelities are almost the same by both. */
export const comparable = (quantity: string, convention: Convention) =>
  quantity === 'minimax_fidelity' || (quantity === 'truncated_hitting_mean' && convention === 'published');

/** What the paper has printed of a model, beside which ours can stand. */
export const printed = (
  values: PublishedValue[],
  {
    task,
    heads,
    quantity,
    convention,
  }: { task: string | undefined; heads: number | undefined; quantity: string; convention: Convention },
) =>
  comparable(quantity, convention)
    ? values.filter((one) => one.quantity === quantity && one.task === task && one.heads === heads)
    : [];

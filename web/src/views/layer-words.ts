/** What the Layer view says of a mean over samples. */
import type { MeanNumbers } from '../data/measure-layer';
import type { Selection } from '../data/selection';

/** The caption of the matrix. */
export const matrixWords = ({ sample, info }: Selection): string =>
  `Rows are queries, columns are keys. Each entry is the weight that a query gives to a key${
    sample === 'mean' ? `, mean over the ${info.samples.length} samples in this page` : ''
  }. ▾ marks ${sample === 'mean' ? 'the token with the lowest mean fidelity' : 'the weakest token'}.`;

/** What is averaged, over how many samples. */
export const meanNoteWords = (numbers: MeanNumbers, { info }: Selection): string =>
  [
    numbers.ofDocument
      ? `Numbers are means over all ${numbers.samples} samples, as in the overview: each sample is measured by itself.`
      : `Numbers are means over the ${numbers.samples} samples in this page: each sample is measured by itself.`,
    `Attention and curves are averaged over the ${info.samples.length} samples in this page.`,
    'No number is measured on the mean attention.',
  ].join(' ');

/** The same of a mix. */
export const meanMixWords = ({ sample, info }: Selection): string =>
  sample === 'mean'
    ? `Numbers are means over the ${info.samples.length} samples in this page. Each sample is measured by itself with these weights; no number is measured on the mean attention.`
    : '';

/** The caption of the tokens' fidelities. */
export const fidelityWords = ({ sample }: Selection): string =>
  `The largest signal that each token ever delivers to the last one. ${
    sample === 'mean' ? 'Means over samples; the lowest is marked.' : 'The weakest is marked.'
  }`;

/** Above so many tokens nothing is measured before it is asked for. */
export const AT_ONCE = 600;

/** The same of a mean: tokens times samples. */
const MEAN_AT_ONCE = 10_000;

/** Whether measuring takes so long that it is asked for first. */
export const isLong = ({ info, sample }: Selection): boolean =>
  info.tokens > AT_ONCE || (sample === 'mean' && info.tokens * info.samples.length > MEAN_AT_ONCE);

/** What takes long. */
export const longWords = ({ info, sample }: Selection): string =>
  `${info.tokens} tokens${sample === 'mean' ? ` on ${info.samples.length} samples` : ''}`;

import type { BestWeights, Core, MeasureOptions, Metrics, Mix, Mixer, Subsets } from '../core';
import { meanMix, meanSubsets } from './mean';
import type { Selection } from './selection';
import type { Attention } from './session';

/** The heads of a layer on several samples: every number is the mean of the samples' own. */
class MeanMixer implements Mixer {
  constructor(private readonly samples: readonly Mixer[]) {}

  get headNames(): readonly string[] {
    return this.samples[0]!.headNames;
  }
  get nodeNames(): readonly string[] {
    return this.samples[0]!.nodeNames;
  }
  get heads(): readonly Metrics[] {
    return this.samples[0]!.heads;
  }
  get initialWeights(): readonly number[] {
    return this.samples[0]!.initialWeights;
  }

  async update(weights: ArrayLike<number>): Promise<Mix | null> {
    const mixes = await Promise.all(this.samples.map((one) => one.update(weights)));
    const done = mixes.filter((mix) => mix !== null);
    return done.length === mixes.length ? meanMix(done, this.nodeNames) : null;
  }

  async subsets(weights: ArrayLike<number>): Promise<Subsets> {
    return meanSubsets(await Promise.all(this.samples.map((one) => one.subsets(weights))));
  }

  bestWeights(): Promise<BestWeights> {
    return Promise.reject(new Error('Best weights exist for single samples only: choose a sample.'));
  }

  close(): void {
    for (const one of this.samples) one.close();
  }
}

/** The heads of what is selected: a layer on a sample, or on all of them. */
export async function openMixer(core: Core, attention: Attention, selection: Selection, options: MeasureOptions): Promise<Mixer> {
  const { layer, sample, info } = selection;
  if (sample !== 'mean') return core.mixer(attention.system(layer, sample), options);
  const opened: Mixer[] = [];
  try {
    for (const s of info.samples.keys()) opened.push(await core.mixer(attention.system(layer, s), options));
  } catch (error) {
    for (const one of opened) one.close();
    throw error;
  }
  return new MeanMixer(opened);
}

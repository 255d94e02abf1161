/** Times of the core without a browser: `npx vitest bench --run src/core`. */

import { bench, describe } from 'vitest';
import { openTestCore, randomSystem } from './testing';
import type { Mixer } from './types';

const core = await openTestCore();

/** An update, with weights that change. */
function benchUpdates(name: string, mixer: Mixer): void {
  const heads = mixer.headNames.length;
  let k = 0;
  bench(`update, ${name}`, async () => {
    k += 1;
    await mixer.update(Array.from({ length: heads }, (_, h) => 1 + ((7 * h + k) % 10)));
  });
}

for (const [heads, tokens] of [[4, 50], [16, 100], [16, 200]] as const) {
  const system = randomSystem(heads, tokens);
  const mixer = await core.mixer(system);
  const published = await core.mixer(system, { convention: 'published' });
  describe(`${heads} heads, ${tokens} tokens`, () => {
    benchUpdates('exact', mixer);
    benchUpdates('published', published);
    bench('measure all', async () => {
      await core.measure(system);
    });
    bench('curves, 100 steps', async () => {
      await core.curves(system, { steps: 100 });
    });
  });
}

const eight = await core.mixer(randomSystem(8, 100));
describe('8 heads, 100 tokens', () => {
  bench('subsets', async () => {
    await eight.subsets(eight.initialWeights);
  });
});

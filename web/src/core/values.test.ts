/** The core's numbers are the program's: T_mix bit by bit (kernels of x86-64-v2), the rest to 1e-12. */

import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { dataBytes, dataFile, dataJson, openTestCore, program, programJson } from './testing';
import type { HeadsDocument } from './documents';
import type { Core } from './types';

const EXACT = /mixing_time|^isa$|^schema/;

/** Compares documents; what is a mixing time must be the same to the last bit. */
function expectSame(ours: unknown, theirs: unknown, path: string, exact = false): void {
  if (typeof theirs === 'number' && !exact) {
    expect(typeof ours, path).toBe('number');
    expect(Math.abs((ours as number) - theirs), path).toBeLessThanOrEqual(1e-12 * Math.abs(theirs));
  } else if (theirs !== null && typeof theirs === 'object') {
    expect(Object.keys(ours as object), path).toEqual(Object.keys(theirs));
    for (const [key, value] of Object.entries(theirs))
      if (key !== 'isa') expectSame((ours as Record<string, unknown>)[key], value, `${path}.${key}`, exact || EXACT.test(key));
  } else {
    expect(ours, path).toBe(theirs);
  }
}

interface GraphVector {
  name: string;
  n: number;
  weights: number[];
  edges: [number, number][][];
}

interface SoftmaxVector {
  file: string;
  weights: number[];
}

const graphText = ({ n, weights, edges }: GraphVector) =>
  `nodes ${n}\n` + edges.map((list, h) => `head "head ${h}" weight ${weights[h]}\n` + list.map(([from, to]) => `${from} -> ${to}\n`).join('')).join('');

describe.skipIf(program === undefined)('the same numbers as the program', () => {
  let core: Core;
  const directory = mkdtempSync(join(tmpdir(), 'synergraph-'));
  beforeAll(async () => {
    core = await openTestCore();
  });

  for (const vector of dataJson<GraphVector[]>('vectors/graphs.json'))
    for (const convention of ['exact', 'published'] as const)
      it(`graph ${vector.name}, ${convention}`, async () => {
        const text = graphText(vector);
        const file = join(directory, 'graph.txt');
        writeFileSync(file, text);
        const ours = await core.measure({ graph: text }, { convention, eps: [0.25, 0.01] });
        expectSame(ours, programJson('graph', file, '--convention', convention, '--eps', '0.25,0.01', '--json'), vector.name);
      });

  for (const vector of dataJson<SoftmaxVector[]>('vectors/softmax.json')) {
    const options = { convention: ['exact', 'published'] as never, per_head: true, eps: [0.25, 0.001] };
    const flags = ['--per-head', '--convention', 'both', '--eps', '0.25,0.001', '--json', '-'];
    it(`attention ${vector.file}`, async () => {
      const file = await core.open(vector.file, dataBytes(`vectors/${vector.file}`));
      expectSame(await file.analyze(options), programJson('analyze', dataFile(`vectors/${vector.file}`), ...flags), vector.file);
      file.close();
    });
  }

  it('what heads are worth', async () => {
    const name = 'subsets/heads.npy';
    const file = await core.open('heads.npy', dataBytes(name));
    const { layers } = programJson('heads', dataFile(name), '--weight-samples', '0', '--json', '-') as HeadsDocument;
    for (const [layer, { samples, values }] of layers.entries()) {
      const means = new Map<string, number[]>();
      for (let sample = 0; sample < samples; sample++) {
        const mixer = await core.mixer({ file, layer, sample });
        for (const { value, shapley } of (await mixer.subsets(mixer.initialWeights)).values)
          means.set(value, shapley.map((number, h) => number / samples + (means.get(value)?.[h] ?? 0)));
        mixer.close();
      }
      for (const { value, heads } of values)
        heads.forEach(({ shapley }, h) => expect(means.get(value)![h]).toBeCloseTo(shapley.mean!, 12));
    }
    file.close();
  });
});

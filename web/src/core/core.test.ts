import { beforeAll, describe, expect, it } from 'vitest';
import { dataBytes, openTestCore, randomSystem, safetensors } from './testing';
import { CoreError, type Core } from './types';

let core: Core;
beforeAll(async () => {
  core = await openTestCore();
});

const sum = (numbers: Iterable<number>) => [...numbers].reduce((a, b) => a + b, 0);

describe('the core', () => {
  it('says what it is', async () => {
    expect(await core.version()).toEqual({ version: expect.stringMatching(/^\d+\.\d+\.\d+$/) as string, isa: 'wasm-simd128' });
  });

  it('measures the worked example', async () => {
    const { text } = await core.graph({ example: 1 });
    const { combined, synergy_present } = await core.measure({ graph: text });
    expect(combined.minimax_fidelity).toMatchObject({ value: 0.421875, node: 'v', time: 3, certified: true });
    expect(combined.hitting_time.node).toEqual([8, 4, 0]);
    expect(combined.mixing_time).toEqual([{ eps: 0.25, steps: 10 }]);
    expect(synergy_present).toBe(true);
  });

  it('takes lower and full rows alike', async () => {
    const lower = randomSystem(2, 7);
    const heads = lower.heads.map(({ bytes }) => {
      const from = new Float64Array(bytes.buffer);
      const full = new Float64Array(49);
      for (let i = 0, k = 0; i < 7; i++) for (let j = 0; j <= i; j++) full[7 * i + j] = from[k++]!;
      return { bytes: new Uint8Array(full.buffer), dtype: 'float64' as const, rows: 'full' as const };
    });
    expect(await core.measure({ tokens: 7, heads })).toEqual(await core.measure(lower));
  });

  it('draws curves that its numbers follow from', async () => {
    const system = randomSystem(3, 12);
    const { combined, heads } = await core.measure(system);
    const curves = await core.curves(system, { steps: 600 });
    expect(curves.series.map(({ name }) => name)).toEqual(['0', '1', '2', 'combined']);
    [...heads, combined].forEach((metrics, k) => {
      const { survival, meanSurvival, signal, minimax } = curves.series[k]!;
      expect(survival.findIndex((value) => value <= 0.25)).toBe(metrics.mixing_time[0]!.steps);
      expect(sum(meanSurvival)).toBeCloseTo(metrics.hitting_time.mean!, 8);
      expect(minimax.at(-1)).toBeCloseTo(metrics.minimax_fidelity.value, 12);
      expect(sum(signal.subarray(12 * 600))).toBeCloseTo(1, 12);
      const { time } = metrics.minimax_fidelity;
      expect(signal[12 * time! + Number(metrics.minimax_fidelity.node)]).toBeCloseTo(metrics.minimax_fidelity.value, 12);
    });
  });

  it('shows the matrices that are measured', async () => {
    const system = randomSystem(2, 5);
    const matrices = await Promise.all([core.matrix(system, 0), core.matrix(system, 1), core.matrix(system, { weights: [1, 3] })]);
    const [first, second, together] = matrices.map(({ values }) => values);
    together!.forEach((value, k) => expect(value).toBeCloseTo(0.25 * first![k]! + 0.75 * second![k]!, 15));
  });

  it('plays graphs step by step', async () => {
    const { text, nodes, heads } = await core.graph({ generators: ['chain:5', 'star:5'] });
    expect(nodes).toEqual(['0', '1', '2', '3', '4']);
    expect(heads.map((head) => head.edges.length)).toEqual([9, 9]);
    const { series } = await core.graphSteps(text, { steps: 3 });
    const { walk, walkers, diffusion, reached } = series.at(-1)!;
    for (const row of [0, 1, 2, 3, 4]) {
      expect(sum(walk.subarray(5 * row, 5 * row + 5))).toBeCloseTo(1, 14);
      expect(sum(diffusion.subarray(5 * row, 5 * row + 5))).toBeCloseTo(1, 14);
    }
    expect(walkers!.slice(25, 50)).toEqual(walk);
    expect(reached!.slice(25, 50)).toEqual(diffusion);
    const signal = (await core.curves({ graph: text }, { steps: 3 })).series.at(-1)!.signal;
    reached!.slice(75 + 20).forEach((value, j) => expect(value).toBeCloseTo(signal[15 + j]!, 14));
  });
});

describe('the mixer', () => {
  it('follows weights', async () => {
    const system = randomSystem(4, 20);
    const mixer = await core.mixer(system);
    for (const weights of [[1, 1, 1, 1], [1, 0, 0, 2], [0, 0, 1, 0]]) {
      const { heads, nodes, settings, schema, schema_version, program, isa, ...together } = await core.measure(system, { weights });
      expect(await mixer.update(weights)).toMatchObject({ ...together, weights: heads.map((head) => head.weight) });
    }
    mixer.close();
  });

  it('computes the newest update only', async () => {
    const mixer = await core.mixer(randomSystem(2, 10));
    const updates = await Promise.all([1, 2, 3, 4, 5].map((weight) => mixer.update([1, weight])));
    expect(updates.map((mix) => mix?.weights[1] ?? null)).toEqual([0.5, null, null, null, 5 / 6]);
  });

  it('values subsets', async () => {
    const mixer = await core.mixer(randomSystem(4, 12));
    const subsets = await mixer.subsets([1, 1, 1, 1]);
    for (const { value, table, shapley } of subsets.values) {
      expect(table.length).toBe(16);
      expect(sum(shapley)).toBeCloseTo(table[15]!, 12);
      if (value === 'fidelity') expect(table[15]).toBe((await mixer.update([1, 1, 1, 1]))!.combined.minimax_fidelity.value);
    }
  });

  it('finds weights that are no worse', async () => {
    const mixer = await core.mixer(randomSystem(3, 12));
    const best = await mixer.bestWeights([1, 1, 1], 'fidelity');
    expect(best.value).toBeGreaterThanOrEqual(best.given_value!);
    expect((await mixer.update(best.weights))!.combined.minimax_fidelity.value).toBeCloseTo(best.value!, 12);
  });
});

describe('what goes wrong', () => {
  it('is one line, and the core goes on', async () => {
    const system = randomSystem(1, 3);
    new Float64Array(system.heads[0]!.bytes.buffer)[1] = 7;
    await expect(core.measure(system)).rejects.toThrow(/^sample 0, head 0: row 1 sums to 7/);
    await expect(core.graph({ text: 'nodes 2\nhead a\n1 -> 0\n', source: 'typed' })).rejects.toThrow(/^typed:3: /);
    await expect(core.measure({ graph: 'nodes 2\nhead a\n' }, { eps: 7 })).rejects.toMatchObject({ kind: 'usage' });
    expect((await core.version()).isa).toBe('wasm-simd128');
  });

  it('ends in a fresh instance where the module fails', async () => {
    const mixer = await core.mixer(randomSystem(2, 10));
    const before = await mixer.update([1, 2]);
    const huge = { tokens: 16384, heads: [{ bytes: new Uint8Array(0), dtype: 'float64' as const, rows: 'full' as const }] };
    await expect(core.curves(huge, { steps: 1 })).rejects.toBeInstanceOf(CoreError);
    expect(await mixer.update([1, 2])).toEqual(before);
  });

  it('ends a call that is not wanted any more', async () => {
    const controller = new AbortController();
    const mixer = await core.mixer(randomSystem(6, 30));
    const call = mixer.subsets([1, 1, 1, 1, 1, 1], { signal: controller.signal });
    const other = mixer.bestWeights([1, 1, 1, 1, 1, 1], 'speed');
    controller.abort(new Error('enough'));
    await expect(call).rejects.toThrow('enough');
    expect((await other).value).toBeGreaterThan(0);
  });
});

describe('files', () => {
  it('are read from .npz as from .npy', async () => {
    const inspect = async (name: string) => (await core.inspect(name, dataBytes(`io/${name}`))).tensors;
    expect(await inspect('npz_deflated.npz')).toEqual(await inspect('npz_stored.npz'));
    expect((await inspect('npz_deflated.npz')).length).toBeGreaterThan(0);
  });

  it('are measured by what their heads move', async () => {
    const bytes = dataBytes('vectors/softmax_1.npy');
    const { heads, tokens } = (await core.open('a.npy', bytes)).layers[0]!;
    const open = (name: string, norm: (k: number) => number) =>
      core.open('a.npy', bytes, { moved: { name, bytes: safetensors('norms', [heads, tokens], norm) } });
    // Of equal norms: the attention itself, and equal weights. Of one that is larger than all others: nearly that head.
    const equal = { file: await open('norms.safetensors', () => 2), layer: 0, sample: 0 };
    const [plain, same] = [await core.measure(equal), await core.measure(equal, { edges: 'norm' })];
    expect(same.combined.minimax_fidelity.value).toBeCloseTo(plain.combined.minimax_fidelity.value, 12);
    const matrix = async (edges?: 'norm') => (await core.matrix(equal, { weights: Array(heads).fill(1) as number[] }, edges)).values;
    const [before, after] = [await matrix(), await matrix('norm')];
    before.forEach((value, k) => expect(after[k]).toBeCloseTo(value, 12));
    const first = { file: await open('a.npy', (k) => (k < tokens ? 1e9 : 1)), layer: 0, sample: 0 };
    const moved = await core.measure(first, { edges: 'norm' });
    expect(moved.combined.minimax_fidelity.value).toBeCloseTo(plain.heads[0]!.minimax_fidelity.value, 6);
    expect((await first.file.analyze({ edges: 'norm' })).edges).toBe('norm');
    const mixer = await core.mixer(first, { edges: 'norm' });
    const mix = await mixer.update(Array(heads).fill(1) as number[]);
    expect(mix!.combined.minimax_fidelity.value).toBe(moved.combined.minimax_fidelity.value);
    await expect(core.measure(first, { edges: 'contribution' })).rejects.toThrow(/contribution edges need/);
    const without = { file: await core.open('a.npy', bytes), layer: 0, sample: 0 };
    await expect(core.measure(without, { edges: 'norm' })).rejects.toMatchObject({ kind: 'usage' });
  });

  it('of one name are open side by side', async () => {
    const open = (file: string) => core.open('a.npy', dataBytes(`vectors/${file}`));
    const [small, large] = [await open('softmax_0.npy'), await open('softmax_1.npy')];
    expect((await core.matrix({ file: small, layer: 0, sample: 0 }, 0)).nodes).toBe(small.layers[0]!.tokens);
    expect((await core.matrix({ file: large, layer: 0, sample: 0 }, 0)).nodes).toBe(large.layers[0]!.tokens);
  });
});

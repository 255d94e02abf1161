/** What is measured in the page is measured with the settings of the data: the numbers of `--per-sample` and `graph --json`. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { openTestCore, program, programJson } from '../core/testing';
import type { Core, Metrics, Settings, SystemDocument } from '../core';
import { demoFile } from './demo';
import type { AnalyzeDocument } from '../core';
import { emptySession } from './session';
import { graphMeasurement, measurementOf, optionsOf, settingsWords } from './settings';

const SETTINGS: string[][] = [
  [],
  ['--convention', 'published'],
  ['--normalization', 'per-head'],
  ['--nodes', 'all'],
  ['--horizon', '2'],
  ['--eps', '0.1,0.5', '--cutoff', '7'],
  ['--convention', 'published', '--horizon', 'certified', '--nodes', 'sources'],
];

const close = (ours: number | null, theirs: number | null, what: string) => {
  if (ours === null || theirs === null) expect(ours, what).toBe(theirs);
  else expect(Math.abs(ours - theirs), what).toBeLessThanOrEqual(1e-12 * Math.abs(theirs));
};

describe.skipIf(program === undefined)('measured as the data were', () => {
  let core: Core;
  const path = join(mkdtempSync(join(tmpdir(), 'synergraph-')), 'made.npy');
  const bytes = demoFile(2, 2, 14);
  writeFileSync(path, bytes);
  beforeAll(async () => {
    core = await openTestCore();
  });

  for (const flags of SETTINGS)
    it(`attention ${flags.join(' ')}`, async () => {
      const analyze = programJson('analyze', path, '--quiet', '--json', '-', ...flags) as AnalyzeDocument;
      const csv = execFileSync(program!, ['analyze', path, '--quiet', '--per-head', '--per-sample', '-', ...flags], {
        encoding: 'utf8',
        env: { ...process.env, SYNERGRAPH_ISA: 'v2' },
      });
      const [titles, ...rows] = csv
        .trim()
        .split('\n')
        .map((line) => line.split(','));
      const { options, settings } = measurementOf({ ...emptySession(), analyze }, 'exact');
      const file = await core.open('made.npy', bytes);
      for (const row of rows) {
        const field = (name: string) => row[titles!.indexOf(name)]!;
        const number = (name: string) => (field(name) === 'inf' ? null : Number(field(name)));
        const system = { file, layer: Number(field('layer')), sample: Number(field('sample')) };
        const document = await core.measure(system, options);
        const of: Metrics = field('head') === 'combined' ? document.combined : document.heads[Number(field('head'))]!;
        of.mixing_time.forEach(({ eps, steps }) => expect(steps).toBe(number(`mixing_time_${eps}`)));
        close(of.minimax_fidelity.value, number('minimax_fidelity'), 'fidelity');
        close(of.hitting_time.mean, number('hitting_mean'), 'hitting time');
        close(of.truncated_hitting_time.mean, number('truncated_hitting_mean'), 'cut');
        if (field('head') !== 'combined') continue;
        close(document.synergy, number('synergy'), 'synergy');
        close(document.cross_head_share, number('cross_head_share'), 'cross-head share');
        const mixer = await core.mixer(system, options);
        const mix = (await mixer.update(mixer.initialWeights))!;
        expect(mix.combined.mixing_time).toEqual(of.mixing_time);
        close(mix.combined.minimax_fidelity.value, of.minimax_fidelity.value, 'fidelity of the mix');
        close(mix.combined.hitting_time.mean, of.hitting_time.mean, 'hitting time of the mix');
        mixer.close();
        const curves = await core.curves(system, { ...options, steps: 150 });
        const { minimax, survival } = curves.series.at(-1)!;
        if (settings!.horizon !== 'certified') close(minimax.at(-1)!, of.minimax_fidelity.value, 'curve');
        of.mixing_time.forEach(({ eps, steps }) => {
          if (steps !== null && steps <= 150) expect(survival.findIndex((value) => value <= eps)).toBe(steps);
        });
      }
      file.close();
    });

  for (const flags of [[], ['--convention', 'published'], ['--normalization', 'pooled'], ['--eps', '0.5,0.1', '--cutoff', '3']])
    it(`graph ${flags.join(' ')}`, async () => {
      const graph = programJson('graph', '--example', '2', '--json', ...flags) as SystemDocument;
      const { text } = await core.graph({ example: 2 });
      const { options } = graphMeasurement({ ...emptySession(), graph, graphText: text });
      const { isa: ours, ...rest } = await core.measure({ graph: text }, options);
      const { isa: theirs, ...same } = graph;
      expect(ours).not.toBe(theirs);
      expect(rest.settings).toEqual(same.settings);
      expect(rest.combined.mixing_time).toEqual(same.combined.mixing_time);
      close(rest.combined.minimax_fidelity.value, same.combined.minimax_fidelity.value, 'fidelity');
    });
});

describe('settings', () => {
  const settings: Settings = {
    normalization: 'published',
    cutoff: 7,
    eps: [0.1, 0.5],
    fidelity_nodes: 'all',
    horizon: 100,
    step_limit: 9,
  };
  it('are all given', () =>
    expect(optionsOf(settings)).toEqual({
      normalization: 'published',
      nodes: 'all',
      horizon: 100,
      eps: [0.1, 0.5],
      cutoff: 7,
      step_limit: 9,
    }));
  it('are named', () =>
    expect(settingsWords({ convention: 'published', settings, options: optionsOf(settings), edges: 'attention' })).toBe(
      'Measured by the published convention, published walk, fidelity over all tokens, within 100 steps, ε 0.1, 0.5, hitting times cut at 7 steps.',
    ));
  it('of a graph that is drawn are the core’s own', () => expect(graphMeasurement(emptySession()).options).toEqual({}));
});

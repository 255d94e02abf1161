import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { program, programJson } from '../core/testing';
import { demoFile } from './demo';
import { documentSession } from './open';
import schemas from './schemas.json';

const refusal = (document: unknown) => {
  try {
    documentSession('a.json', typeof document === 'string' ? document : JSON.stringify(document));
    return null;
  } catch (error) {
    return (error as Error).message;
  }
};

/** The results of a small study. */
function study(): { findings: { subsets: unknown } } {
  const folder = mkdtempSync(join(tmpdir(), 'synergraph-'));
  const small = '--layers 2 --width 8 --hidden 8 --vocabulary 9 --length 8 --sequences 20 --batch 10 --epochs 1 --samples 4';
  const grid = '--tasks copy --heads 1,2 --seeds 2 --no-figures --quiet';
  execFileSync(program!, ['reproduce', '--out', folder, ...`${grid} ${small}`.split(' ')]);
  return JSON.parse(readFileSync(join(folder, 'results.json'), 'utf8')) as ReturnType<typeof study>;
}

describe.skipIf(program === undefined)('documents of the program', () => {
  const attention = join(mkdtempSync(join(tmpdir(), 'synergraph-')), 'small.npy');
  writeFileSync(attention, demoFile(1, 2, 6));
  const documents = () => ({
    analyze: programJson('analyze', attention, '--quiet', '--per-head', '--convention', 'both', '--json', '-'),
    plain: programJson('analyze', attention, '--quiet', '--json', '-', '--convention', 'published'),
    heads: programJson('heads', attention, '--quiet', '--stack', '--json', '-'),
    graph: programJson('graph', '--example', '1', '--json'),
    single: programJson('graph', '--generate', 'chain:1', '--json'),
  });
  it('are all taken', () => {
    for (const [name, document] of Object.entries(documents())) expect(refusal(document), name).toBeNull();
  }, 60_000);
  it('of a study, too', () => expect(refusal(study())).toBeNull(), 60_000);

  /** Every field in turn becomes something else: either it does not matter, or there is one line with its place. */
  it('that are damaged are refused in a line, or do not matter', () => {
    for (const document of Object.values(documents())) {
      const visit = (node: unknown, place: string) => {
        if (typeof node !== 'object' || node === null) return;
        for (const key of Object.keys(node)) {
          const holder = node as Record<string, unknown>;
          const kept = holder[key];
          for (const wrong of [undefined, {}, 'x', [null]]) {
            holder[key] = wrong;
            const line = refusal(document);
            if (line !== null) expect(line, `${place}.${key}`).toMatch(/^a\.json: (.+ is (missing|not .+)|no document .+)$/);
            if (line !== null) expect(line.replace('.undefined ', ' ')).not.toMatch(/undefined|Cannot read|\n/);
          }
          holder[key] = kept;
          if (Array.isArray(node) && Number(key) > 0) continue;
          visit(kept, `${place}.${key}`);
        }
      };
      visit(document, '');
    }
  }, 60_000);
  it('name the place', () => {
    const document = programJson('graph', '--example', '1', '--json') as {
      heads: unknown[];
      settings: { eps: unknown };
      schema_version: number;
    };
    expect(refusal({ ...document, heads: [null] })).toBe('a.json: heads[0] is not an object');
    expect(refusal({ ...document, settings: { ...document.settings, eps: 'x' } })).toBe('a.json: settings.eps is not a list');
    expect(refusal({ ...document, schema_version: 99 })).toBe('a.json: schema_version is not 1');
    expect(refusal({ ...document, combined: undefined })).toBe('a.json: combined is missing');
  });
  it('of heads have what heads are worth', () => {
    const { heads } = documents() as unknown as { heads: { layers: { values: unknown[] }[] } };
    heads.layers[0]!.values = [];
    expect(refusal(heads)).toBe('a.json: layers[0].values is not a list with something in it');
  }, 60_000);
});

describe.skipIf(program === undefined)('numbers of subsets in a study', () => {
  const interval = { estimate: 2, low: 1, high: 3 };
  const { properties } = schemas.parts.SubsetFinding;
  const finding = Object.fromEntries(
    Object.entries(properties).map(([name, of]) => [
      name,
      of.$ref === 'Tally'
        ? { count: 1, of: 4 }
        : of.$ref === 'OfSeeds'
          ? { values: [1, 3], mean: interval }
          : of.$ref === 'HeadValue'
            ? 'fidelity'
            : 4,
    ]),
  );
  const document = program ? study() : null;
  const withFinding = (changes: object) => {
    document!.findings.subsets = [{ ...finding, task: 'copy', layer: null, ...changes }];
    return document;
  };
  const line = (changes: object) => refusal(withFinding(changes));
  it('are taken, and fields that the page does not know are left out', () => {
    const { session } = documentSession('a.json', JSON.stringify(withFinding({ later: null })));
    expect(session.study!.findings.subsets![0]).toEqual({ ...finding, task: 'copy', layer: null });
  });
  it('without their mean are refused in a line', () => {
    const place = 'a.json: findings.subsets[0].sufficient.mean';
    expect(line({ sufficient: { values: [1, 3] } })).toBe(`${place} is missing`);
    expect(line({ sufficient: { values: [1, 3], mean: null } })).toBe(`${place} is not an object`);
    expect(line({ sufficient: { values: [1, 3], mean: { ...interval, estimate: 'x' } } })).toBe(
      `${place}.estimate is not a number or null`,
    );
    expect(line({ synergy: { count: 1, of: -4 } })).toBe('a.json: findings.subsets[0].synergy.of is not a whole number');
  });
});

it('refuses what is no document', () => {
  expect(refusal('{')).toBe('a.json: not JSON');
  for (const nothing of ['null', '3', '[]', '{}', '"x"'])
    expect(refusal(nothing)).toBe('a.json: no document of synergraph (it has no schema)');
  expect(refusal({ schema: 'synergraph.analyze', schema_version: 2 })).toMatch(/^a\.json: \w+ is missing$/);
});

/** Pages to test: the built one, with data that the program makes of attention that is made up. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AnalyzeDocument, EmbeddedAttention, HeadsDocument } from '../../src/core';
import type { PageData } from '../../src/data/page';
import { npy, random } from '../../src/data/demo';

export const ROOT = join(import.meta.dirname, '../../..');
const PROGRAM = process.env['SYNERGRAPH'] ?? join(ROOT, 'build/release/cli/synergraph');
const BUILT = join(import.meta.dirname, '../../dist/page.html');
export const folder = mkdtempSync(join(tmpdir(), 'synergraph-page-'));

/** What the program says. */
export function program(...args: string[]): string {
  if (!existsSync(PROGRAM)) throw new Error(`${PROGRAM} is not built (SYNERGRAPH names another one)`);
  return execFileSync(PROGRAM, args, { encoding: 'utf8', maxBuffer: 1 << 28, cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
}

export interface Attention {
  shape: [layers: number, samples: number, heads: number, tokens: number];
  values: Float32Array;
}

/** Causal attention of any size, the same every time. */
export function attention(layers: number, samples: number, heads: number, n: number, seed = 1): Attention {
  const draw = random(seed);
  const values = new Float32Array(layers * samples * heads * n * n);
  for (let matrix = 0; matrix < layers * samples * heads; ++matrix) {
    const near = 0.5 + 2 * draw();
    for (let i = 0; i < n; ++i) {
      const row = Float64Array.from({ length: i + 1 }, (_, j) => Math.exp(-near * Math.log(1 + i - j) * draw() + 2 * draw()));
      const total = row.reduce((a, b) => a + b, 0);
      row.forEach((value, j) => (values[(matrix * n + i) * n + j] = value / total));
    }
  }
  return { shape: [layers, samples, heads, n], values };
}

export function writeNpy(name: string, { shape: [l, s, h, n], values }: Attention): string {
  const path = join(folder, name);
  writeFileSync(path, npy([l, s, h, n, n], values));
  return path;
}

/** As the program embeds it: the lower triangle of every head. */
export function embed(
  { shape: [layers, samples, heads, n], values }: Attention,
  names: { heads?: string[]; labels?: string[]; layers?: string[] } = {},
): { attention: EmbeddedAttention; bytes: Buffer } {
  const triangle = (n * (n + 1)) / 2;
  const packed = new Float32Array(layers * samples * heads * triangle);
  let at = 0;
  for (let matrix = 0; matrix < layers * samples * heads; ++matrix)
    for (let i = 0; i < n; ++i) for (let j = 0; j <= i; ++j) packed[at++] = values[(matrix * n + i) * n + j]!;
  const headNames = names.heads ?? Array.from({ length: heads }, (_, h) => String(h));
  return {
    bytes: Buffer.from(packed.buffer),
    attention: {
      tokens: n,
      labels: names.labels ?? null,
      samples: Array.from({ length: samples }, (_, number) => ({ number })),
      layers: Array.from({ length: layers }, (_, l) => ({
        name: names.layers?.[l] ?? String(l),
        heads: headNames,
        weights: headNames.map(() => 1 / heads),
        learned_weights: null,
        samples: Array.from({ length: samples }, (__, s) => ({
          sample: s,
          heads: headNames.map((___, h) => ({
            offset: ((l * samples + s) * heads + h) * triangle * 4,
            dtype: 'float32' as const,
            rows: 'lower' as const,
          })),
        })),
      })),
    },
  };
}

/** JSON that cannot end the element it stands in. */
const escaped = (data: unknown) =>
  JSON.stringify(data).replace(/[<>&\u2028\u2029]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** Writes a page and gives its address. */
export function writePage(name: string, data: PageData | null, bytes?: Buffer): string {
  let text = readFileSync(BUILT, 'utf8');
  text = text.replace('id="synergraph-data">null<', () => `id="synergraph-data">${escaped(data)}<`);
  if (bytes) text = text.replace('id="synergraph-arrays"><', () => `id="synergraph-arrays">${bytes.toString('base64')}<`);
  const path = join(folder, name);
  writeFileSync(path, text);
  return `file://${path}`;
}

/** Where `studyPage` writes its study. */
export const studyFolder = join(folder, 'study');

/** The report of a small study of the program, with a figure, in the page that was built. */
export function studyPage(): string {
  const small = '--layers 2 --width 8 --hidden 8 --vocabulary 9 --length 8 --sequences 20 --batch 10 --epochs 1 --samples 4';
  const grid = '--heads 1,4 --seeds 2 --no-figures --quiet';
  program('reproduce', '--out', studyFolder, ...`${grid} ${small}`.split(' '));
  const text = readFileSync(join(studyFolder, 'report.html'), 'utf8').split('id="synergraph-data">')[1]!;
  const data = JSON.parse(text.slice(0, text.indexOf('</script>'))) as PageData;
  const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="30"><rect width="40" height="30"/></svg>';
  data.report!.figures = [{ caption: 'A figure.', svg }];
  return writePage('study.html', data);
}

export const base = (title: string) => ({
  format: 'synergraph.page' as const,
  version: 1 as const,
  title,
  program: 'synergraph',
  attention: null,
  graphs: null,
  report: null,
});

/** A page of `analyze`. */
export function analyzePage(made: Attention, prefix: string): { analyze: string; document: AnalyzeDocument; file: string } {
  const file = writeNpy(`${prefix}.npy`, made);
  const document = JSON.parse(program('analyze', file, '--per-head', '--convention', 'both', '--json', '-')) as AnalyzeDocument;
  const { attention: embedded, bytes } = embed(made);
  return {
    analyze: writePage(
      `${prefix}-analyze.html`,
      { ...base(`${prefix}.npy`), command: 'analyze', document, attention: embedded },
      bytes,
    ),
    document,
    file,
  };
}

/** Pages of `analyze` and `heads` on the same attention. */
export function attentionPages(
  made: Attention,
  prefix: string,
): ReturnType<typeof analyzePage> & { heads: string; importance: HeadsDocument } {
  const of = analyzePage(made, prefix);
  const importance = JSON.parse(program('heads', of.file, '--json', '-')) as HeadsDocument;
  const { attention: embedded, bytes } = embed(made);
  return {
    ...of,
    importance,
    heads: writePage(
      `${prefix}-heads.html`,
      { ...base(`${prefix}.npy`), command: 'heads', document: importance, attention: embedded },
      bytes,
    ),
  };
}

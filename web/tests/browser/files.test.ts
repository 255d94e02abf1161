import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Page } from 'playwright-core';
import type { AnalyzeDocument } from '../../src/core';
import { format, quantityOf } from '../../src/quantities';
import { download, useBrowser } from './browser';
import { attention, folder, program, ROOT, studyFolder, studyPage, writeNpy, writePage } from './pages';

const empty = writePage('files-empty.html', null);
const { open } = useBrowser();

const choose = (page: Page, path: string) => page.getByLabel('Choose a file').setInputFiles(path);

/** What the program says of a file that it refuses; null where it takes it. */
function refusal(path: string): string | null {
  try {
    program('analyze', path, '--quiet');
    return null;
  } catch (error) {
    return String((error as { stderr: string }).stderr)
      .trim()
      .replace(/^synergraph: /, '');
  }
}

/** Drops bytes on the page, as a pointer would. */
async function drop(page: Page, name: string, bytes: Buffer): Promise<void> {
  const data = await page.evaluateHandle(
    ({ text, file }) => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([Uint8Array.from(atob(text), (c) => c.charCodeAt(0))], file));
      return transfer;
    },
    { text: bytes.toString('base64'), file: name },
  );
  await page.dispatchEvent('body', 'dragover', { dataTransfer: data });
  await page.dispatchEvent('body', 'drop', { dataTransfer: data });
}

describe('Own files', () => {
  it('are measured as by the program', async () => {
    const path = writeNpy('own.npy', attention(2, 2, 3, 16, 9));
    const page = await open(empty);
    await choose(page, path);
    await page.waitForSelector('#view-overview');
    const { bytes } = await download(page, () => page.getByRole('button', { name: 'Save JSON' }).click());
    const ours = JSON.parse(bytes.toString()) as AnalyzeDocument;
    const theirs = JSON.parse(program('analyze', path, '--per-head', '--json', '-')) as AnalyzeDocument;
    expect(Object.keys(ours)).toEqual(Object.keys(theirs));
    ours.conventions[0]!.layers.forEach((layer, l) => {
      const other = theirs.conventions[0]!.layers[l]!;
      expect(layer.combined['mixing_time_0.25']).toEqual(other.combined['mixing_time_0.25']);
      expect(Math.abs(layer.combined['minimax_fidelity']!.mean! / other.combined['minimax_fidelity']!.mean! - 1)).toBeLessThan(
        1e-12,
      );
      layer.heads.forEach((head, h) => expect(head['mixing_time_0.25']).toEqual(other.heads[h]!['mixing_time_0.25']));
    });
    await page.getByRole('link', { name: 'Mixer' }).click();
    await page.waitForSelector('.reading');
    await page.getByRole('link', { name: 'Layer' }).click();
    await page.waitForSelector('.matrix canvas');
  });

  it('are measured by what their heads move', async () => {
    const path = writeNpy('moved.npy', attention(1, 1, 3, 12, 5));
    const norms = join(folder, 'norms.npz');
    execFileSync('/usr/bin/python3', [
      '-c',
      `import numpy as np; np.savez(${JSON.stringify(norms)}, norms=np.random.default_rng(3).uniform(0.1, 2, (3, 12)))`,
    ]);
    const page = await open(empty);
    await page.getByText('How to read it').click();
    const edges = page.getByRole('group', { name: 'Edges' });
    expect(await edges.isVisible()).toBe(false);
    await page.getByLabel(/What the heads move/).setInputFiles(norms);
    await edges.getByText('Norm').click();
    await choose(page, path);
    await page.waitForSelector('#view-overview');
    await page
      .getByText(/norm edges/)
      .first()
      .waitFor();
    const { bytes } = await download(page, () => page.getByRole('button', { name: 'Save JSON' }).click());
    const ours = JSON.parse(bytes.toString()) as AnalyzeDocument;
    const theirs = JSON.parse(program('analyze', path, '--moved', norms, '--edges', 'norm', '--json', '-')) as AnalyzeDocument;
    expect(ours.edges).toBe('norm');
    const fidelity = (of: AnalyzeDocument) => of.conventions[0]!.layers[0]!.combined['minimax_fidelity']!.mean!;
    expect(Math.abs(fidelity(ours) / fidelity(theirs) - 1)).toBeLessThan(1e-12);
    await page.getByRole('link', { name: 'Layer' }).click();
    const shown = format(quantityOf('minimax_fidelity'), fidelity(theirs));
    await page.locator('#view-layer .reading').getByText(shown).first().waitFor();
    const layerEdges = page.locator('#view-layer').getByRole('group', { name: 'Edges' });
    await layerEdges.getByText('Contribution').click();
    await page
      .getByText(/contribution edges need/)
      .first()
      .waitFor();
    await layerEdges.getByText('Attention').click();
    const plain = JSON.parse(program('analyze', path, '--json', '-')) as AnalyzeDocument;
    await page
      .locator('#view-layer .reading')
      .getByText(format(quantityOf('minimax_fidelity'), fidelity(plain)))
      .first()
      .waitFor();
    await page.waitForFunction(() => !location.hash.includes('edges')); // the address follows a little later
  });

  it('can be dropped anywhere, in other formats too', async () => {
    const npyPath = writeNpy('convert.npy', attention(1, 2, 3, 12, 4));
    for (const name of ['convert.npz', 'convert.safetensors']) program('convert', npyPath, join(folder, name));
    execFileSync('/usr/bin/python3', [
      '-c',
      `import numpy as np; np.savez_compressed(${JSON.stringify(join(folder, 'deflated.npz'))}, attention=np.load(${JSON.stringify(npyPath)}))`,
    ]);
    for (const name of ['convert.npz', 'convert.safetensors', 'deflated.npz']) {
      const page = await open(`${empty}#graph`);
      await drop(page, name, readFileSync(join(folder, name)));
      await page.waitForSelector('#view-overview');
      const document = JSON.parse(program('analyze', join(folder, name), '--per-head', '--json', '-')) as AnalyzeDocument;
      const mean = document.conventions[0]!.layers[0]!.combined['minimax_fidelity']!.mean;
      await page
        .getByText(format(quantityOf('minimax_fidelity'), mean))
        .first()
        .waitFor();
    }
  });

  it('are read as told', async () => {
    const path = writeNpy('axes.npy', attention(1, 4, 3, 10, 2));
    const page = await open(empty);
    await page.getByText('How to read it').click();
    await page.getByLabel('Axes').fill('sample,layer,head,query,key');
    await choose(page, path);
    await page.waitForSelector('#view-overview');
    expect(await page.locator('.facts').innerText()).toMatch(/4 layers[\s\S]*3 heads[\s\S]*10 tokens[\s\S]*1 sample/);
  });

  it('that are bad give the terminal’s line, and the page goes on', async () => {
    const data = join(ROOT, 'tests/data/io');
    const random = Buffer.from(Array.from({ length: 400 }, (_, i) => (i * 7919) % 256));
    const good = readFileSync(writeNpy('good.npy', attention(1, 1, 2, 8, 1)));
    const causal = Buffer.from(good);
    causal.writeFloatLE(0.5, causal.length - 4 * 64 + 4 * 3);
    const made: Record<string, Buffer> = {
      'random.npy': random,
      'random.safetensors': random,
      'random.npz': random,
      'empty.npy': Buffer.alloc(0),
      'short.npy': good.subarray(0, good.length - 3),
      'long.npy': Buffer.concat([good, Buffer.alloc(5)]),
      'future.npy': causal,
      'header.safetensors': Buffer.concat([Buffer.from([255, 255, 255, 255, 255, 255, 255, 127]), random]),
      'lies.safetensors': Buffer.concat([
        Buffer.from([60, 0, 0, 0, 0, 0, 0, 0]),
        Buffer.from('{"a":{"dtype":"F32","shape":[9999999,99999],"data_offsets":[0,4]}}'.slice(0, 60)),
      ]),
    };
    for (const [name, bytes] of Object.entries(made)) writeFileSync(join(folder, name), bytes);
    const paths = [
      ...Object.keys(made).map((name) => join(folder, name)),
      ...readdirSync(data)
        .filter((name) => /\.(npy|npz|safetensors)$/.test(name))
        .map((name) => join(data, name)),
    ];
    const page = await open(empty);
    let bad = 0;
    for (const path of paths) {
      const line = refusal(path);
      if (line === null) continue;
      ++bad;
      await choose(page, path);
      const alert = page.getByRole('alert');
      const name = path.split('/').at(-1)!;
      // The page spells options as the C interface does: row_tolerance, not --row-tolerance.
      const spelled = line.replaceAll(path, name).replace(/--([a-z-]+)/g, (_, option: string) => option.replaceAll('-', '_'));
      await expect.poll(() => alert.innerText(), { message: name }).toContain(spelled.split('\n')[0]!);
      await alert.getByRole('button', { name: 'Close' }).click();
    }
    expect(bad).toBeGreaterThan(20);
    await choose(page, join(folder, 'good.npy'));
    await page.waitForSelector('#view-overview');
  });

  it('may be documents of the program, and graphs', async () => {
    const path = join(folder, 'heads.json');
    program('heads', writeNpy('doc.npy', attention(1, 2, 3, 10, 8)), '--json', path);
    const page = await open(empty);
    await choose(page, path);
    await page.getByText('In words').waitFor();
    await page.getByRole('link', { name: 'Mixer' }).click();
    await page.getByText('The attention itself is not in this page').waitFor();
    await page.getByRole('link', { name: 'Open' }).click();
    studyPage();
    await choose(page, join(studyFolder, 'results.json'));
    await page.getByText('What the data say').waitFor();
    writeFileSync(join(folder, 'mine.txt'), 'nodes a b c\nhead one\n  a -> b\n  b -> c\n');
    await page.getByRole('link', { name: 'Open' }).click();
    await choose(page, join(folder, 'mine.txt'));
    await page.waitForSelector('#view-graph');
    await expect.poll(() => page.getByLabel('As text').inputValue()).toContain('a -> b');
    for (const [name, text] of [
      ['bad.json', '{'],
      ['other.json', '{"schema": "else"}'],
      ['null.json', 'null'],
      ['list.json', '{"schema": "synergraph.heads", "layers": 3}'],
      ['bad.txt', 'nodes a b\nhead\n b -> a\n'],
    ] as const) {
      writeFileSync(join(folder, name), text);
      await page.getByRole('link', { name: 'Open' }).click();
      await choose(page, join(folder, name));
      await page
        .getByRole('alert')
        .getByText(name.endsWith('json') ? name : 'goes backward')
        .waitFor();
      await page.getByRole('alert').getByRole('button').click();
    }
  });

  it('are seen at once by those who do not wait', async () => {
    const page = await open(empty);
    await choose(page, writeNpy('slow.npy', attention(4, 24, 8, 90, 6)));
    await page.getByRole('button', { name: 'See it now' }).click();
    await page.waitForSelector('#view-layer .matrix canvas');
    await page.getByRole('link', { name: 'Overview' }).click();
    await page.waitForSelector('#view-overview figure svg');
  });

  it('there is attention to try', async () => {
    const page = await open(empty);
    await page.getByRole('button', { name: 'Made-up attention' }).click();
    await page.waitForSelector('#view-overview');
    expect(await page.locator('.facts').innerText()).toMatch(/3 layers[\s\S]*6 heads[\s\S]*48 tokens[\s\S]*4 samples/);
  });
});

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { AnalyzeDocument, HeadsDocument } from '../../src/core';
import { format, quantityOf } from '../../src/quantities';
import { download, useBrowser } from './browser';
import { attention, folder, program, studyPage, writeNpy, type Attention } from './pages';

const { open } = useBrowser();
const built = readFileSync(join(import.meta.dirname, '../../dist/page.html'), 'utf8');

/** A page that the program writes. */
function pageOf(name: string, ...args: string[]): { url: string; text: string } {
  const path = join(folder, name);
  program(...args, '--page', path);
  return { url: `file://${path}`, text: readFileSync(path, 'utf8') };
}

/** A page without its data. */
const emptied = (text: string) =>
  text
    .replace(/(id="synergraph-data">)[^<]*/, (_, head: string) => `${head}null`)
    .replace(/(id="synergraph-arrays">)[^<]*/, (_, head: string) => head);

/** A safetensors file with a tensor for every name. */
function writeSafetensors(path: string, names: string[], { shape: [, samples, heads, n], values }: Attention): void {
  const size = samples * heads * n * n;
  const tensors = names.map((name, i) => [
    name,
    { dtype: 'F32', shape: [samples, heads, n, n], data_offsets: [i * size * 4, (i + 1) * size * 4] },
  ]);
  const head = Buffer.from(JSON.stringify(Object.fromEntries(tensors)));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(head.length));
  writeFileSync(path, Buffer.concat([length, head, Buffer.from(values.buffer, 0, names.length * size * 4)]));
}

describe('pages that the program writes', () => {
  const file = writeNpy('program.npy', attention(2, 3, 4, 20, 13));

  it('are the page with data in it', () => {
    const { text } = pageOf('same.html', 'analyze', file);
    expect(emptied(text) === built, 'web/dist/page.html and the page in the program').toBe(true);
  });

  it('show what analyze measured, and measure the same', async () => {
    const page = await open(pageOf('analyze.html', 'analyze', file).url);
    const document = JSON.parse(program('analyze', file, '--per-head', '--json', '-')) as AnalyzeDocument;
    const layer = document.conventions[0]!.layers[1]!;
    const mean = (layer.heads[2]!['minimax_fidelity'] as { mean: number }).mean;
    expect(await page.locator('[data-key="1 2"]').getAttribute('aria-label')).toContain(
      format(quantityOf('minimax_fidelity'), mean),
    );
    await page.getByRole('link', { name: 'Layer' }).click();
    await page.waitForSelector('.reading');
    await page.getByRole('link', { name: 'Mixer' }).click();
    await page.waitForSelector('figure:has-text("Every set of heads") circle');
  });

  it('hold as many samples as asked for, and say so', async () => {
    const page = await open(`${pageOf('few.html', 'analyze', file, '--page-samples', '2').url}#layer`);
    await page.getByText(/2 of 3 samples/).waitFor();
    expect(await page.getByLabel('Sample').locator('option').allInnerTexts()).toEqual(['0', '1', 'mean of all samples']);
  });

  it('show what heads found', async () => {
    const page = await open(pageOf('heads.html', 'heads', file, '--stack').url);
    await page.getByText('In words').waitFor();
    await page.getByLabel('Quantity').selectOption('stack');
    await page.locator('[data-key="1 3"]').waitFor();
    await page.getByRole('link', { name: 'Mixer' }).click();
    await page.getByRole('button', { name: 'Best fidelity, all samples' }).click();
    // Again where a figure was drawn anew in between.
    const two = async () => {
      await page.locator('figure:has-text("Fewer heads") .reader').focus();
      for (const key of ['Home', 'ArrowRight', 'ArrowRight', 'Enter']) await page.keyboard.press(key);
      return page.locator('.mix-row input[type=checkbox]:checked').count();
    };
    await expect.poll(two, { interval: 1000 }).toBe(2);
    // With the data's weights, whatever the mix was: they are what the figure's value is of.
    const shares = await page
      .locator('.mix-row:has(input:checked) input[type=range]')
      .evaluateAll((all) => all.map((one) => (one as HTMLInputElement).value));
    expect(shares).toEqual(['0.5', '0.5']);
  });

  it('name tokens as told', async () => {
    const names = join(folder, 'names.txt');
    writeFileSync(names, Array.from({ length: 20 }, (_, i) => `<b>word${i % 7}\n`).join(''));
    const page = await open(`${pageOf('tokens.html', 'analyze', file, '--page-tokens', names).url}#layer`);
    await page.getByText(/^weakest: \d+ <b>word/).waitFor();
  });

  it('name the tokens of each sample as told', async () => {
    const names = join(folder, 'names.jsonl');
    const list = (sample: number) => Array.from({ length: 20 }, (_, i) => `${'abc'[sample]}${i}`);
    writeFileSync(names, [0, 1, 2].map((sample) => `${JSON.stringify(list(sample))}\n`).join(''));
    const { url } = pageOf('lists.html', 'analyze', file, '--page-tokens', names);
    const weakest = async (hash: string) => {
      const page = await open(`${url}#${hash}`);
      return page
        .locator('figure:has-text("Fidelity of every token") svg')
        .getByText(/^(weakest|lowest mean): /)
        .textContent();
    };
    for (const view of ['layer', 'mixer']) {
      for (const sample of [0, 1, 2])
        expect(await weakest(`${view}?sample=${sample}`)).toMatch(new RegExp(`^weakest: (\\d+) ${'abc'[sample]}\\1$`));
      expect(await weakest(`${view}?sample=mean`)).toMatch(/^lowest mean: \d+$/);
    }
  });

  it('show layers and what heads are worth on one page', async () => {
    const analyzed = JSON.parse(program('analyze', file, '--per-head', '--json', '-')) as AnalyzeDocument;
    const worth = JSON.parse(program('heads', file, '--json', '-')) as HeadsDocument;
    for (const [name, ...command] of [
      ['both-heads.html', 'heads', file],
      ['both-analyze.html', 'analyze', file, '--page-heads'],
    ] as [string, ...string[]][]) {
      const page = await open(pageOf(name, ...command).url);
      const quantities = await page.getByLabel('Quantity').locator('option').allInnerTexts();
      for (const label of ['Minimax fidelity', 'Synergy', 'Shapley value (fidelity)', 'Shapley value (speed)'])
        expect(quantities).toContain(label);
      for (const [kind, document] of [
        ['layers', analyzed],
        ['heads', worth],
      ] as const) {
        const { bytes } = await download(page, () => page.getByRole('button', { name: `Save JSON (${kind})` }).click());
        expect(JSON.parse(bytes.toString())).toEqual(document);
      }
      expect(await page.getByText(/not in this page/).count()).toBe(0);
    }
  });

  it('give no weight to a head that weighs 0 when it is clicked', async () => {
    const page = await open(`${pageOf('weightless.html', 'analyze', file, '--weights', '2,0,1,1').url}#mixer`);
    await page.waitForSelector('figure:has-text("Every set of heads") circle');
    const row = page.locator('.mix-row').nth(1);
    expect(await row.locator('output').innerText()).toBe('weight 0');
    await row.getByRole('checkbox').click();
    await page.getByText('Head 1 has weight 0: it stays off until its slider gives it a weight.').waitFor();
    expect(await row.getByRole('checkbox').isChecked()).toBe(false);
    await page.locator('figure:has-text("Every set of heads") [data-key="2"]').click();
    expect(await page.locator('.mix-row output').allInnerTexts()).toEqual(['50.0 %', 'weight 0', '25.0 %', '25.0 %']);
    await row.locator('input[type=range]').fill('0.2');
    await expect.poll(() => page.locator('.mix-row output').allInnerTexts()).toEqual(['40.0 %', '20.0 %', '20.0 %', '20.0 %']);
  });

  it('show a study', async () => {
    const page = await open(studyPage());
    await page.getByText('What the data say').waitFor();
    await page.locator('figure:has-text("Every model: copy") [data-key]').first().waitFor();
    expect(await page.locator('figure:has-text("Every model: copy") .cell').count()).toBe(2 * 2 * 2);
  });

  it('show graphs', async () => {
    const page = await open(pageOf('graph.html', 'graph', '--example', '1').url);
    await page.waitForSelector('figure:has-text("The graph") [data-key]');
    expect(await page.locator('tr.marked td').nth(2).innerText()).toBe('10');
  });

  it('keep hostile names as text', async () => {
    const names = [
      '</script><script>window.stranger=1</script>',
      '<img src=x onerror=window.stranger=1>\u2028&amp;"\'',
      '--><!--<script>',
    ];
    const path = join(folder, 'hostile.safetensors');
    writeSafetensors(path, names, attention(3, 1, 2, 6, 2));
    for (const view of ['overview', 'layer', 'mixer']) {
      const page = await open(`${pageOf('names.html', 'analyze', path).url}#${view}`);
      await page.waitForSelector(view === 'overview' ? 'figure svg' : '.reading');
      const found = await page.evaluate(() => ({
        stranger: (window as { stranger?: number }).stranger ?? null,
        images: document.images.length,
        scripts: document.scripts.length,
        text: document.body.innerText + [...document.querySelectorAll('option')].map((one) => one.textContent).join(' '),
      }));
      expect(found).toMatchObject({ stranger: null, images: 0, scripts: 3 });
      expect(found.text).toContain('<script>');
    }
  });
});

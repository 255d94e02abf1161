/** What pages show is what the data say: settings, intervals, infinity; what they cannot show they say. */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Page } from 'playwright-core';
import type { AnalyzeDocument } from '../../src/core';
import type { SystemDocument } from '../../src/core';
import { digits } from '../../src/quantities';
import { csvRows, useBrowser } from './browser';
import { attention, base, embed, folder, program, writeNpy, writePage } from './pages';

const { open } = useBrowser();
const empty = writePage('faithful-empty.html', null);

/** What stands under a reading's name. */
const reading = (page: Page, label: string) =>
  page.locator('.reading', { hasText: label }).first().locator('dd').first().innerText();

const graphPage = (name: string, ...flags: string[]) => {
  const document = JSON.parse(program('graph', ...flags, '--json')) as SystemDocument;
  const text = join(folder, `${name}.txt`);
  program('graph', ...flags.filter((_, k) => k < 2 || flags[2] === '--weights'), '--text', text);
  let graphs = readFileSync(text, 'utf8');
  document.heads.forEach((head) => {
    graphs = graphs.replace(new RegExp(`(head "${head.name}" weight )\\S+`), `$1${head.weight}`);
  });
  return { document, url: writePage(`${name}.html`, { ...base(name), command: 'graph', document, graphs }) };
};

describe('the data’s settings', () => {
  const made = attention(2, 2, 3, 14, 5);
  const file = writeNpy('faithful.npy', made);
  for (const flags of [
    ['--convention', 'published'],
    ['--normalization', 'per-head'],
    ['--eps', '0.1,0.5', '--cutoff', '7'],
  ])
    it(`are those of Layer and Mixer: ${flags.join(' ')}`, async () => {
      const document = JSON.parse(program('analyze', file, '--quiet', '--per-head', '--json', '-', ...flags)) as AnalyzeDocument;
      const csv = program('analyze', file, '--quiet', '--per-sample', '-', ...flags);
      const [titles, ...rows] = csvRows(csv);
      const row = rows.find((one) => one[1] === '1' && one[2] === '1' && one[3] === 'combined')!;
      const value = (name: string) => Number(row[titles!.indexOf(name)]);
      const { attention: embedded, bytes } = embed(made);
      const url = writePage('faithful.html', { ...base('faithful'), command: 'analyze', document, attention: embedded }, bytes);
      for (const view of ['layer', 'mixer']) {
        const page = await open(`${url}#${view}?layer=1&sample=1`);
        await page.waitForSelector('.reading');
        expect(await reading(page, 'Minimax fidelity')).toBe(digits(value('minimax_fidelity')));
        expect(await reading(page, 'Hitting time, mean, cut')).toBe(digits(value('truncated_hitting_mean')));
        for (const eps of document.conventions[0]!.settings.eps) {
          const time = value(`mixing_time_${eps}`);
          expect(await reading(page, `T_mix(${eps})`)).toBe(Number.isFinite(time) ? digits(time) : 'never');
        }
        await page.getByText(document.conventions[0]!.settings.normalization + ' walk').waitFor();
      }
    });

  it('are those of Graphs', async () => {
    const { document, url } = graphPage('settings', '--example', '2', '--convention', 'published');
    const page = await open(url);
    await page.waitForSelector('tr.marked');
    const time = document.combined.mixing_time[0]!.steps;
    expect(await page.locator('tr.marked td').nth(2).innerText()).toBe(time === null ? 'never' : String(time));
    await page.getByText('published walk').waitFor();
  });
});

it('shows intervals as intervals', async () => {
  // Every step forward has the least probability there is.
  const python = `import numpy as np; np.save('steep.npy', (np.eye(5) + np.tri(5, k=-1) * 5e-324)[None])`;
  execFileSync('/usr/bin/python3', ['-c', python], { cwd: folder });
  const document = JSON.parse(program('analyze', 'steep.npy', '--quiet', '--per-head', '--json', '-')) as AnalyzeDocument;
  const page = await open(writePage('interval.html', { ...base('interval'), command: 'analyze', document }));
  const row = page.locator('table tbody tr').first();
  expect(await row.innerText()).toContain('to 0.5');
  expect(await row.innerText()).toContain('undecided');
  expect(await page.locator('[data-key="0 1"]').getAttribute('aria-label')).toContain('to 0.5');
});

it('shows infinite synergy', async () => {
  const { url } = graphPage('infinite', '--example', '1', '--weights', '0.9,0.1');
  const page = await open(`${url}#mixer`);
  await page.waitForSelector('.reading');
  expect(await reading(page, 'Synergy')).toBe('∞');
});

describe('a document of a graph', () => {
  it('shows its numbers and says what is missing', async () => {
    writeFileSync(join(folder, 'gr.json'), program('graph', '--example', '1', '--json'));
    const page = await open(empty);
    await page.getByLabel('Choose a file').setInputFiles(join(folder, 'gr.json'));
    await page.getByText(/gr\.json has the numbers of its graph but not its edges/).waitFor();
    expect(await page.locator('h1').innerText()).toBe('gr.json');
    expect(await page.locator('tr.marked td').nth(2).innerText()).toBe('10');
    expect(await page.locator('figure:has-text("The graph")').isVisible()).toBe(false);
    await page.getByLabel('Begin with').selectOption('2');
    await page.locator('figure:has-text("The graph") [data-key]').first().waitFor();
  });
  it('that is damaged gives a line, which a good file ends', async () => {
    const good = program('graph', '--example', '1', '--json');
    writeFileSync(join(folder, 'bad.json'), JSON.stringify({ ...JSON.parse(good), heads: [null] }));
    writeFileSync(join(folder, 'good.json'), good);
    const page = await open(empty);
    await page.getByLabel('Choose a file').setInputFiles(join(folder, 'bad.json'));
    await page.getByText('bad.json: heads[0] is not an object').waitFor();
    await page.getByLabel('Choose a file').setInputFiles(join(folder, 'good.json'));
    await page.getByText(/good\.json has the numbers/).waitFor();
    expect(await page.locator('[role=alert]').innerText()).toBe('');
  });
});

it('stops opening a file, and a newer one takes its place', async () => {
  const bomb = join(folder, 'bomb.npz');
  execFileSync('/usr/bin/python3', [
    '-c',
    `import zipfile
z = zipfile.ZipFile(${JSON.stringify(bomb)}, 'w', zipfile.ZIP_DEFLATED)
with z.open('a.npy', 'w', force_zip64=True) as f:
    for _ in range(512): f.write(bytes(1 << 20))
z.close()`,
  ]);
  const good = writeNpy('after.npy', attention(1, 1, 2, 8, 1));
  const page = await open(empty);
  await page.getByLabel('Choose a file').setInputFiles(bomb);
  await page.getByRole('button', { name: 'Stop' }).click();
  await page.getByText('bomb.npz was not opened.').waitFor();
  await page.getByLabel('Choose a file').setInputFiles(bomb);
  await page.getByText('Opening bomb.npz').waitFor();
  await page.getByLabel('Choose a file').setInputFiles(good);
  await page.waitForSelector('#view-overview');
});

it('undoes edits of a graph', async () => {
  const page = await open(`${empty}#graph`);
  const nodes = page.locator('figure:has-text("The graph") [data-key]');
  await nodes.first().waitFor();
  const before = await page.getByLabel('As text').inputValue();
  await page.getByRole('button', { name: '+ node' }).click();
  await expect.poll(() => page.getByLabel('As text').inputValue()).not.toBe(before);
  await page.keyboard.press('Control+z');
  await expect.poll(() => page.getByLabel('As text').inputValue()).toBe(before);
});

it('says what an address asks in vain', async () => {
  const page = await open(`${empty}#layer?layer=99`);
  await page.getByText(/a file that is not in the page/).waitFor();
});

it('is no wider for names of any length', async () => {
  const long = 'x'.repeat(10_000);
  const made = attention(1, 1, 2, 6, 3);
  const analyzed = JSON.parse(
    program('analyze', writeNpy('long.npy', made), '--quiet', '--per-head', '--json', '-'),
  ) as AnalyzeDocument;
  analyzed.conventions[0]!.layers[0]!.name = long;
  const { attention: embedded, bytes } = embed(made, { layers: [long], heads: [`${long}1`, `${long}2`] });
  const url = writePage('long.html', { ...base(long), command: 'analyze', document: analyzed, attention: embedded }, bytes);
  const graph = encodeURIComponent(`nodes ${long} b\nhead ${long}\n  ${long} -> b\nhead c\n`);
  for (const hash of ['#overview', '#layer', '#mixer', `#graph?graph=${graph}`]) {
    const page = await open(`${url}${hash}`);
    await page.waitForSelector(hash.startsWith('#graph') ? 'tr.marked' : hash === '#overview' ? 'figure svg' : '.reading');
    expect(await page.evaluate(() => document.documentElement.scrollWidth), hash.slice(0, 9)).toBeLessThanOrEqual(1280);
  }
});

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Page } from 'playwright-core';
import { csvRows, download, useBrowser } from './browser';
import { base, folder, program, writePage } from './pages';
import type { SystemDocument } from '../../src/core';

const empty = writePage('empty.html', null);
const { open } = useBrowser();

const ready = (page: Page) => page.waitForSelector('figure:has-text("The graph") [data-key]');
const text = (page: Page) => page.getByLabel('As text').inputValue();
const edges = async (page: Page) => (await text(page)).match(/->/g)?.length ?? 0;

describe('Graphs', () => {
  it('has the worked examples, measured as by the program', async () => {
    const page = await open(`${empty}#graph`);
    await ready(page);
    await page.getByLabel('Begin with').selectOption('1');
    await page.getByText('With one head alone, some walks never arrive.').waitFor();
    const row = page.locator('tr.marked');
    const document = JSON.parse(program('graph', '--example', '1', '--json')) as SystemDocument;
    expect(document.combined.mixing_time[0]!.steps).toBe(10);
    expect(await row.locator('td').allInnerTexts()).toEqual(['1', '0.25', '10', '4', '8', '4', '0.4219', 'v', '3']);
  });

  it('is drawn with the pointer', async () => {
    const page = await open(`${empty}#graph`);
    await ready(page);
    const before = await edges(page);
    await page.locator('[data-key="0"]').click();
    await page.locator('[data-key="3"]').click();
    await expect.poll(() => edges(page)).toBe(before + 1);
    await page.getByRole('button', { name: '+ node' }).click();
    await expect.poll(() => page.locator('figure:has-text("The graph") [data-key]').count()).toBe(5);
    await page.getByRole('button', { name: '+ head' }).click();
    await expect.poll(async () => (await text(page)).match(/^head/gm)?.length).toBe(3);
  });

  it('is drawn with the keyboard alone', async () => {
    const page = await open(`${empty}#graph`);
    await ready(page);
    const before = await edges(page);
    await page.locator('[data-key="0"]').focus();
    await page.keyboard.press('Enter');
    for (const key of ['ArrowRight', 'ArrowRight', 'ArrowRight', 'Enter']) await page.keyboard.press(key);
    await expect.poll(() => edges(page)).toBe(before + 1);
    await page.locator('[data-key="1"]').focus();
    await page.keyboard.press('Delete');
    await expect.poll(() => page.locator('figure:has-text("The graph") [data-key]').count()).toBe(3);
  });

  it('stops the Tab key only at what has a name', async () => {
    const page = await open(`${empty}#graph`);
    await ready(page);
    const stops = new Set<string>();
    for (let i = 0; i < 60; ++i) {
      await page.keyboard.press('Tab');
      stops.add(await page.evaluate(() => document.activeElement!.tagName));
    }
    expect(stops).toContain('g');
    expect(stops).not.toContain('path');
  });

  it('names its edges', async () => {
    const page = await open(
      `${empty}#graph?graph=${encodeURIComponent('nodes a b c\nhead one\n a -> b : 2\n b -> c\nhead two\n a -> c\n')}`,
    );
    await ready(page);
    const drawn = page.locator('figure:has-text("The graph") path[role=img]');
    await expect.poll(() => drawn.count()).toBe(3);
    expect(await drawn.evaluateAll((all) => all.map((one) => one.getAttribute('aria-label')))).toEqual([
      'edge a → b, head one, weight 2',
      'edge b → c, head one, weight 1',
      'edge a → c, head two, weight 1',
    ]);
    expect(await drawn.evaluateAll((all) => all.filter((one) => (one as SVGElement).tabIndex >= 0).length)).toBe(0);
  });

  it('saves times that never come as the program does', async () => {
    // By head y nothing leaves b; the signals of head x are only approached.
    const source = 'nodes a b c\nhead x\n a -> a\n a -> c : 1e-9\n b -> c\nhead y\n a -> c\n b -> b\n';
    writeFileSync(join(folder, 'never.txt'), source);
    const page = await open(`${empty}#graph?graph=${encodeURIComponent(source)}`);
    await page.waitForSelector('tr.marked');
    const shown = await page.locator('tbody').first().innerText();
    expect(shown).toContain('never');
    expect(shown).toContain('limit');
    const { name, bytes } = await download(page, () =>
      page.locator('section:has-text("Measured")').getByRole('button', { name: 'Save the numbers as CSV' }).click(),
    );
    expect(name).toBe('graph.csv');
    const [ours, theirs] = [csvRows(bytes.toString()), csvRows(program('graph', 'never.txt', '--csv'))];
    const same = {
      'T_mix(0.25)': 'mixing_time_0.25',
      'hit mean': 'hitting_mean',
      'hit max': 'hitting_max',
      'at step': 'minimax_time',
    };
    for (const [label, column] of Object.entries(same)) {
      const [a, b] = [ours[0]!.indexOf(label), theirs[0]!.indexOf(column)];
      expect(ours.slice(1).map((row) => Number(row[a]!.replace('inf', 'Infinity')))).toEqual(
        theirs.slice(1).map((row) => Number(row[b]!.replace('inf', 'Infinity'))),
      );
    }
    expect(ours.flat()).toContain('inf');
    expect(ours.flat()).not.toContain('');
  });

  it('is typed; what is wrong is said in one line, and the page goes on', async () => {
    const page = await open(`${empty}#graph`);
    await ready(page);
    const area = page.getByLabel('As text');
    await area.fill('nodes a b c\nhead\n  b -> a\n');
    await page.getByText(/goes backward/).waitFor();
    await area.fill('nodes a b c\nhead one\n  a -> b\n  b -> c\n  a -> c\n');
    await expect.poll(() => page.locator('.problem').innerText()).toBe('');
    await expect.poll(() => page.locator('tbody tr').count()).toBe(1);
    await expect.poll(() => decodeURIComponent(page.url())).toContain('a+->+b');
  });

  it('plays the walk and the diffusion step by step', async () => {
    const page = await open(`${empty}#graph?play=walk`);
    await ready(page);
    const at = async (node: number) =>
      page.locator(`figure:has-text("The graph") [data-key="${node}"]`).getAttribute('aria-label');
    expect(await at(0)).toContain(': 1');
    await page.getByRole('button', { name: 'One step on' }).click();
    expect(await at(0)).not.toContain(': 1,');
    const later = await at(0);
    await page.getByLabel('Diffusion').check();
    await expect.poll(() => at(1)).not.toBe(later);
    const step = async () => Number((await page.locator('.player-row output').innerText()).slice('t = '.length));
    await page.getByRole('button', { name: 'Play' }).click();
    await expect.poll(step).toBeGreaterThanOrEqual(3);
    await page.evaluate(() => {
      const button = document.querySelector<HTMLButtonElement>('.player-row .main')!;
      if (button.textContent === 'Pause') button.click(); // it may have come to the end
    });
    await page.getByRole('button', { name: 'Play' }).waitFor();
    await page.getByLabel('Step', { exact: true }).focus();
    await page.keyboard.press('Home');
    expect(await step()).toBe(0);
  });

  it('adds generated heads', async () => {
    const page = await open(`${empty}#graph`);
    await ready(page);
    await page.getByLabel('Begin with').selectOption('complete:8');
    await expect.poll(() => page.locator('figure:has-text("The graph") [data-key]').count()).toBe(8);
    await page.getByLabel('Generator').selectOption('window');
    await page.getByLabel('Width').fill('2');
    await page.getByRole('button', { name: 'Add to this graph' }).click();
    await expect.poll(async () => (await text(page)).match(/^head/gm)?.length).toBe(2);
    await page.getByLabel('Nodes', { exact: true }).fill('9');
    await page.getByLabel('Generator').selectOption('random');
    await page.getByLabel('Probability').fill('2');
    await page.getByRole('button', { name: 'New graph' }).click();
    await page.getByRole('alert').getByText(/./).first().waitFor();
    expect(await page.locator('figure:has-text("The graph") [data-key]').count()).toBe(8);
  });

  it('is sent as a link', async () => {
    const page = await open(`${empty}#graph`);
    await ready(page);
    await page.getByLabel('As text').fill('nodes 5\nhead x\n  0 -> 2\n  2 -> 4\n  1 -> 3\n  3 -> 4\n');
    await page.waitForFunction(() => location.hash.includes('0+-%3E+2'));
    await page.getByRole('button', { name: 'One step on' }).click();
    await page.waitForFunction(() => location.hash.includes('step=1'));
    const other = await open(page.url());
    await ready(other);
    expect(await text(other)).toContain('3 -> 4');
    expect(await other.locator('.player-row output').innerText()).toBe('t = 1');
  });

  it('is mixed', async () => {
    const page = await open(`${empty}#graph`);
    await ready(page);
    await page.getByRole('button', { name: 'Mix these heads' }).click();
    await page.waitForSelector('#view-mixer .reading');
    const value = page.locator('.reading:has(dt:text-is("Minimax fidelity")) dd').first();
    expect(await value.innerText()).toBe('0.4167');
    await page.getByRole('checkbox', { name: 'Head 2' }).uncheck();
    await expect.poll(() => value.innerText()).toBe('0.375');

    // A link to it shows the same; Back switches the head on again, and then leads to the graph.
    await expect.poll(() => page.url()).toContain('weights=');
    const hash = new URL(page.url()).hash;
    const other = await open(`${empty}${hash}`);
    await expect.poll(() => other.locator('.reading:has(dt:text-is("Minimax fidelity")) dd').first().innerText()).toBe('0.375');
    await page.goBack();
    await expect.poll(() => value.innerText()).toBe('0.4167');
    await page.goBack();
    await page.waitForSelector('#view-graph');
    const broken = await open(`${empty}#mixer?of=graph&graph=garbage`);
    await expect.poll(() => broken.locator('.say.error').innerText()).toContain('garbage');
  });

  it('opens with the graph of the program', async () => {
    const document = JSON.parse(program('graph', '--example', '2', '--json')) as SystemDocument;
    program('graph', '--example', '2', '--text', 'example.txt');
    const url = writePage('graph.html', {
      ...base('worked example 2'),
      command: 'graph',
      document,
      graphs: 'nodes a b\nhead 1\n a -> b\n',
    });
    const page = await open(url);
    await ready(page);
    expect(await text(page)).toContain('a -> b');
    const { bytes } = await download(page, () => page.getByRole('button', { name: 'Save JSON' }).click());
    expect((JSON.parse(bytes.toString()) as SystemDocument).nodes).toEqual(['a', 'b']);
  });
});

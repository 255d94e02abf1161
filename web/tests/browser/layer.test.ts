import { describe, expect, it } from 'vitest';
import type { Page } from 'playwright-core';
import { digits } from '../../src/quantities';
import { csvRows, reading, useBrowser } from './browser';
import { attention, attentionPages, base, embed, program, writePage } from './pages';

const made = attention(2, 3, 4, 20, 5);
const pages = attentionPages(made, 'layer');
const { open } = useBrowser();

/** The numbers of a sample as `analyze --per-sample` has them. */
const samples = csvRows(program('analyze', pages.file, '--per-head', '--per-sample', '-'));
const columns = samples[0]!;
const numberOf = (layer: string, sample: string, head: string, column: string) => {
  const row = samples.find(
    (one) =>
      one[columns.indexOf('layer')] === layer &&
      one[columns.indexOf('sample')] === sample &&
      one[columns.indexOf('head')] === head,
  )!;
  return Number(row[columns.indexOf(column)]);
};

/** The colours of a row of the canvas. */
const picture = (page: Page) => page.locator('.matrix canvas').evaluate((canvas: HTMLCanvasElement) => canvas.toDataURL());

describe('Layer', () => {
  it('measures what the program measures', async () => {
    const page = await open(`${pages.analyze}#layer?layer=1&sample=2`);
    await page.waitForSelector('.reading');
    expect(await reading(page, 'Minimax fidelity')).toBe(digits(numberOf('1', '2', 'combined', 'minimax_fidelity')));
    expect(await reading(page, 'Mixing time T_mix(0.25)')).toBe(digits(numberOf('1', '2', 'combined', 'mixing_time_0.25')));
    expect(await reading(page, 'Hitting time, mean')).toBe(digits(numberOf('1', '2', 'combined', 'hitting_mean')));
    await page.getByRole('button', { name: /^head 3/ }).click();
    await expect.poll(() => reading(page, 'Minimax fidelity')).toBe(digits(numberOf('1', '2', '3', 'minimax_fidelity')));
  });

  it('reads entries with pointer and keys', async () => {
    const page = await open(`${pages.analyze}#layer?head=1`);
    await page.waitForSelector('.reading');
    const canvas = page.locator('.matrix canvas');
    await canvas.focus();
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('ArrowUp');
    const value = made.values[(1 * 20 + 18) * 20 + 18]!;
    expect(await page.locator('.matrix-readout').innerText()).toBe(`query 18, key 18: ${digits(value, 5)}`);
    const box = (await canvas.boundingBox())!;
    await page.mouse.move(box.x + 80, box.y + box.height - 20);
    expect(await page.locator('.matrix-readout').innerText()).toMatch(/^query 19, key 0: /);
  });

  it('zooms with wheel, drag and keys', async () => {
    const page = await open(`${pages.analyze}#layer`);
    await page.waitForSelector('.reading');
    const whole = await picture(page);
    const box = (await page.locator('.matrix canvas').boundingBox())!;
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await page.mouse.wheel(0, -400);
    await expect.poll(() => picture(page)).not.toBe(whole);
    const zoomed = await picture(page);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width / 2 + 60, box.y + box.height / 2 + 40, { steps: 4 });
    await page.mouse.up();
    await expect.poll(() => picture(page)).not.toBe(zoomed);
    await page.mouse.move(5, 5);
    await page.locator('.matrix canvas').focus();
    await page.keyboard.press('0');
    await expect.poll(() => picture(page)).toBe(whole);
    await page.keyboard.press('+');
    await expect.poll(() => picture(page)).not.toBe(whole);
  });

  it('follows layer, sample, head and colours in the address', async () => {
    const page = await open(`${pages.analyze}#layer`);
    await page.waitForSelector('.reading');
    await page.getByLabel('Layer', { exact: true }).selectOption('1');
    await page.getByLabel('Sample').selectOption('1');
    await page.getByLabel('Log', { exact: true }).check();
    await page.waitForFunction(() => location.hash === '#layer?layer=1&sample=1&colours=log');
    await page.reload();
    await page.waitForSelector('.reading');
    expect(await page.getByLabel('Sample').inputValue()).toBe('1');
    await expect.poll(() => reading(page, 'Minimax fidelity')).toBe(digits(numberOf('1', '1', 'combined', 'minimax_fidelity')));
  });

  it('draws survival with T_mix, signals with the minimax, and marks the weakest token', async () => {
    const page = await open(`${pages.analyze}#layer`);
    await page.waitForSelector('.reading');
    await page.getByText(`T_mix = ${digits(numberOf('0', '0', 'combined', 'mixing_time_0.25'))}`).waitFor();
    await page.locator('figure:has-text("Signals at the last token") svg').getByText('minimax so far').waitFor();
    await page
      .locator('figure:has-text("Fidelity of every token") svg')
      .getByText(/^weakest: /)
      .waitFor();
    await page.locator('figure:has-text("Fidelity of every token")').getByRole('button', { name: 'Table' }).click();
    const fidelity = numberOf('0', '0', 'combined', 'minimax_fidelity');
    expect(await page.locator('tr.marked td').first().innerText()).toBe(digits(fidelity));
  });

  it('names tokens where names are given', async () => {
    const labels = Array.from({ length: 20 }, (_, i) => (i === 19 ? 'end' : `word${i % 7}`));
    const { attention: embedded, bytes } = embed(made, { labels });
    const page = await open(
      `${writePage('labels.html', { ...base('labels'), command: 'analyze', document: pages.document, attention: embedded }, bytes)}#layer`,
    );
    await page.waitForSelector('.reading');
    await page.locator('.matrix canvas').focus();
    await page.keyboard.press('ArrowLeft');
    expect(await page.locator('.matrix-readout').innerText()).toMatch(/^query end, key word4: /);
    const weakest = await page
      .locator('figure:has-text("Fidelity of every token") svg')
      .getByText(/^weakest: /)
      .textContent();
    const number = Number(weakest!.split(' ')[1]);
    expect(weakest).toBe(`weakest: ${number} word${number % 7}`);
    expect(await page.locator('.reading').first().innerText()).toContain(`token ${number} word${number % 7}`);
  });
});

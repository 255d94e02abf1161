import { describe, expect, it } from 'vitest';
import type { Page } from 'playwright-core';
import type { AnalyzeDocument } from '../../src/core';
import { digits } from '../../src/quantities';
import { download, reading, useBrowser } from './browser';
import { attention, attentionPages, program } from './pages';

const pages = attentionPages(attention(2, 1, 4, 24, 11), 'mixer');
const wide = attentionPages(attention(1, 1, 10, 12, 3), 'wide');
const { open } = useBrowser();

/** What the program says with these weights. */
const withWeights = (weights: string) =>
  (JSON.parse(program('analyze', pages.file, '--weights', weights, '--json', '-')) as AnalyzeDocument).conventions[0]!.layers[0]!;

const ready = async (page: Page) => {
  await page.waitForSelector('.reading');
  await page.waitForSelector('figure:has-text("Every set of heads") circle');
};

describe('Mixer', () => {
  it('follows a slider, by keyboard, with the program’s numbers', async () => {
    const page = await open(`${pages.analyze}#mixer`);
    await ready(page);
    const slider = page.getByLabel('share of head 1');
    await slider.focus();
    await page.keyboard.press('End');
    await expect
      .poll(() => reading(page, 'Minimax fidelity'))
      .toBe(digits(withWeights('0,1,0,0').combined['minimax_fidelity']!.mean!));
    await page.getByRole('button', { name: 'Uniform' }).click();
    const uniform = withWeights('1,1,1,1');
    await expect.poll(() => reading(page, 'Minimax fidelity')).toBe(digits(uniform.combined['minimax_fidelity']!.mean!));
    expect(await reading(page, 'Synergy')).toBe(digits(uniform.synergy.mean!));
    expect(await reading(page, 'Cross-head share')).toBe(digits(uniform.cross_head_share.mean!));
    expect(await reading(page, 'Mixing time T_mix(0.25)')).toBe(digits(uniform.combined['mixing_time_0.25']!.mean!));
  });

  it('switches heads off and on', async () => {
    const page = await open(`${pages.analyze}#mixer`);
    await ready(page);
    await page.getByRole('checkbox', { name: 'head 2' }).uncheck();
    await expect
      .poll(() => reading(page, 'Minimax fidelity'))
      .toBe(digits(withWeights('1,1,0,1').combined['minimax_fidelity']!.mean!));
    expect(await page.locator('.mix-row').nth(2).locator('output').innerText()).toBe('off');
    await page.getByRole('checkbox', { name: 'head 2' }).check();
    expect(await page.locator('.mix-row').nth(2).locator('output').innerText()).toBe('25.0 %');
    for (const head of [0, 1, 2]) await page.getByRole('checkbox', { name: `head ${head}` }).uncheck();
    await page.getByRole('checkbox', { name: 'head 3' }).click();
    expect(await page.getByRole('checkbox', { name: 'head 3' }).isChecked()).toBe(true);
  });

  it('carries the weights in the address, to the other views too', async () => {
    const page = await open(`${pages.analyze}#mixer?weights=0.5,0.5,0,0`);
    await ready(page);
    expect(await page.locator('.mix-row').nth(0).locator('output').innerText()).toBe('50.0 %');
    const value = digits(withWeights('1,1,0,0').combined['minimax_fidelity']!.mean!);
    await expect.poll(() => reading(page, 'Minimax fidelity')).toBe(value);
    await page.getByRole('link', { name: 'Layer' }).click();
    await page.getByText('All heads together have the weights of the mixer').waitFor();
    await expect.poll(() => reading(page, 'Minimax fidelity')).toBe(value);
  });

  it('finds best weights', async () => {
    const page = await open(`${pages.analyze}#mixer`);
    await ready(page);
    const before = Number(await reading(page, 'Minimax fidelity'));
    await page.getByRole('button', { name: 'Best fidelity' }).click();
    await page.getByText(/^Best fidelity found: /).waitFor();
    await expect.poll(async () => Number(await reading(page, 'Minimax fidelity'))).toBeGreaterThanOrEqual(before);
  });

  it('has every set of heads, by pointer and keys', async () => {
    const page = await open(`${pages.analyze}#mixer`);
    await ready(page);
    const lattice = page.locator('figure:has-text("Every set of heads")');
    expect(await lattice.locator('circle[role=button]').count()).toBe(15);
    expect(await lattice.locator('[data-key="9"]').getAttribute('aria-label')).toContain(
      `heads 0 3: ${digits(withWeights('1,0,0,1').combined['minimax_fidelity']!.mean!)}`,
    );
    await lattice.locator('[data-key="9"]').click();
    expect(await page.getByRole('checkbox', { name: 'head 1' }).isChecked()).toBe(false);
    await page.waitForFunction(
      () => location.hash.includes('weights=0.5,0,0,0.5') || location.hash.includes('weights=0.5%2C0%2C0%2C0.5'),
    );
    await lattice.locator('[data-key="9"]').focus();
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Enter');
    await expect.poll(async () => page.locator('.mix-row input[type=checkbox]:checked').count()).toBe(3);
  });

  it('shows Shapley values and pairs of this sample', async () => {
    const page = await open(`${pages.heads}#mixer`);
    await ready(page);
    const [value] = pages.importance.layers[0]!.values;
    await page.locator('figure:has-text("What each head adds")').getByRole('button', { name: 'Table' }).click();
    expect(await page.locator('figure:has-text("What each head adds") tbody tr:nth-child(2) td').first().innerText()).toBe(
      digits(value!.heads[1]!.shapley.mean!),
    );
    await page.locator('figure:has-text("Pairs: redundant")').getByRole('button', { name: 'Table' }).click();
    expect(await page.locator('figure:has-text("Pairs: redundant") tbody tr:nth-child(1) td').first().innerText()).toBe(
      digits(value!.pairs[0]!.mean!),
    );
    await page.getByLabel('Speed', { exact: true }).check();
    await expect
      .poll(() => page.locator('figure:has-text("What each head adds") tbody tr:nth-child(2) td').first().innerText())
      .toBe(digits(pages.importance.layers[0]!.values[1]!.heads[1]!.shapley.mean!));
  });

  it('measures all sets of more heads when asked', async () => {
    const page = await open(`${wide.analyze}#mixer`);
    await page.getByRole('button', { name: 'Measure every set on this sample' }).click();
    await page.waitForSelector('figure:has-text("Every set of heads") circle');
    expect(await page.locator('figure:has-text("Every set of heads") circle[role=button]').count()).toBe(1023);
  });

  it('saves the program’s document of the mix', async () => {
    const page = await open(`${pages.analyze}#mixer?weights=0.5,0.5,0,0`);
    await ready(page);
    const { bytes } = await download(page, () => page.getByRole('button', { name: 'Save JSON' }).click());
    const document = JSON.parse(bytes.toString()) as { schema: string; combined: { minimax_fidelity: { value: number } } };
    expect(document.schema).toBe('synergraph.graph');
    const value = withWeights('1,1,0,0').combined['minimax_fidelity']!.mean!;
    expect(Math.abs(document.combined.minimax_fidelity.value / value - 1)).toBeLessThan(1e-12);
  });
});

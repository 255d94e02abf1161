import { describe, expect, it } from 'vitest';
import { format, quantityOf } from '../../src/quantities';
import { download, useBrowser } from './browser';
import { attention, attentionPages } from './pages';

const pages = attentionPages(attention(3, 4, 4, 24), 'overview');
const { open } = useBrowser();
const layers = pages.document.conventions[0]!.layers;
const heatmap = 'figure:has-text("layers × heads")';

describe('Overview', () => {
  it('shows the program’s numbers', async () => {
    const page = await open(pages.analyze);
    const label = await page.locator(`${heatmap} [data-key="1 2"]`).getAttribute('aria-label');
    const mean = (layers[1]!.heads[2]!['minimax_fidelity'] as { mean: number }).mean;
    expect(label).toContain(`layer 1, head 2: ${format(quantityOf('minimax_fidelity'), mean)}`);
    await page.getByLabel('Quantity').selectOption('mixing_time_0.25');
    const all = await page.locator(`${heatmap} [data-key="0 4"]`).getAttribute('aria-label');
    expect(all).toContain(
      `all heads together: ${format(quantityOf('mixing_time_0.25'), layers[0]!.combined['mixing_time_0.25']!.mean)}`,
    );
    expect(page.url()).not.toContain('quantity=minimax');
  });

  it('marks the best head', async () => {
    const page = await open(pages.analyze);
    const fidelity = (h: number) => (layers[0]!.heads[h]!['minimax_fidelity'] as { mean: number }).mean;
    const best = [0, 1, 2, 3].reduce((a, b) => (fidelity(b) > fidelity(a) ? b : a));
    expect(await page.locator(`${heatmap} [data-key="0 ${best}"]`).getAttribute('aria-label')).toMatch(/, best/);
  });

  it('says more when pointed at, and goes deeper by a click', async () => {
    const page = await open(pages.analyze);
    const cell = page.locator(`${heatmap} [data-key="2 1"]`);
    await cell.hover();
    expect(await page.locator('.tooltip').innerText()).toMatch(/Layer 2, head 1[\s\S]*median/);
    await cell.click();
    await page.waitForSelector('#view-layer');
    expect(page.url()).toContain('#layer?layer=2&head=1');
    await page.goBack();
    await page.waitForSelector('#view-overview');
  });

  it('is read with the keyboard alone', async () => {
    const page = await open(pages.analyze);
    await page.locator(`${heatmap} [data-key="0 0"]`).focus();
    for (const key of ['ArrowDown', 'ArrowRight', 'ArrowRight', 'End', 'ArrowLeft']) await page.keyboard.press(key);
    expect(await page.evaluate(() => document.activeElement?.getAttribute('data-key'))).toBe('1 3');
    await page.keyboard.press('Enter');
    await page.waitForSelector('#view-layer');
    expect(page.url()).toContain('layer=1&head=3');
  });

  it('reads its lines with the arrow keys', async () => {
    const page = await open(pages.analyze);
    const reader = page.locator('figure:has-text("layer by layer") [role=slider]');
    await reader.focus();
    await page.keyboard.press('ArrowRight');
    expect(await reader.getAttribute('aria-valuetext')).toContain(
      `all heads together ${format(quantityOf('minimax_fidelity'), layers[1]!.combined['minimax_fidelity']!.mean)}`,
    );
  });

  it('has both conventions', async () => {
    const page = await open(pages.analyze);
    await page.getByLabel('Published').check();
    const mean = (pages.document.conventions[1]!.layers[0]!.heads[0]!['minimax_fidelity'] as { mean: number }).mean;
    expect(await page.locator(`${heatmap} [data-key="0 0"]`).getAttribute('aria-label')).toContain(
      format(quantityOf('minimax_fidelity'), mean),
    );
    await page.waitForFunction(() => location.hash.includes('convention=published'));
  });

  it('sorts tables and saves them in full', async () => {
    const page = await open(pages.analyze);
    const figure = page.locator(heatmap);
    await figure.getByRole('button', { name: 'Table' }).click();
    await figure.getByRole('button', { name: 'head 1' }).click();
    const column = async () => (await figure.locator('tbody tr td:nth-child(3)').allInnerTexts()).map(Number);
    const values = await column();
    expect(values).toEqual([...values].sort((a, b) => a - b));
    const { name, bytes } = await download(page, () => figure.getByRole('button', { name: 'Save the numbers as CSV' }).click());
    expect(name).toBe('layers-heads-minimax_fidelity.csv');
    expect(bytes.toString()).toContain(String((layers[0]!.heads[1]!['minimax_fidelity'] as { mean: number }).mean));
  });

  it('saves the program’s document', async () => {
    const page = await open(pages.analyze);
    const { bytes } = await download(page, () => page.getByRole('button', { name: 'Save JSON' }).click());
    expect(JSON.parse(bytes.toString())).toEqual(pages.document);
  });

  it('shows what heads are worth, in words and numbers', async () => {
    const page = await open(pages.heads);
    await page.getByText(pages.importance.summary[0]!).waitFor();
    const shapley = pages.importance.layers[0]!.values[0]!.heads[0]!.shapley.mean!;
    expect(await page.locator(`${heatmap} [data-key="0 0"]`).getAttribute('aria-label')).toContain(
      format(quantityOf('shapley'), shapley),
    );
  });
});

/** What holds of every view: nothing hostile runs, everyone can read it, figures are saved, it prints. */
import axe from 'axe-core';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Page } from 'playwright-core';
import { download, useBrowser } from './browser';
import { analyzePage, attention, attentionPages, base, embed, studyPage, writePage } from './pages';

const pages = attentionPages(attention(2, 2, 4, 16, 21), 'whole');
const study = studyPage();
const empty = writePage('whole-empty.html', null);
const { open, complaints } = useBrowser();

const VIEWS: [name: string, url: string, ready: string][] = [
  ['overview', `${pages.analyze}#overview`, 'figure svg'],
  ['heads', `${pages.heads}#overview`, 'figure svg'],
  ['layer', `${pages.analyze}#layer`, '.reading'],
  ['mixer', `${pages.analyze}#mixer`, 'figure:has-text("Every set of heads") circle'],
  ['study', `${study}#study`, 'figure svg'],
  ['graph', `${empty}#graph`, 'figure:has-text("The graph") [data-key]'],
  ['files', `${empty}#files`, '.drop-zone'],
];

const violations = async (page: Page) => {
  await page.evaluate(axe.source);
  const result = (await page.evaluate('axe.run(document, { resultTypes: ["violations"] })')) as axe.AxeResults;
  return result.violations.map((one) => `${one.id}: ${one.nodes.map((node) => node.html.slice(0, 160)).join(' | ')}`);
};

describe.each(VIEWS)('%s', (name, url, ready) => {
  it('has no barriers in dark, and prints light, without controls', async () => {
    const page = await open(url, { colorScheme: 'dark' });
    await page.waitForSelector(ready);
    expect(await violations(page)).toEqual([]);
    const pdf = await page.pdf({ format: 'A4' });
    expect(pdf.subarray(0, 5).toString()).toBe('%PDF-');
    await page.emulateMedia({ media: 'print' });
    expect(await page.locator('.top').isVisible()).toBe(false);
    if (name === 'layer' || name === 'mixer')
      expect(await page.locator('.print-only').innerText()).toMatch(/^Layer 0.*sample 0$/);
  });

  it('fits a phone and fills a wall', async () => {
    const page = await open(url, { viewport: { width: 360, height: 740 } });
    await page.waitForSelector(ready);
    const width = () => page.evaluate(() => document.documentElement.scrollWidth);
    expect(await width()).toBeLessThanOrEqual(360);
    expect(await violations(page)).toEqual([]);
    await page.setViewportSize({ width: 3840, height: 2160 });
    expect(await width()).toBeLessThanOrEqual(3840);
  });

  it('has no barriers in light, and is reached by the Tab key, every control', async () => {
    const page = await open(url, { colorScheme: 'light' });
    await page.waitForSelector(ready);
    expect(await violations(page)).toEqual([]);
    const seen = await page.evaluateHandle(() => {
      const tags: string[] = [];
      document.addEventListener('focusin', (event) => tags.push((event.target as Element).tagName));
      return tags;
    });
    for (let i = 0; i < 90; ++i) await page.keyboard.press('Tab');
    const tags = new Set(await seen.jsonValue());
    for (const tag of ['A', 'BUTTON']) expect(tags).toContain(tag);
    if (name !== 'files') expect(tags.has('SELECT') || tags.has('INPUT')).toBe(true);
  });

  if (ready !== '.drop-zone')
    it('saves every figure as SVG and PNG, and its numbers as CSV', async () => {
      // Chromium takes no more than ten downloads from a page.
      for (let i = 0, more = true; more; ++i) {
        const page = await open(url);
        await page.waitForSelector(ready);
        const figures = page.locator('figure:visible');
        const figure = figures.nth(i);
        await figure.locator('svg, canvas').first().waitFor(); // others may come before it
        const svg = (await download(page, () => figure.getByRole('button', { name: 'Save as SVG' }).click())).bytes.toString();
        expect(svg).toMatch(/^<svg /);
        const parsed = await page.evaluate((text) => {
          const made = new DOMParser().parseFromString(text, 'image/svg+xml');
          return {
            wrong: made.querySelector('parsererror')?.textContent ?? null,
            marks: made.querySelectorAll('path, rect, circle, text, image').length,
            scripts: made.querySelectorAll('script, foreignObject').length,
          };
        }, svg);
        expect(parsed).toMatchObject({ wrong: null, scripts: 0 });
        expect(parsed.marks).toBeGreaterThan(3);
        await figure.locator('svg, canvas').first().waitFor();
        const png = (await download(page, () => figure.getByRole('button', { name: 'Save as PNG' }).click())).bytes;
        expect(png.subarray(1, 4).toString()).toBe('PNG');
        expect(png.length).toBeGreaterThan(2000);
        const csv = figure.getByRole('button', { name: 'Save the numbers as CSV' });
        if ((await csv.count()) > 0) {
          const lines = (await download(page, () => csv.click())).bytes.toString().trim().split('\n');
          expect(lines.length).toBeGreaterThan(1);
        }
        more = i + 1 < (await figures.count());
      }
    });
});

describe('the page', () => {
  it('runs nothing but its own script', async () => {
    const page = await open(pages.analyze);
    const blocked = await page.evaluate(() => {
      const tried = document.createElement('script');
      tried.textContent = 'window.stranger = 1';
      document.body.append(tried);
      return (window as { stranger?: number }).stranger === undefined;
    });
    expect(blocked).toBe(true);
    const complaint = await page.evaluate(() =>
      fetch('https://example.org/').then(
        () => 'sent',
        () => 'refused',
      ),
    );
    expect(complaint).toBe('refused');
    expect(complaints.splice(0).every((line) => line.includes('Content Security Policy'))).toBe(true);
  });

  it('shows hostile names as text', async () => {
    const name = '</script><script>window.stranger=1</script><img src=x onerror="window.stranger=1">\'"&amp;\u2028';
    const made = attention(1, 1, 2, 6);
    const { document: measured } = analyzePage(made, 'hostile');
    measured.conventions[0]!.layers[0]!.name = name;
    const { attention: embedded, bytes } = embed(made, {
      heads: [name, '<b>'],
      labels: Array.from({ length: 6 }, (_, i) => (i === 2 ? name : `t${i}`)),
      layers: [name],
    });
    const url = writePage(
      'hostile.html',
      {
        ...base(name),
        command: 'analyze',
        document: { ...measured, conventions: [measured.conventions[0]!] },
        attention: embedded,
      },
      bytes,
    );
    for (const view of ['overview', 'layer', 'mixer']) {
      const page = await open(`${url}#${view}`);
      await page.waitForSelector(view === 'overview' ? 'figure svg' : '.reading');
      expect(await page.locator('h1').textContent()).toBe(name);
      expect(
        await page.evaluate(() => ({
          stranger: (window as { stranger?: number }).stranger ?? null,
          images: document.querySelectorAll('img').length,
          scripts: document.scripts.length,
        })),
      ).toEqual({ stranger: null, images: 0, scripts: 3 });
    }
    const page = await open(
      `${url}#graph?graph=${encodeURIComponent('nodes "<img src=x onerror=alert(1)>" b\nhead "</textarea><script>"\n "<img src=x onerror=alert(1)>" -> b\n')}`,
    );
    await page.waitForSelector('figure:has-text("The graph") [data-key]');
    expect(await page.evaluate(() => document.querySelectorAll('img').length)).toBe(0);
  });

  it('changes its theme', async () => {
    const page = await open(pages.analyze, { colorScheme: 'light' });
    const colour = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const light = await colour();
    const button = page.getByRole('button', { name: /^Theme/ });
    await button.click();
    await button.click();
    expect(await button.innerText()).toContain('Theme: dark');
    expect(await colour()).not.toBe(light);
  });

  it('survives any address', async () => {
    for (const hash of [
      '#nowhere',
      '#layer?layer=99&sample=99&head=99',
      '#mixer?weights=1,2',
      '#mixer?weights=0,0,0,0',
      '#graph?graph=nonsense',
      '#%00%ff?x',
      '#layer?head=-1&layer=1e9',
    ]) {
      const page = await open(pages.analyze + hash);
      await page.waitForSelector('main .view h1');
    }
  });

  it('prints a study on A4 with all of its tables and figures', async () => {
    const page = await open(study, { viewport: { width: 688, height: 1000 } }); // A4 within its margins
    await page.waitForSelector('figure svg');
    await page.emulateMedia({ media: 'print' });
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(688);
    const cut = await page.evaluate(
      () => [...document.querySelectorAll('.table')].filter((one) => one.scrollHeight > one.clientHeight + 1).length,
    );
    expect(cut).toBe(0);
    expect(await page.locator('.titled h2').allInnerTexts()).toEqual(
      expect.arrayContaining([
        'Mixing time: copy',
        'Subsets of heads: cycle',
        'Beyond the paper',
        'Trends along the number of heads',
        'Models',
        'Settings',
      ]),
    );
    expect(
      await page.locator('img.saved').evaluate((image: HTMLImageElement) => [image.naturalWidth, image.naturalHeight]),
    ).toEqual([40, 30]);
  });

  // A page of this size opens in well under a second (web/benchmarks); every report of the program contains it.
  it('is small', () => {
    expect(readFileSync(join(import.meta.dirname, '../../dist/page.html')).length).toBeLessThan(720_000);
  });
});

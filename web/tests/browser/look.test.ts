/** What a reader sees, of as many layers and heads as a small model has: on a desk, on a phone, on paper. */
import { describe, expect, it } from 'vitest';
import type { Page } from 'playwright-core';
import { digits, format, quantityOf } from '../../src/quantities';
import { reading, useBrowser } from './browser';
import { analyzePage, attention, attentionPages, base, embed, writePage } from './pages';

const many = attention(12, 4, 16, 12, 31);
const names = Array.from({ length: 12 }, (_, l) => `model.layers.${l}.self_attn`);
const tokens = ['The', 'cat', 'sat', 'on', 'the', 'mat', 'and', 'then', 'it', 'fell', 'asleep', '.'];
const { document: measured } = analyzePage(many, 'many');
for (const { layers } of measured.conventions) layers.forEach((layer, l) => (layer.name = names[l]!));
const { attention: embedded, bytes } = embed(many, { layers: names, labels: tokens });
const big = writePage('big.html', { ...base('big'), command: 'analyze', document: measured, attention: embedded }, bytes);

const few = attentionPages(attention(2, 4, 4, 12, 8), 'few');
const both = (() => {
  const { attention: arrays, bytes: all } = embed(attention(2, 4, 4, 12, 8), { labels: tokens });
  const data = { ...base('both'), command: 'heads' as const, document: few.importance, also: [few.document], attention: arrays };
  return writePage('both.html', data, all);
})();

const { open } = useBrowser();
const PHONE = { viewport: { width: 390, height: 844 } };

const ready = async (page: Page, view: string) => {
  await page.waitForSelector(view === 'overview' ? 'figure svg' : '.reading');
  await page.waitForSelector('figure:visible .drawing :is(svg, canvas)');
};

/** Texts of figures that are outside of what can be seen of them, by scrolling too. */
const cut = (page: Page) =>
  page.locator('figure:visible .drawing').evaluateAll((all) =>
    all.flatMap((place) => {
      const { left, top, bottom } = place.getBoundingClientRect();
      const right = left - place.scrollLeft + place.scrollWidth;
      return [...place.querySelectorAll('text')].flatMap((text) => {
        const box = text.getBoundingClientRect();
        const inside = box.left > left - 0.5 && box.right < right + 0.5 && box.top > top - 0.5 && box.bottom < bottom + 0.5;
        return inside || box.width === 0 ? [] : [text.textContent];
      });
    }),
  );

describe.each([
  ['desk', {}],
  ['phone', PHONE],
] as const)('on a %s', (_, options) => {
  it.each([`${big}#overview`, `${big}#layer`, `${big}#mixer`, `${both}#overview`, `${both}#mixer`, `${both}#layer`])(
    'no text is cut: %#',
    async (url) => {
      const page = await open(url, options);
      await ready(page, url.split('#')[1]!);
      if (url.endsWith('mixer') && url.startsWith(both))
        await page.locator('figure:has-text("Pairs") svg').getByText('complementary').waitFor();
      await expect.poll(() => cut(page)).toEqual([]);
      const [width, links] = await page.evaluate(() => [
        innerWidth,
        [...document.querySelectorAll('.views a')].map((link) => link.getBoundingClientRect().right),
      ]);
      for (const right of links as number[]) expect(right).toBeLessThanOrEqual(width as number);
    },
  );
});

describe('the map of layers and heads', () => {
  const map = 'figure:has-text("layers × heads")';
  const rowNames = (page: Page) => page.locator(`${map} [data-sticky] text`).allTextContents();

  it('has its numbers on a phone, and the layers stay in sight', async () => {
    const page = await open(big, PHONE);
    await ready(page, 'overview');
    expect(await page.locator(`${map} .cell text`).count()).toBe(12 * 17);
    expect(await rowNames(page)).toEqual(['layer', ...names.map((__, l) => String(l))]);
    const place = page.locator(`${map} .drawing`);
    const left = () =>
      page
        .locator(`${map} [data-sticky] text`)
        .last()
        .evaluate((text) => text.getBoundingClientRect().left);
    const before = await left();
    await place.evaluate((element) => (element.scrollLeft = 200));
    await expect.poll(left).toBeCloseTo(before, 0);
  });

  it('has one scale of colours, or one a layer', async () => {
    const page = await open(big);
    await ready(page, 'overview');
    const darkest = async () => {
      const fills = await page
        .locator(`${map} .cell`)
        .evaluateAll((all) =>
          all.map((cell) => [cell.getAttribute('data-key')!.split(' ')[0]!, cell.querySelector('rect')!.getAttribute('fill')!]),
        );
      const dark = Math.min(...fills.map(([, fill]) => shade(fill!)));
      return new Set(fills.filter(([, fill]) => shade(fill!) <= dark).map(([row]) => row)).size;
    };
    expect(await darkest()).toBeLessThan(12);
    await page.getByLabel('One scale per layer').check();
    await page.waitForFunction(() => location.hash.includes('scale=layer'));
    await expect.poll(darkest).toBe(12);
    await page.locator(map).getByText('layer’s largest').waitFor();
  });
});

/** How light a colour is. */
const shade = (fill: string) => {
  const parts = fill.startsWith('#')
    ? fill
        .slice(1)
        .match(/../g)!
        .map((part) => parseInt(part, 16))
    : fill.match(/[\d.]+/g)!.map(Number);
  return parts.slice(0, 3).reduce((sum, part) => sum + part, 0);
};

describe('the mean of all samples', () => {
  const layer = few.document.conventions[0]!.layers[1]!;

  it('in Layer is the overview’s', async () => {
    const page = await open(`${few.analyze}#layer?layer=1`);
    await ready(page, 'layer');
    await page.getByLabel('Sample').selectOption('mean of all samples');
    await page.getByText(/^Numbers are means over all 4 samples, as in the overview/).waitFor();
    expect(await reading(page, 'Minimax fidelity')).toBe(
      format(quantityOf('minimax_fidelity'), layer.combined['minimax_fidelity']!.mean),
    );
    expect(await reading(page, 'Mixing time T_mix(0.25)')).toBe(digits(layer.combined['mixing_time_0.25']!.mean!));
    await page.waitForFunction(() => location.hash.includes('sample=mean'));
    expect(await page.getByRole('button', { name: 'Save JSON' }).isDisabled()).toBe(true);
    await page.getByRole('button', { name: /^head 2/ }).click();
    const head = layer.heads[2]!['minimax_fidelity'] as { mean: number };
    await expect.poll(() => reading(page, 'Minimax fidelity')).toBe(format(quantityOf('minimax_fidelity'), head.mean));
  });

  it('in Mixer is the overview’s, and of sets what heads finds', async () => {
    const page = await open(`${few.analyze}#mixer?layer=1&sample=mean`);
    await page.waitForSelector('figure:has-text("Every set of heads") circle');
    expect(await reading(page, 'Minimax fidelity')).toBe(
      format(quantityOf('minimax_fidelity'), layer.combined['minimax_fidelity']!.mean),
    );
    const adds = page.locator('figure:has-text("What each head adds")');
    await adds.getByRole('button', { name: 'Table' }).click();
    expect(await adds.locator('tbody td:nth-child(2)').allInnerTexts()).toEqual(
      few.importance.layers[1]!.values[0]!.heads.map(({ shapley }) => digits(shapley.mean!)),
    );
    await page.getByRole('checkbox', { name: 'head 1' }).uncheck();
    await expect
      .poll(() => reading(page, 'Minimax fidelity'))
      .not.toBe(format(quantityOf('minimax_fidelity'), layer.combined['minimax_fidelity']!.mean));
  });
});

describe('on paper', () => {
  const sheets = (pdf: Buffer) => pdf.toString('latin1').match(/\/Type \/Page\b(?!s)/g)!.length;
  it.each([
    `${big}#layer`,
    `${big}#layer?sample=mean&head=3`,
    `${big}#mixer`,
    `${both}#layer?sample=mean`,
    `${both}#mixer`,
    `${both}#mixer?sample=mean`,
  ])('Layer and Mixer take one sheet: %#', async (url) => {
    for (const options of [{}, PHONE]) {
      const page = await open(url, options);
      await ready(page, 'layer');
      if (url.startsWith(both) && url.includes('mixer'))
        await page.waitForSelector('figure:has-text("Every set of heads") circle');
      await expect.poll(() => page.locator('[role=status]:visible', { hasText: 'Measuring' }).count()).toBe(0);
      for (const paper of ['A4', 'Letter']) expect(sheets(await page.pdf({ format: paper })), paper).toBe(1);
    }
  });
});

it.each(['overview', 'layer', 'mixer'])('%s says what its numbers mean', async (view) => {
  const page = await open(`${both}#${view}`);
  await ready(page, view);
  const glossary = page.locator('.glossary');
  expect(await glossary.locator('dd').first().isVisible()).toBe(false);
  await glossary.getByText('What these numbers mean').click();
  const { label, about } = quantityOf('minimax_fidelity');
  const entry = glossary
    .locator('div')
    .filter({ has: page.locator('dt', { hasText: label }) })
    .first();
  expect((await entry.locator('dd').innerText()).toLowerCase()).toBe(`${about}.`.toLowerCase());
  if (view !== 'overview') expect(await glossary.locator('dt').count()).toBe(await page.locator('.reading').count());
});

it.each([
  [
    'heads',
    () => ({ ...few.importance, layers: few.importance.layers.map((one) => ({ ...one, values: [] })) }),
    'layers[0].values',
  ],
  ['analyze', () => ({ ...few.document, conventions: null }), 'conventions'],
] as const)('a page whose data of %s are damaged says so', async (command, document, place) => {
  const data = { ...base('torn'), command, document: document() as never };
  const page = await open(`${writePage(`torn-${command}.html`, data)}`);
  const line = await page.locator('.say.error').innerText();
  expect(line).toContain(`The data in this page are damaged. torn: ${place} is not a list`);
  expect(line).not.toMatch(/undefined|null|TypeError|Cannot read/);
  await page.getByRole('link', { name: 'Graphs' }).click();
  await page.waitForSelector('figure:has-text("The graph") [data-key]');
});

/** Chromium, and pages that must not complain or connect to anything. */
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, inject } from 'vitest';

/** How long anything may take: machines may be busy. */
const PATIENCE = 120_000;

/** Opens pages in the browser that all tests share; after each test nothing may have gone wrong. */
export function useBrowser(): { open(url: string, options?: BrowserContextOptions): Promise<Page>; complaints: string[] } {
  let browser: Browser;
  const complaints: string[] = [];
  const open: Page[] = [];
  beforeAll(async () => {
    browser = await chromium.connect(inject('browser'));
  });
  afterEach(async () => {
    for (const page of open.splice(0)) await page.context().close();
    expect(complaints.splice(0)).toEqual([]);
  });
  afterAll(() => browser.close());
  return {
    complaints,
    async open(url, options = {}) {
      const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, acceptDownloads: true, ...options });
      const page = await context.newPage();
      page.setDefaultTimeout(PATIENCE);
      open.push(page);
      page.on('console', (message) => complaints.push(`${message.type()}: ${message.text()}`));
      page.on('pageerror', (error) => complaints.push(`error: ${error.stack ?? error.message}`));
      page.on('request', (request) => {
        if (!/^(file|blob|data):/.test(request.url())) complaints.push(`request: ${request.url()}`);
      });
      await page.goto(url);
      await page.waitForSelector('main .view');
      return page;
    },
  };
}

/** The text of a downloaded file. */
export async function download(page: Page, action: () => Promise<unknown>): Promise<{ name: string; bytes: Buffer }> {
  const [file] = await Promise.all([page.waitForEvent('download'), action()]);
  const chunks: Buffer[] = [];
  for await (const chunk of await file.createReadStream()) chunks.push(chunk as Buffer);
  return { name: file.suggestedFilename(), bytes: Buffer.concat(chunks) };
}

/** The number under the name of a reading. */
export const reading = (page: Page, label: string): Promise<string> =>
  page.locator(`.reading:has(dt:text-is("${label}")) dd`).first().innerText();

/** The cells of a CSV file without quotes. */
export const csvRows = (text: string): string[][] =>
  text
    .trim()
    .split('\n')
    .map((line) => line.split(','));

/** A picture of a page: node web/picture.mjs FILE.html[#layer?sample=1] PICTURE.png */
import { chromium } from 'playwright-core';
import { resolve } from 'node:path';

const [page, picture] = process.argv.slice(2);
if (!page || !picture) throw new Error('usage: node web/picture.mjs FILE.html[#VIEW] PICTURE.png');
const [file, view = ''] = page.split(/(#.*)/s);
const browser = await chromium.launch({ executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium', args: ['--no-sandbox'] });
const tab = await browser.newPage({ viewport: { width: 1440, height: 930 } });
await tab.goto(`file://${resolve(file)}${view}`);
await tab.waitForSelector('figure svg');
await tab.waitForFunction(() => !document.body.innerText.includes('Measuring…'));
await tab.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
await tab.screenshot({ path: picture });
await browser.close();

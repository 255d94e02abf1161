/** Times in Chromium, beside what they may be at most. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { useBrowser } from '../tests/browser/browser';
import { attention, analyzePage, base, embed, program, writeNpy, writePage } from '../tests/browser/pages';
import { openTestCore } from '../src/core/testing';

const { open } = useBrowser();

const median = (values: number[]) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!;
const quantile = (values: number[], share: number) => [...values].sort((a, b) => a - b)[Math.floor(values.length * share)]!;
const say = (what: string, value: number, unit: string, most?: number) =>
  console.log(`${what}: ${value.toFixed(1)} ${unit}${most === undefined ? '' : ` (at most ${most})`}`);

it('the page without data', () => {
  const size = readFileSync(join(import.meta.dirname, '../dist/page.html')).length / 1000;
  say('page without data', size, 'KB', 700);
  expect(size).toBeLessThan(700);
});

it('opening 4 layers of 16 heads on 10 samples of 100 tokens', async () => {
  const pages = analyzePage(attention(4, 10, 16, 100), 'large');
  const times: number[] = [];
  for (let i = 0; i < 7; ++i) {
    const opened = await open(`${pages.analyze}?${i}`);
    await opened.waitForSelector('figure svg .cell');
    times.push(await opened.evaluate(() => performance.getEntriesByName('synergraph: shown')[0]!.startTime));
  }
  say('opening, to the first figures', median(times), 'ms', 1000);
  expect(median(times)).toBeLessThan(1000);
}, 300_000);

it('the mixer at 16 heads of 100 tokens', async () => {
  const { analyze } = analyzePage(attention(1, 1, 16, 100), 'mixer-large');
  const page = await open(`${analyze}#mixer`);
  await page.waitForSelector('.reading');
  await page.waitForTimeout(500);
  const times = await page.evaluate(async () => {
    const sliders = [...document.querySelectorAll<HTMLInputElement>('.mix-row input[type=range]')];
    const list: number[] = [];
    for (let k = 0; k < 120; ++k) {
      const slider = sliders[k % sliders.length]!;
      const changed = new Promise<number>((resolve) => {
        const watch = new MutationObserver(() => {
          watch.disconnect();
          resolve(performance.now());
        });
        watch.observe(document.querySelector('.readings')!, { subtree: true, childList: true, characterData: true });
      });
      const begin = performance.now();
      slider.value = String(0.03 + (0.5 * ((k * 37) % 100)) / 100);
      slider.dispatchEvent(new Event('input', { bubbles: true }));
      list.push((await changed) - begin);
      await new Promise((resolve) => setTimeout(resolve, 40));
    }
    return list.slice(10);
  });
  say('mixer, from a slider to the numbers, median', median(times), 'ms', 16);
  say('mixer, 95 %', quantile(times, 0.95), 'ms', 50);
  expect(median(times)).toBeLessThan(16);
}, 120_000);

it('zooming a matrix of 4096 tokens', async () => {
  const n = 4096;
  const triangle = (n * (n + 1)) / 2;
  const bytes = new Float32Array(triangle);
  for (let i = 0, at = 0; i < n; ++i) {
    let total = 0;
    for (let j = 0; j <= i; ++j) total += bytes[at + j] = 1 / (1 + ((i * 31 + j * 17) % 97) + (i - j) / 50);
    for (let j = 0; j <= i; ++j) bytes[at + j]! /= total;
    at += i + 1;
  }
  const { document: measured } = analyzePage(attention(1, 1, 1, 8), 'narrow');
  const arrays = embed(attention(1, 1, 1, 8)).attention;
  const data = { ...base('4096 tokens'), command: 'analyze' as const, document: measured, attention: { ...arrays, tokens: n } };
  const url = writePage('wide-matrix.html', data, Buffer.from(bytes.buffer));
  const page = await open(`${url}#layer`);
  await expect
    .poll(
      async () => {
        await page.locator('.matrix canvas').press('ArrowLeft');
        return page.locator('.matrix-readout').innerText();
      },
      { timeout: 120_000 },
    )
    .toMatch(/^query 4095, key 409/);
  const frames = await page.evaluate(async () => {
    const canvas = document.querySelector<HTMLCanvasElement>('.matrix canvas')!;
    const box = canvas.getBoundingClientRect();
    const list: number[] = [];
    let before = await new Promise<number>((resolve) => requestAnimationFrame(resolve));
    for (let k = 0; k < 240; ++k) {
      const zoom = Math.sin((k / 240) * 4 * Math.PI);
      canvas.dispatchEvent(
        new WheelEvent('wheel', {
          deltaY: -40 * Math.sign(zoom || 1),
          clientX: box.left + box.width * 0.4,
          clientY: box.top + box.height * 0.7,
          bubbles: true,
          cancelable: true,
        }),
      );
      const now = await new Promise<number>((resolve) => requestAnimationFrame(resolve));
      list.push(now - before);
      before = now;
    }
    return list.slice(20);
  });
  say('4096 tokens, frames a second while zooming, median', 1000 / median(frames), 'frames', 60);
  say('4096 tokens, longest of 95 % of the frames', quantile(frames, 0.95), 'ms', 34);
  expect(median(frames)).toBeLessThan(1000 / 59);
}, 300_000);

it('the core beside the program, one thread each', async () => {
  const file = writeNpy('beside.npy', attention(1, 100, 16, 100));
  const core = await openTestCore();
  const opened = await core.open('beside.npy', new Uint8Array(readFileSync(file)));
  const byProgram = (isa: string) => async () => {
    process.env['SYNERGRAPH_ISA'] = isa;
    program('analyze', file, '--per-head', '--threads', '1', '--quiet');
  };
  const ways: [string, () => Promise<unknown>][] = [
    ['WebAssembly', () => opened.analyze({ per_head: true })],
    ['x86-64-v2', byProgram('v2')],
    ['x86-64-v3', byProgram('v3')],
  ];
  // In turns, so that other programs disturb all alike.
  const times = ways.map((): number[] => []);
  for (let round = 0; round < 12; ++round)
    for (const [i, [, run]] of ways.entries()) {
      const begin = performance.now();
      await run();
      times[i]!.push(performance.now() - begin);
    }
  for (const [i, [name]] of ways.entries())
    say(`16 heads of 100 tokens on 100 samples, ${name}`, median(times[i]!.slice(2)), 'ms');
  for (const i of [1, 2])
    say(`  over ${ways[i]![0]}`, median(times[0]!.slice(2).map((time, round) => time / times[i]![round + 2]!)), 'times');
}, 120_000);

/** Colours that mean something are told apart by every reader, in both themes. */
import { rgb } from 'd3-color';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

type Triple = [number, number, number];

/** What the eyes of readers make of linear red, green and blue (Machado, Oliveira and Fernandes 2009, severity 1). */
const EYES: Record<string, [Triple, Triple, Triple]> = {
  'of most': [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  'with protanopia': [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  'with deuteranopia': [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  'with tritanopia': [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
};

const times = (rows: Triple[], v: number[]) => rows.map((row) => row.reduce((sum, x, i) => sum + x * v[i]!, 0));

const linear = (colour: string) => {
  const { r, g, b } = rgb(colour);
  return [r, g, b].map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
};

/** Oklab, lightness from 0 to 100: distances are about what is seen. */
function seen(colour: string, eyes: Triple[]): number[] {
  const light = times(eyes, linear(colour)).map((x) => Math.min(1, Math.max(0, x)));
  const cones: Triple[] = [
    [0.4122214708, 0.5363325363, 0.0514459929],
    [0.2119034982, 0.6806995451, 0.1073969566],
    [0.0883024619, 0.2817188376, 0.6299787005],
  ];
  const lab: Triple[] = [
    [0.2104542553, 0.793617785, -0.0040720468],
    [1.9779984951, -2.428592205, 0.4505937099],
    [0.0259040371, 0.7827717662, -0.808675766],
  ];
  return times(lab, times(cones, light).map(Math.cbrt)).map((x) => 100 * x);
}

const contrast = (a: string, b: string) => {
  const [low, high] = [a, b].map((c) => times([[0.2126, 0.7152, 0.0722]], linear(c))[0]! + 0.05).sort((x, y) => x - y);
  return high! / low!;
};

const css = readFileSync(join(import.meta.dirname, 'style.css'), 'utf8');
const theme = (selector: string) => {
  const from = css.indexOf(`${selector} {`);
  const colours = new Map(
    [...css.slice(from, css.indexOf('}', from)).matchAll(/--([\w-]+): (#\w{6})/g)].map((m) => [m[1]!, m[2]!]),
  );
  const get = (name: string) => colours.get(name)!;
  return { get, list: (name: string, count: number) => Array.from({ length: count }, (_, i) => get(`${name}-${i}`)) };
};

describe.each([
  ['light', ':root'],
  ['dark', ':root[data-theme="dark"]'],
])('%s', (_, selector) => {
  const { get, list } = theme(selector);
  const series = list('series', 8);

  describe.each(Object.entries(EYES))('to eyes %s', (__, eyes) => {
    const apart = (a: string, b: string) => Math.hypot(...seen(a, eyes).map((x, i) => x - seen(b, eyes)[i]!));

    it('kinds differ, the first four much', () => {
      series.forEach((a, i) =>
        series.slice(0, i).forEach((b, j) => expect(apart(a, b), `${i} and ${j}`).toBeGreaterThan(i < 4 ? 13 : 9)),
      );
    });

    it('redundant and complementary differ', () => {
      expect(apart(get('warm'), get('cool'))).toBeGreaterThan(18);
      expect(apart(get('warm-soft'), get('cool-soft'))).toBeGreaterThan(12);
      for (const end of ['warm', 'cool']) expect(apart(get(end), get('neutral'))).toBeGreaterThan(25);
    });

    it('more is always darker, or always lighter', () => {
      const steps = list('ramp', 6).map((colour) => seen(colour, eyes)[0]!);
      const sign = Math.sign(steps[5]! - steps[0]!);
      steps.slice(1).forEach((lightness, i) => expect(sign * (lightness - steps[i]!)).toBeGreaterThan(4));
    });
  });

  it('lines stand out from what they are drawn on', () => {
    for (const colour of series) expect(contrast(colour, get('surface'))).toBeGreaterThan(3);
  });
});

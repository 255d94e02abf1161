import { expect, it } from 'vitest';
import type { AnalyzeDocument } from '../core';
import { normalised, tokenName, tokenPhrase } from './selection';
import { emptySession } from './session';

it('makes shares of any weights', () => {
  expect(normalised([1e308, 1e308, 1e308, 1e308])).toEqual([0.25, 0.25, 0.25, 0.25]);
  expect(normalised([0, 0])).toEqual([0.5, 0.5]);
  expect(normalised([1, 3])).toEqual([0.25, 0.75]);
});

it('gives tokens their numbers in the input', () => {
  const attention = { labels: null, layers: [], system: () => ({ graph: '' }) };
  const analyze = { range: [2, 6] } as unknown as AnalyzeDocument;
  const session = { ...emptySession(), analyze, attention };
  expect([0, 1, 2].map(tokenName(session))).toEqual(['2', '3', '4']);
  const missing = { ...session, attention: { ...attention, missing: true, labels: ['missing mass', 'a', 'b'] } };
  expect([0, 1, 2].map(tokenName(missing))).toEqual(['missing mass', '2 a', '3 b']);
  expect([0, 1].map(tokenPhrase(missing))).toEqual(['missing mass', 'token 2 a']);
});

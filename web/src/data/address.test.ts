import { expect, it } from 'vitest';
import { fromHash } from '../state';
import { addressProblems } from './address';
import { emptySession, type Session } from './session';

const layer = {
  name: '1',
  index: 0,
  measured: 2,
  tokens: 5,
  heads: ['0', '1'],
  samples: [0, 1],
  weights: [0.5, 0.5],
  learned: null,
};
const session: Session = {
  ...emptySession(),
  attention: { labels: null, layers: [layer], system: () => ({ graph: '' }) },
};
const problems = (hash: string) => addressProblems(hash, fromHash(hash), session);

it('names what is not there', () => {
  expect(problems('#layer?layer=99&head=77&sample=5')).toEqual(['layer=99', 'sample=5', 'head=77']);
  expect(problems('#mixer?weights=a,b,c')).toEqual(['weights=a,b,c']);
  expect(problems('#mixer?weights=1,2,3')).toEqual(['weights=1,2,3']);
  expect(problems('#layer?head=1&sample=1')).toEqual([]);
});

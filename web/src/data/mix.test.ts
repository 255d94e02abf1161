import { describe, expect, it } from 'vitest';
import { bits, only, setName, size, switched, weightlessWords, withAll, withShare } from './mix';

const close = (a: number[], b: number[]) => a.forEach((value, i) => expect(value).toBeCloseTo(b[i]!, 12));

describe('shares', () => {
  it('keep the proportions of the others', () => {
    close(withShare([0.2, 0.2, 0.6], 2, 0.2), [0.4, 0.4, 0.2]);
    close(withShare([0.5, 0.5], 0, 7), [1, 0]);
    close(withShare([1, 0], 0, 0.3), [1, 0]);
  });
  it('come back when a head is switched off and on', () => {
    const given = [0.5, 0.3, 0.2];
    const off = switched(given, 1, given);
    close(off, [5 / 7, 0, 2 / 7]);
    close(switched(off, 1, given), given);
    close(withAll(off, given), given);
  });
  it('of a head that weighs 0 in the data stay 0 until the reader gives it one', () => {
    const given = [2 / 3, 0, 1 / 3];
    close(withAll(given, given), given);
    close(withAll([1, 0, 0], given), given);
    expect(switched(given, 1, given)).toEqual(given);
    expect(only(given, [false, true, false])).toBeNull();
    close(only(given, [true, true, false])!, [1, 0, 0]);
    const chosen = withShare(given, 1, 0.25);
    close(chosen, [0.5, 0.25, 0.25]);
    close(switched(chosen, 0, given), [0, 0.5, 0.5]);
  });
  it('say which heads weigh 0', () => {
    expect(weightlessWords(['2'])).toBe('Head 2 has weight 0: it stays off until its slider gives it a weight.');
    expect(weightlessWords(['0', '2'])).toBe('Heads 0, 2 have weight 0: they stay off until their sliders give them a weight.');
  });
  it('leave the last head on', () => expect(switched([0, 1], 1, [0.5, 0.5])).toEqual([0, 1]));
  it('of a subset', () => close(only([0.5, 0.3, 0.2], [true, false, true])!, [5 / 7, 0, 2 / 7]));
});

it('sets have names', () => {
  const names = ['0', '1', '2', '3'];
  expect(bits([0.5, 0, 0, 0.5])).toBe(9);
  expect(size(9)).toBe(2);
  expect(setName(9, names)).toBe('heads 0 3');
  expect(setName(15, names)).toBe('all heads');
  expect(setName(14, names)).toBe('all but 0');
  expect(setName(0, names)).toBe('no head');
});

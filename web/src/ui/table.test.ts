import { describe, expect, it } from 'vitest';
import { compareCells, measured, toCsv, words } from './table';

describe('a table', () => {
  it('is saved with numbers in full, times that never come as the program writes them', () => {
    const cells = [measured('hitting_max', 1 / 3), measured('hitting_max', null), measured('synergy', null), words('a,"b"')];
    const columns = ['one', 'two', 'three', 'four'].map((label) => ({ label }));
    expect(toCsv({ name: 't', caption: 't', columns, rows: [{ cells }] })).toBe(
      'one,two,three,four\n0.3333333333333333,inf,,"a,""b"""\n',
    );
  });
  it('puts last what is infinite or does not exist', () => {
    const [one, never, none] = [measured('hitting_max', 1), measured('hitting_max', null), measured('synergy', null)];
    expect(compareCells(one, never)).toBeLessThan(0);
    expect(compareCells(none, one)).toBeGreaterThan(0);
    expect(compareCells(never, none)).toBe(0);
  });
});

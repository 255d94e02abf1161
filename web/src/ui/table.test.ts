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
  it('is saved without anything that a spreadsheet would run', () => {
    const names = ['=1+1', '+1', '-1', '@SUM(1)', '\t=1', '\r=1', "'=1", 'a;=1', 'plain'];
    const cells = [...names.map(words), measured('synergy', -1.5)];
    const columns = [...names, 'number'].map((label) => ({ label }));
    const line = `'=1+1,'+1,'-1,'@SUM(1),"'\t=1","'\r=1",''=1,"a;=1",plain`;
    expect(toCsv({ name: 't', caption: 't', columns, rows: [{ cells }] })).toBe(`${line},number\n${line},-1.5\n`);
  });
  it('puts last what is infinite or does not exist', () => {
    const [one, never, none] = [measured('hitting_max', 1), measured('hitting_max', null), measured('synergy', null)];
    expect(compareCells(one, never)).toBeLessThan(0);
    expect(compareCells(none, one)).toBeGreaterThan(0);
    expect(compareCells(never, none)).toBe(0);
  });
});

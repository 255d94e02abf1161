import { describe, expect, it } from 'vitest';
import { digits, format, formatSpread, quantityOf } from './quantities';

describe('quantities', () => {
  it('writes numbers for reading', () => {
    expect(digits(0.00421875)).toBe('0.004219');
    expect(digits(10)).toBe('10');
    expect(digits(-0.5)).toBe('−0.5');
    expect(digits(1.23456e-9)).toBe('1.235e−9');
    expect(digits(3.2e12)).toBe('3.2e12');
    expect(digits(0)).toBe('0');
  });
  it('says what null means', () => {
    expect(format(quantityOf('hitting_mean'), null)).toBe('never');
    expect(format(quantityOf('synergy'), null)).toBe('none');
    expect(format(quantityOf('synergy'), undefined)).toBe('–');
  });
  it('knows mixing times of every eps', () => expect(quantityOf('mixing_time_0.25').short).toBe('T_mix(0.25)'));
  it('tells averaged times by their distance', () => {
    expect(quantityOf('averaged_mixing_time_0.25').short).toBe('T_avg(0.25)');
    expect(quantityOf('averaged_mixing_time_tv_1e-05').short).toBe('T_avg,tv(1e-05)');
  });
  it('writes a spread', () => expect(formatSpread(quantityOf('synergy'), 1.25, 0.333)).toBe('1.25 ± 0.33'));
});

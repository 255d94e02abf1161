import { describe, expect, it } from 'vitest';
import { bestHeadText, fidelityText, headName, interval, synergyNote, synergyText } from './intervals';

const fidelity = (value: number, upper: number) => ({
  minimax_fidelity: { value, upper, certified: value === upper, node: '0', time: 1, steps: 1 },
});
const synergy = (value: number | null, lower: number | null, upper: number | null, present: boolean | null) => ({
  synergy: value,
  synergy_lower: lower,
  synergy_upper: upper,
  synergy_present: present,
});

describe('intervals', () => {
  it('are shown where a number is not certified', () => {
    expect(fidelityText(fidelity(0.25, 0.25))).toBe('0.25');
    expect(fidelityText(fidelity(2.220446049250313e-16, 0.5))).toBe('2.22e−16 to 0.5');
    expect(interval(0.1, null)).toBe('at least 0.1');
  });
  it('of synergy leave it open, or do not', () => {
    expect(synergyText(synergy(1.5, 1.5, 1.5, true))).toBe('1.5');
    expect(synergyText(synergy(null, 0.5, 2, null))).toBe('0.5 to 2');
    expect(synergyNote(synergy(null, 0.5, 2, null))).toContain('undecided');
    expect(synergyNote(synergy(null, 1.5, 2, true))).toBe('present');
  });
  it('infinite is not none', () => {
    expect(synergyText(synergy(null, null, null, true))).toBe('∞');
    expect(synergyText(synergy(null, null, null, false))).toBe('none');
    expect(synergyNote(synergy(null, null, null, false))).toBe('no head delivers anything');
  });
  it('name the best head', () => {
    expect(
      bestHeadText({ best_head: 'Head 1', best_head_decided: false, best_head_fidelity: 0, best_head_fidelity_upper: 0.5 }),
    ).toBe('best alone: Head 1, 0 to 0.5 (undecided)');
    expect(headName('3')).toBe('head 3');
  });
});

import { describe, expect, it, vi } from 'vitest';
import { fromHash, initialState, Store, toHash, unreadable } from './state';

describe('the address', () => {
  it('carries every field', () => {
    const state = {
      ...initialState(),
      view: 'graph' as const,
      layer: 3,
      head: 2,
      weights: [0.25, 0, 0.75],
      graph: 'nodes a "b?&=#" c\nhead 1\n a -> c : 0.5',
    };
    expect(fromHash(toHash(state))).toEqual(state);
  });
  it('is short in the beginning', () => expect(toHash(initialState())).toBe('#overview'));
  it('may be nonsense', () => {
    expect(fromHash('')).toEqual(initialState());
    expect(fromHash('#nowhere?layer=-1&head=x&weights=1,,NaN&__proto__=1&convention=other')).toEqual(initialState());
  });
});

it('says what of an address cannot be read', () => {
  expect(unreadable('#mixer?weights=a,b,c&layer=1&colour=red')).toEqual(['weights=a,b,c', 'colour=red']);
  expect(unreadable('')).toEqual([]);
  expect(unreadable(toHash({ ...initialState(), layer: 4 }))).toEqual([]);
});

describe('Store', () => {
  const window = () => {
    const location = { hash: '#mixer?layer=1' };
    return {
      location,
      history: {
        pushState: vi.fn((_: unknown, __: string, hash: string) => (location.hash = hash)),
        replaceState: vi.fn((_: unknown, __: string, hash: string) => (location.hash = hash)),
      },
      addEventListener: vi.fn(),
      setTimeout: vi.fn(() => 1),
      clearTimeout: vi.fn(),
    };
  };
  it('starts where the address says, and tells of changes', () => {
    const w = window();
    const store = new Store(w as never);
    const heard = vi.fn();
    store.subscribe(heard);
    store.set({ sample: 4 });
    expect(heard.mock.calls[0]![0]).toMatchObject({ view: 'mixer', layer: 1, sample: 4 });
    expect(w.location.hash).toBe('#mixer?layer=1');
    store.flush();
    expect(w.location.hash).toBe('#mixer?layer=1&sample=4');
    store.set({ view: 'layer' });
    expect(w.history.pushState).toHaveBeenCalledOnce();
    store.set({ graph: 'nodes 2' }, 'edit');
    expect(w.history.pushState).toHaveBeenCalledTimes(2);
    store.set({ graph: 'nodes 2' }, 'edit');
    expect(w.history.pushState).toHaveBeenCalledTimes(2);
  });
});

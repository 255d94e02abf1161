import { fill, h } from '../dom';
import { choose, segments } from '../ui/controls';
import { button, div } from '../ui/parts';
import type { Store } from '../state';
import type { Playing } from './graph-model';

/** What is played, from where, and the step that is shown. */
export function player(store: Store): { element: HTMLElement; update(playing: Playing): void; stop(): void } {
  let last = 0;
  let timer = 0;
  const heads = segments<number | string>('Head', [], (value) => store.set({ head: value === 'all' ? 'all' : Number(value) }));
  const plays = segments<'walk' | 'diffusion'>('Play', { walk: 'Walk', diffusion: 'Diffusion' }, (play) => store.set({ play }));
  const starts = choose<number>('From', [], (start) => store.set({ start, step: 0 }));
  const slide = () => store.set({ step: Number(slider.value) });
  const slider = h('input', { type: 'range', min: 0, max: 1, step: 1, 'aria-label': 'Step', oninput: slide });
  const text = h('output', {});
  const stop = () => {
    clearInterval(timer);
    timer = 0;
    fill(toggle, 'Play');
  };
  const play = () => {
    if (store.get().step >= last) store.set({ step: 0 });
    fill(toggle, 'Pause');
    timer = window.setInterval(() => {
      if (store.get().step >= last) return stop();
      store.set({ step: store.get().step + 1 });
    }, 450);
  };
  const toggle = button('Play', () => (timer ? stop() : play()), { class: 'main' });
  const step = (by: number) => {
    stop();
    store.set({ step: Math.max(0, Math.min(last, store.get().step + by)) });
  };
  const steps = [
    button('‹', () => step(-1), { 'aria-label': 'One step back' }),
    button('›', () => step(1), { 'aria-label': 'One step on' }),
  ];
  return {
    element: h(
      'section',
      { class: 'card player screen-only', 'aria-label': 'Play' },
      div('controls', plays, starts, heads),
      div('player-row', toggle, steps, slider, text),
    ),
    stop,
    update({ of: { parsed, steps: made }, state, head, start }) {
      const names = parsed.heads.map(({ name: label }, value): { value: number | string; label: string } => ({ value, label }));
      heads.update(names.length > 1 ? head : 0, [...(names.length > 1 ? [{ value: 'all', label: 'All' }] : []), ...names]);
      const sources = parsed.nodes.slice(0, Math.max(1, parsed.nodes.length - 1));
      starts.update(
        start,
        sources.map((label, value) => ({ value, label })),
      );
      plays.update(state.play);
      last = made.steps;
      const shown = Math.min(state.step, last);
      slider.max = String(last);
      slider.value = String(shown);
      slider.setAttribute('aria-valuetext', `step ${state.step}`);
      fill(text, `t = ${shown}`);
    },
  };
}

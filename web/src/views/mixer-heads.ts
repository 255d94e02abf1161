/** The heads of a mix: a switch and a slider for each, and weights to begin with. */
import { Latest } from '../async';
import type { BestWeights, HeadValue } from '../core';
import { withShare } from '../data/mix';
import { normalised } from '../data/selection';
import { fill, h, uniqueId, type Child } from '../dom';
import { digits, percent } from '../quantities';
import { button, div, link } from '../ui/parts';
import type { MixerModel } from './mixer-model';

/** One row a head: a switch, a name, a slider, its share. */
export function headRows(model: MixerModel) {
  const element = div('mix-rows');
  let controls: ReturnType<typeof row>[] = [];
  const row = (head: number) => {
    const id = uniqueId('head');
    const toggle = () => {
      model.switchHead(head);
      update();
    };
    const slide = () => model.set(withShare(model.shares, head, Number(slider.value)), 'change');
    const box = h('input', { type: 'checkbox', id, onchange: toggle });
    const label = `share of ${model.headName(head)}`;
    const slider = h('input', { type: 'range', min: 0, max: 1, step: 0.001, 'aria-label': label, oninput: slide });
    const share = h('output', { for: id });
    const name = h('label', { for: id }, box, h('span', {}, model.headName(head)));
    return { box, slider, share, element: div('mix-row', name, slider, share) };
  };
  const update = () =>
    model.shares.forEach((value, head) => {
      const { box, slider, share } = controls[head]!;
      box.checked = value > 0;
      if (Math.abs(Number(slider.value) - value) > 0.0006) slider.value = String(value);
      slider.setAttribute('aria-valuetext', percent(value));
      share.textContent = value > 0 ? `${(100 * value).toFixed(1)} %` : model.now.info.weights[head] === 0 ? 'weight 0' : 'off';
    });
  return {
    element,
    update,
    /** For other heads. */
    draw(): void {
      controls = model.heads.map((_, head) => row(head));
      fill(element, controls);
    },
    fits: () => controls.length === model.heads.length,
  };
}

/** Weights to begin with; `seek` looks for the best ones. */
export function presetButtons(model: MixerModel, seek: (value: HeadValue) => void) {
  const element = h('div', { class: 'presets', role: 'group', 'aria-label': 'Weights' });
  const preset = (label: string, title: string, action: () => void) => button(label, action, { title });
  const best = (value: HeadValue) =>
    preset(
      `Best ${value}`,
      `the weights of all heads, also of heads that are off, with the largest ${value} on this sample`,
      () => seek(value),
    );
  const overSamples = (): Child[] =>
    (model.documentLayer?.values ?? []).map(
      ({ value, best_weights: found }) =>
        found &&
        preset(`Best ${value}, all samples`, `best weights found over ${found.samples} samples`, () =>
          model.set(normalised(found.weights)),
        ),
    );
  return {
    element,
    draw(): void {
      const { heads, learned, weights } = model.now.info;
      const { analyze, heads: document } = model.context.session;
      const isLearned = (analyze ?? document)?.weights === 'learned';
      const also = learned && learned.join() !== weights.join() ? learned : null;
      fill(
        element,
        preset(isLearned ? 'Learned' : 'Of the data', 'the weights that the data were measured with', () => model.set(null)),
        preset('Uniform', 'the same weight for every head', () => model.set(normalised(heads.map(() => 1)))),
        also && preset('Learned', 'norms of the output projection', () => model.set(normalised(also))),
        model.isMean || model.edges !== 'attention' ? null : [best('fidelity'), best('speed')],
        overSamples(),
      );
      element.hidden = heads.length < 2;
    },
  };
}

/** Looks for the best weights, and says what was found. */
export function seeker(model: MixerModel) {
  const element = h('p', { class: 'note', role: 'status' });
  const seeking = new Latest();
  let search: AbortController | null = null;
  const stop = () => {
    search?.abort();
    seeking.stop();
    fill(element);
  };
  const bound = ({ optimal, bound: most }: BestWeights) =>
    optimal ? 'No weights are better: proven.' : most === null ? '' : `No weights exceed ${digits(most)}.`;
  const seek = (value: HeadValue) => {
    if (!model.opened) return;
    const { mixer } = model.opened;
    search?.abort();
    search = new AbortController();
    const { signal } = search;
    const all = `all ${model.heads.length} heads`;
    fill(element, `Seeking the weights of ${all} with the largest ${value}… `, link('Stop', stop));
    void seeking.run(
      () => mixer.bestWeights(model.allShares, value, { signal }),
      (best) => {
        model.set(normalised(best.weights));
        fill(element, `Best ${value} found: ${digits(best.value ?? 0)}, with ${all} on this sample. ${bound(best)}`);
      },
      (line) => {
        fill(element);
        if (!signal.aborted) model.fail(line);
      },
    );
  };
  return { element, seek, stop };
}

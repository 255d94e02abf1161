import { Latest } from '../async';
import { lines } from '../charts/lines';
import { subsetLattice } from '../charts/subsets';
import type { HeadValue, Mix, Mixer, Subsets } from '../core';
import { bits, only, setName, size, switched, weightlessWords, withAll, withShare } from '../data/mix';
import { openMixer as openHeads } from '../data/mean-mixer';
import { headName } from '../data/intervals';
import { measurementOf } from '../data/settings';
import {
  layerOptions,
  leftOut,
  normalised,
  sampleOptions,
  sampleWords,
  selected,
  tokenName,
  tokenPhrase,
  type Sample,
  type Selection,
} from '../data/selection';
import { fill, h, uniqueId, type Child } from '../dom';
import { digits, percent } from '../quantities';
import type { State } from '../state';
import { choose, readings, segments } from '../ui/controls';
import { figure } from '../ui/figure';
import { glossary } from '../ui/glossary';
import { saveFile } from '../ui/save';
import { words, type TableData } from '../ui/table';
import type { Context, Mounted, View } from '../view';
import { conventionControl, sessionHeader, settingsNote } from './facts';
import { meanMixWords } from './layer-words';
import { mixReadings } from './mix-readings';
import { cell, pruningFigure, worthFigures, worthOfDocument, worthOfSubsets } from './worth';

/** Up to so many heads all subsets follow the weights. */
const LIVE = 8;
/** Up to so many they can be asked for. */
const MOST = 16;

/** Heads on and off, with any weights, and what follows from it. */
export const mixer: View = {
  name: 'mixer',
  title: 'Mixer',
  shows: (session) => session.attention !== null || session.heads !== null,
  mount: (root, context) => (context.session.attention ? mountMixer(root, context) : mountDocument(root, context)),
};

/** Without attention at hand: what the document says. */
function mountDocument(root: HTMLElement, context: Context): Mounted {
  const { store, session } = context;
  const document = session.heads!;
  const layer = (state: State) => document.layers[Math.min(state.layer, document.layers.length - 1)]!;
  const names = () => document.head_names ?? layer(store.get()).weights.map((_, head) => String(head));
  const value = () => layer(store.get()).values.find((one) => one.value === store.get().value) ?? layer(store.get()).values[0];
  const layers = choose<number>(
    'Layer',
    document.layers.map((l, index) => ({ value: index, label: l.name })),
    (index) => store.set({ layer: index }),
  );
  const values = valueControl(context);
  const worth = worthFigures(
    () => (value() ? worthOfDocument(value()!, layer(store.get()).samples, names()) : null),
    () => value()?.value ?? 'fidelity',
    () => layer(store.get()).name,
  );
  const pruning = pruningFigure(value, names);
  const measuredWith = settingsNote(session);
  measuredWith.update(store.get().convention);
  fill(
    root,
    sessionHeader(session, session.title, layers.element, values.element),
    measuredWith.element,
    h(
      'p',
      { class: 'note' },
      'The attention itself is not in this page, so weights cannot be moved; this is what the document says.',
    ),
    h('div', { class: 'grid' }, worth.shapley.element, worth.pairs.element, pruning.element),
  );
  return {
    update(state) {
      layers.update(Math.min(state.layer, document.layers.length - 1));
      values.update(state.value);
      worth.redraw();
      pruning.redraw();
    },
  };
}

const valueControl = ({ store }: Context) =>
  segments<HeadValue>(
    'Worth of heads by',
    [
      { value: 'fidelity', label: 'Fidelity' },
      { value: 'speed', label: 'Speed' },
    ],
    (value) => store.set({ value }),
  );

function mountMixer(root: HTMLElement, context: Context): Mounted {
  const { store, session } = context;
  const attention = session.attention!;
  let now = selected(attention, store.get());
  const names = (token: number) => tokenName(session, now.sample)(token);
  let open: { key: string; mixer: Mixer; reference: Mix | null } | null = null;
  let mix: Mix | null = null;
  let subsets: { key: string; of: Subsets } | null = null;
  const opening = new Latest();
  const counting = new Latest();
  const seeking = new Latest();
  let search: AbortController | null = null;

  const layers = choose<number>('Layer', layerOptions(attention), (value) => store.set({ layer: value, weights: null }));
  const samples = choose<Sample>('Sample', [], (sample) => store.set({ sample }));
  const values = valueControl(context);
  const conventions = conventionControl(context);
  const measuredWith = settingsNote(session);
  const options = () => measurementOf(session, store.get().convention).options;
  const rows = h('div', { class: 'mix-rows' });
  const presets = h('div', { class: 'presets', role: 'group', 'aria-label': 'Weights' });
  const found = h('p', { class: 'note', role: 'status' });
  const outside = h('p', { class: 'note' });
  const numbers = readings();
  const words_ = glossary();
  const saveButton = h('button', { type: 'button', onclick: () => saveJson() }, 'Save JSON');
  const documentLayer = () => session.heads?.layers[now.info.index];
  const documentValue = () => documentLayer()?.values.find((one) => one.value === store.get().value);
  const worth = worthFigures(
    () => {
      const live = subsets && worthOfSubsets(subsets.of, store.get().value, now.info.heads, sampleWords(now.info, now.sample));
      if (live) return live;
      const of = documentValue();
      return of ? worthOfDocument(of, documentLayer()!.samples, now.info.heads) : null;
    },
    () => store.get().value,
    () => now.info.name,
  );
  const liveValue = () => subsets?.of.values.find((one) => one.value === store.get().value);
  const table = () => liveValue()?.table ?? null;
  const shownWords = () => `layer ${now.info.name}, ${sampleWords(now.info, now.sample)}`;
  const where = h('p', { class: 'print-only' });
  const lattice = figure({
    name: 'subsets',
    of: shownWords,
    title: 'Every set of heads',
    draw: (width, theme) =>
      subsetLattice(
        {
          label: 'Sets of heads by their number and value',
          valueTitle: store.get().value,
          names: now.info.heads,
          table: table()!,
          current: bits(shares()),
          go: (set) => switchTo(set),
        },
        width,
        theme,
      ),
    table: () => latticeTable(),
  });
  const latticeTable = (): TableData => ({
    name: 'subsets',
    caption: `The ${store.get().value} of every set of heads`,
    columns: [{ label: 'heads' }, { label: 'number', numeric: true }, { label: 'value', numeric: true }],
    rows: Array.from(table()!, (value, set) => ({ set, value }))
      .slice(1)
      .map(({ set, value }) => ({
        cells: [words(setName(set, now.info.heads)), cell(size(set)), cell(value)],
        marked: set === bits(shares()),
      })),
  });
  const bestOf = () => liveValue()?.best ?? null;
  const bestSets = figure({
    name: 'best-sets',
    of: shownWords,
    title: 'The best set of every size',
    draw: (width, theme) =>
      lines(
        {
          label: 'Value of the best sets of heads by their number',
          xTitle: 'heads',
          yTitle: store.get().value,
          height: 300,
          series: [
            {
              name: 'best set',
              colour: theme.series[0]!,
              width: 2.5,
              marks: 'dots' as const,
              points: bestOf()!.map(({ value: y }, x) => ({ x, y })),
            },
          ],
          go: (count) => switchTo(bestOf()![count]!.subset),
          goLabel: 'click: switch to this set',
        },
        width,
        theme,
      ),
    table: () => ({
      name: `best-sets-${store.get().value}`,
      caption: `The set of every size with the largest ${store.get().value}`,
      columns: [{ label: 'number', numeric: true }, { label: 'heads' }, { label: store.get().value, numeric: true }],
      rows: bestOf()!.map(({ subset, value }, k) => ({ cells: [cell(k), words(setName(subset, now.info.heads)), cell(value)] })),
    }),
    csv: () => latticeTable(),
  });
  const pruning = pruningFigure(
    documentValue,
    () => now.info.heads,
    (heads) =>
      switchTo(
        heads.reduce((set, head) => set | (1 << head), 0),
        now.info.weights,
      ),
  );
  const ask = h('div', { class: 'card' });
  const weakestOf = (of: Mix) => open!.mixer.nodeNames.indexOf(of.combined.minimax_fidelity.node);
  const tokens = figure({
    name: 'node-fidelity',
    of: shownWords,
    title: 'Fidelity of every token',
    caption: 'What each token delivers to the last one with these weights; grey: with those of the data.',
    draw: (width, theme) => {
      const last = mix!.combined.node_fidelity.length - 1;
      const weakest = weakestOf(mix!);
      const points = (of: Mix) => of.combined.node_fidelity.slice(0, last).map((y, x) => ({ x, y }));
      return lines(
        {
          label: 'Fidelity of every token',
          xTitle: 'token',
          yTitle: 'fidelity',
          logarithmic: true,
          height: 230,
          xFormat: names,
          series: [
            ...(open!.reference
              ? [{ name: 'weights of the data', colour: theme.muted, width: 1, points: points(open!.reference) }]
              : []),
            { name: 'this mix', colour: theme.series[0]!, width: 1.8, points: points(mix!) },
          ],
          notes:
            weakest >= 0
              ? [
                  {
                    x: weakest,
                    y: mix!.combined.node_fidelity[weakest]!,
                    label: `${now.sample === 'mean' ? 'lowest mean' : 'weakest'}: ${names(weakest)}`,
                    side: 'below' as const,
                  },
                ]
              : [],
        },
        width,
        theme,
      );
    },
    table: () => ({
      name: 'tokens',
      caption: 'Fidelity of every token with these weights',
      columns: [{ label: 'token' }, { label: 'fidelity', numeric: true }, { label: 'at most', numeric: true }],
      rows: mix!.combined.node_fidelity.map((value, j) => ({
        cells: [words(names(j)), cell(value), cell(mix!.combined.node_fidelity_upper[j]!)],
      })),
    }),
  });

  fill(
    root,
    sessionHeader(session, session.title, layers.element, samples.element, conventions.element, values.element, saveButton),
    measuredWith.element,
    where,
    h(
      'div',
      { class: 'mixer-grid' },
      h(
        'section',
        { class: 'card' },
        h('h2', {}, 'Heads'),
        h('p', { class: 'note' }, 'A head’s share of the mix; the others keep their proportions.'),
        outside,
        presets,
        rows,
        found,
      ),
      h('div', { class: 'stack' }, numbers.element, words_.element, tokens.element),
    ),
    ask,
    h('div', { class: 'grid' }, lattice.element, bestSets.element, worth.shapley.element, worth.pairs.element, pruning.element),
  );

  /** What the program would say of this layer, sample and weights. */
  const saveJson = () =>
    void new Latest().run(
      async () =>
        (await context.core).measure(attention.system(now.layer, now.sample === 'mean' ? 0 : now.sample), {
          ...options(),
          weights: shares(),
        }),
      (document) =>
        saveFile(
          `mix-${shownWords().replaceAll(/[ ,]+/g, '-')}.json`,
          JSON.stringify(document, null, 2) + '\n',
          'application/json',
        ),
      (line) => context.say(line, 'error'),
    );
  const shares = () => now.weights;
  const setShares = (weights: readonly number[], kind: 'change' | 'edit' = 'edit') => store.set({ weights: [...weights] }, kind);
  /** Says which heads of a set have no weight to be switched on with. */
  const sayWeightless = (heads: readonly number[]) =>
    heads.length > 0 && context.say(weightlessWords(heads.map((head) => now.info.heads[head]!)));
  /** Turns on a set of heads, in the proportions of the sliders or in those given. */
  const switchTo = (set: number, weights = withAll(shares(), now.info.weights)) => {
    const on = now.info.heads.map((_, head) => ((set >> head) & 1) === 1);
    const next = set === 0 ? null : only(weights, on);
    if (next) setShares(next);
    sayWeightless([...on.keys()].filter((head) => on[head] && weights[head] === 0));
  };
  const switchHead = (head: number) => {
    const next = switched(shares(), head, now.info.weights);
    if (shares()[head] === 0 && next[head] === 0) sayWeightless([head]);
    setShares(next);
    updateRows();
  };

  /** One row a head: a switch, a name, a slider, its share. */
  let controls: { box: HTMLInputElement; slider: HTMLInputElement; share: HTMLElement }[] = [];
  function drawRows(): void {
    controls = now.info.heads.map((name, head) => {
      const id = uniqueId('head');
      const box = h('input', { type: 'checkbox', id, onchange: () => switchHead(head) });
      const slider = h('input', {
        type: 'range',
        min: 0,
        max: 1,
        step: 0.001,
        'aria-label': `share of ${headName(name)}`,
        oninput: () => setShares(withShare(shares(), head, Number(slider.value)), 'change'),
      });
      return { box, slider, share: h('output', { for: id }), name };
    });
    fill(
      rows,
      controls.map(({ box, slider, share }, head) =>
        h(
          'div',
          { class: 'mix-row' },
          h('label', { for: box.id }, box, h('span', {}, headName(now.info.heads[head]!))),
          slider,
          share,
        ),
      ),
    );
  }
  function updateRows(): void {
    shares().forEach((value, head) => {
      const { box, slider, share } = controls[head]!;
      box.checked = value > 0;
      if (Math.abs(Number(slider.value) - value) > 0.0006) slider.value = String(value);
      slider.setAttribute('aria-valuetext', percent(value));
      share.textContent = value > 0 ? `${(100 * value).toFixed(1)} %` : now.info.weights[head] === 0 ? 'weight 0' : 'off';
    });
  }

  function drawPresets(): void {
    const { heads, learned, weights } = now.info;
    const preset = (label: string, action: () => void, about: string) =>
      h('button', { type: 'button', onclick: action, title: about }, label);
    const set = (list: readonly number[]) => () => setShares(normalised(list));
    const overSamples =
      documentLayer()?.values.flatMap((of) =>
        of.best_weights
          ? [
              preset(
                `Best ${of.value}, all samples`,
                set(of.best_weights.weights),
                `best weights found over ${of.best_weights.samples} samples`,
              ),
            ]
          : [],
      ) ?? [];
    fill(
      presets,
      preset(
        (session.analyze ?? session.heads)?.weights === 'learned' ? 'Learned' : 'Of the data',
        () => store.set({ weights: null }, 'edit'),
        'the weights that the numbers of the data were measured with',
      ),
      preset('Uniform', set(heads.map(() => 1)), 'the same for every head'),
      learned && learned.join() !== weights.join() ? preset('Learned', set(learned), 'norms of the output projection') : null,
      now.sample === 'mean'
        ? null
        : [
            preset(
              'Best fidelity',
              () => seek('fidelity'),
              'the weights of all heads, those that are off too, with the largest minimax fidelity on this sample',
            ),
            preset(
              'Best speed',
              () => seek('speed'),
              'the weights of all heads, those that are off too, with the largest speed on this sample',
            ),
          ],
      overSamples as Child[],
    );
    presets.hidden = heads.length < 2;
  }

  function seek(value: HeadValue): void {
    if (!open) return;
    const { mixer: of } = open;
    search?.abort();
    search = new AbortController();
    const { signal } = search;
    const stop = h(
      'button',
      {
        type: 'button',
        class: 'link',
        onclick: () => {
          search?.abort();
          seeking.stop();
          fill(found);
        },
      },
      'Stop',
    );
    fill(found, `Seeking the weights of all ${now.info.heads.length} heads with the largest ${value}… `, stop);
    void seeking.run(
      () => of.bestWeights(withAll(shares(), now.info.weights), value, { signal }),
      (best) => {
        setShares(normalised(best.weights));
        const bound = best.optimal
          ? 'No weights are better: proven.'
          : best.bound === null
            ? ''
            : `No weights exceed ${digits(best.bound)}.`;
        fill(
          found,
          `Best ${value} found: ${digits(best.value ?? 0)}, with all ${now.info.heads.length} heads on this sample. ${bound}`,
        );
      },
      (line) => {
        fill(found);
        if (!signal.aborted) context.say(line, 'error');
      },
    );
  }

  function openMixer(selection: Selection): void {
    const key = `${selection.layer} ${selection.sample} ${store.get().convention}`;
    if (open?.key === key) return follow();
    open?.mixer.close();
    open = null;
    mix = null;
    subsets = null;
    showNumbers();
    void opening.run(
      async () => {
        const core = await context.core;
        const made = await openHeads(core, attention, selection, options());
        return { key, mixer: made, reference: await made.update(selection.info.weights) };
      },
      (result) => {
        open = result;
        follow();
      },
      (line) => context.say(line, 'error'),
    );
  }

  /** Measures the mix as it is now. */
  function follow(): void {
    if (!open) return;
    const of = open;
    of.mixer.update(shares()).then(
      (result) => {
        if (!result || open !== of) return;
        mix = result;
        showNumbers();
      },
      (error: Error) => context.say(error.message, 'error'),
    );
    countSubsets(false);
  }

  let timer = 0;
  function countSubsets(asked: boolean): void {
    if (!open) return;
    const of = open.mixer;
    const heads = now.info.heads.length;
    const weights = withAll(shares(), now.info.weights);
    const key = `${open.key} ${weights.map((w) => w.toPrecision(9)).join()}`;
    showAsk();
    if (subsets?.key === key) return showWorth();
    if (heads < 2 || heads > (asked ? MOST : LIVE)) {
      if (subsets && !asked) {
        subsets = null;
        showWorth();
      }
      return;
    }
    clearTimeout(timer);
    timer = window.setTimeout(
      () => {
        if (asked) fill(ask, h('p', { class: 'note', role: 'status' }, `Measuring ${2 ** heads} sets of heads…`));
        void counting.run(
          () => of.subsets(weights),
          (result) => {
            subsets = { key, of: result };
            showWorth();
            showAsk();
          },
          (line) => context.say(line, 'error'),
        );
      },
      asked || !subsets ? 0 : 120,
    );
  }

  function showAsk(): void {
    const heads = now.info.heads.length;
    const possible = heads > LIVE && heads <= MOST && !subsets;
    const beyond = heads > MOST && !session.heads;
    ask.hidden = !possible && !beyond;
    if (beyond)
      fill(
        ask,
        h(
          'p',
          { class: 'note' },
          `${heads} heads have too many sets to measure here. What each is worth over all samples, and the best sets, has the page of “synergraph heads FILE --page heads.html”.`,
        ),
      );
    if (possible)
      fill(
        ask,
        h(
          'div',
          { class: 'controls' },
          h('p', { class: 'note' }, `${heads} heads have ${(2 ** heads).toLocaleString('en')} sets.`),
          h(
            'button',
            { type: 'button', onclick: () => countSubsets(true) },
            `Measure every set on ${now.sample === 'mean' ? 'every' : 'this'} sample`,
          ),
        ),
      );
  }

  function showWorth(): void {
    lattice.element.hidden = !table() || now.info.heads.length > 10;
    bestSets.element.hidden = !table() || !lattice.element.hidden;
    if (!bestSets.element.hidden) {
      const best = bestOf()!.reduce((a, b) => (b.value > a.value ? b : a));
      bestSets.caption(
        `The largest ${store.get().value} of a set with that number of heads (${sampleWords(now.info, now.sample)}), weighted as the sliders are. The best of all ${2 ** now.info.heads.length - 1} sets: ${setName(best.subset, now.info.heads)}, ${digits(best.value)}.`,
      );
      bestSets.redraw();
    }
    lattice.caption(
      `Each dot is a set of heads (${sampleWords(now.info, now.sample)}); its position shows its ${store.get().value}. Heads are weighted as the sliders are; a head that is off has its weight from the data. Orange dots are the best sets of their size. The blue dot is the set that is on; lines lead to its neighbours. Click a dot to switch to its set.`,
    );
    if (!lattice.element.hidden) lattice.redraw();
    pruning.element.hidden = !documentValue();
    if (!pruning.element.hidden) pruning.redraw();
    worth.redraw();
  }

  let frame = 0;
  function showNumbers(): void {
    const list = mix
      ? mixReadings(mix, open!.reference, now.info.heads.length, tokenPhrase(session, now.sample)(weakestOf(mix)))
      : [];
    numbers.update(list);
    words_.update(list.map(({ id }) => id));
    tokens.element.hidden = !mix;
    if (mix && !frame)
      frame = requestAnimationFrame(() => {
        frame = 0;
        if (mix) tokens.redraw();
      });
  }

  return {
    update(state, before) {
      const layerBefore = `${now.layer} ${now.sample === 'mean'}`;
      now = selected(attention, state);
      layers.update(now.info.index);
      samples.update(now.sample, sampleOptions(now.info));
      values.update(state.value);
      conventions.update(state.convention);
      measuredWith.update(state.convention);
      fill(where, `Layer ${shownWords().slice('layer '.length)}`);
      fill(outside, leftOut(session, now.info), ' ', meanMixWords(now));
      saveButton.disabled = now.sample === 'mean';
      if (!before || layerBefore !== `${now.layer} ${now.sample === 'mean'}` || controls.length !== now.info.heads.length) {
        drawRows();
        drawPresets();
        fill(found);
      }
      updateRows();
      openMixer(now);
      if (
        !before ||
        before.value !== state.value ||
        before.layer !== state.layer ||
        bits(before.weights ?? []) !== bits(state.weights ?? [])
      )
        showWorth();
    },
    leave() {
      for (const one of [opening, counting, seeking]) one.stop();
      search?.abort();
      open?.mixer.close();
    },
  };
}

import { Latest } from '../async';
import { bars } from '../charts/bars';
import { heatmap } from '../charts/heatmap';
import { lines } from '../charts/lines';
import { subsetLattice } from '../charts/subsets';
import type { HeadValue, LayerValue, Mix, Mixer, Subsets } from '../core';
import { bits, only, setName, switched, withAll, withShare } from '../data/mix';
import { layerOptions, leftOut, normalised, sampleOptions, selected, tokenName, type Selection } from '../data/selection';
import { fill, h, uniqueId, type Child } from '../dom';
import { digits, format, percent, quantityOf } from '../quantities';
import type { State } from '../state';
import { choose, readings, segments, type Reading } from '../ui/controls';
import { figure, type Figure } from '../ui/figure';
import { saveFile } from '../ui/save';
import { words, type TableData } from '../ui/table';
import { tipLine } from '../ui/tooltip';
import type { Context, Mounted, View } from '../view';
import { sessionHeader } from './facts';

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

/** What is known of the worth of heads, of this sample or over all. */
interface Worth {
  source: string;
  names: readonly string[];
  all: number;
  shapley: { mean: number; error: number | null }[];
  alone: number[];
  pairs: { heads: [number, number]; mean: number; error: number | null }[];
  table: Float64Array | null;
}

function worthOfSubsets(subsets: Subsets, value: HeadValue, names: readonly string[], sample: number): Worth | null {
  const of = subsets.values.find((one) => one.value === value);
  if (!of) return null;
  return {
    source: `sample ${sample}, these weights`,
    names,
    all: of.table.at(-1)!,
    shapley: of.shapley.map((mean) => ({ mean, error: null })),
    alone: names.map((_, head) => of.table[1 << head]!),
    pairs: of.pairs.map(({ heads, interaction }) => ({ heads, mean: interaction, error: null })),
    table: of.table,
  };
}

function worthOfDocument(of: LayerValue, samples: number, names: readonly string[]): Worth {
  return {
    source: samples === 1 ? 'one sample' : `mean over ${samples} samples ± standard error`,
    names,
    all: of.all.mean ?? 0,
    shapley: of.heads.map(({ shapley }) => ({ mean: shapley.mean ?? 0, error: shapley.error })),
    alone: of.heads.map(({ alone }) => alone.mean ?? 0),
    pairs: of.pairs.map(({ heads, mean, error }) => ({ heads: [heads[0]!, heads[1]!] as [number, number], mean: mean ?? 0, error })),
    table: null,
  };
}

/** Shapley bars and pairs. */
function worthFigures(worth: () => Worth | null, value: () => HeadValue): { shapley: Figure; pairs: Figure; redraw(): void } {
  const title = () => (value() === 'fidelity' ? 'fidelity' : 'speed');
  const shapley = figure({
    name: 'shapley', title: 'What each head adds',
    draw: (width, theme) => {
      const of = worth()!;
      return bars({
        label: `Shapley values of the ${title()}`, title: `Shapley value of the ${title()}`,
        bars: of.names.map((name, head) => ({
          name: `head ${name}`, value: of.shapley[head]!.mean, error: of.shapley[head]!.error, other: of.alone[head]!,
          label: `head ${name}: Shapley value ${digits(of.shapley[head]!.mean)}, alone ${digits(of.alone[head]!)}`,
          tip: () => [tipLine('Shapley value', digits(of.shapley[head]!.mean)), ...(of.all > 0 ? [tipLine('of all', percent(of.shapley[head]!.mean / of.all))] : []), tipLine('alone', digits(of.alone[head]!))],
        })),
      }, width, theme);
    },
    table: (): TableData => {
      const of = worth()!;
      return {
        name: `shapley-${title()}`, caption: `Shapley values of the ${title()}, ${of.source}`,
        columns: [{ label: 'head' }, { label: 'Shapley', numeric: true }, { label: '±', numeric: true }, { label: 'of all', numeric: true }, { label: 'alone', numeric: true }],
        rows: of.names.map((name, head) => {
          const { mean, error } = of.shapley[head]!;
          return { cells: [words(name), cell(mean), { value: error, text: error === null ? '' : digits(error, 2) }, { value: of.all ? mean / of.all : null, text: of.all ? percent(mean / of.all) : '' }, cell(of.alone[head]!)] };
        }),
      };
    },
  });
  const clear = (pair: Worth['pairs'][number]) => pair.error === null || Math.abs(pair.mean) > 2 * pair.error;
  const pairs = figure({
    name: 'pairs', title: 'Pairs: redundant and complementary',
    draw: (width, theme) => {
      const of = worth()!;
      const largest = Math.max(...of.pairs.map((pair) => Math.abs(pair.mean)), 1e-300);
      const find = (a: number, b: number) => of.pairs.find(({ heads }) => heads[0] === Math.min(a, b) && heads[1] === Math.max(a, b));
      return heatmap({
        label: `Interactions of pairs of heads, ${title()}`, rows: of.names.slice(1), columns: of.names.slice(0, -1), rowTitle: 'head', columnTitle: 'with head', diverging: true, largest: 46,
        legend: ['redundant', 'complementary'],
        cell: (r, c) => {
          const pair = c <= r ? find(r + 1, c) : undefined;
          if (!pair) return null;
          const kind = pair.mean < 0 ? 'redundant' : pair.mean > 0 ? 'complementary' : 'neither';
          return {
            shade: pair.mean / largest, text: clear(pair) ? (of.all > 0 ? `${Math.abs(pair.mean) < 5e-4 * of.all ? '0' : digits((100 * pair.mean) / of.all, 2)}%` : '') : '·',
            label: `heads ${of.names[c]} and ${of.names[r + 1]}: interaction ${digits(pair.mean)}, ${kind}`,
            tip: () => [tipLine(`heads ${of.names[c]} and ${of.names[r + 1]}`, kind), tipLine('interaction', digits(pair.mean)), ...(of.all > 0 ? [tipLine('of all', percent(pair.mean / of.all))] : []), ...(pair.error === null ? [] : [tipLine('standard error', digits(pair.error, 2))])],
          };
        },
      }, width, theme);
    },
    table: (): TableData => {
      const of = worth()!;
      return {
        name: `pairs-${title()}`, caption: `Shapley interaction index of pairs, ${title()}, ${of.source}`,
        columns: [{ label: 'heads' }, { label: 'interaction', numeric: true }, { label: '±', numeric: true }],
        rows: of.pairs.map(({ heads: [a, b], mean, error }) => ({ cells: [words(`${of.names[a]} ${of.names[b]}`), cell(mean), { value: error, text: error === null ? '' : digits(error, 2) }] })),
      };
    },
  });
  return {
    shapley, pairs,
    redraw() {
      const of = worth();
      shapley.element.hidden = !of || of.names.length < 2;
      pairs.element.hidden = !of || of.names.length < 2;
      if (!of) return;
      shapley.caption(`A head’s part of the ${title()} of all, ${digits(of.all)}: what it adds to those before it in a random order, on average (${of.source}). The black tick is the head alone.`);
      pairs.caption(`Orange: together they add less than each by itself. Blue: more. In % of the ${title()} of all${of.pairs.some((pair) => pair.error !== null) ? '; · is less than two standard errors from 0' : ''} (${of.source}).`);
      shapley.redraw();
      pairs.redraw();
    },
  };
}

const cell = (value: number) => ({ value, text: digits(value) });

/** What the best heads of every number are worth, over the samples of the document. */
function pruningFigure(value: () => LayerValue | undefined, names: () => readonly string[]): Figure {
  const paths = (of: LayerValue) => [['greedy removal', of.pruning.greedy_removal], ['greedy addition', of.pruning.greedy_addition], ['by Shapley value', of.pruning.shapley]] as const;
  return figure({
    name: 'pruning', title: 'Fewer heads',
    caption: 'The value of the best set of every size, and of those that three usual orders keep.',
    draw: (width, theme) => {
      const of = value()!;
      return lines({
        label: 'Value of the best sets of heads by their number', xTitle: 'heads', yTitle: of.value, height: 300,
        series: [
          ...paths(of).map(([name, path], i) => ({ name, colour: theme.series[[1, 2, 3][i]!]!, dash: ['6 3', '2 3', '8 3 2 3'][i]!, width: 1.5, points: path.value.map((y, x) => ({ x, y })) })),
          { name: 'best', colour: theme.series[0]!, width: 2.5, marks: 'dots' as const, points: of.pruning.best.map(({ value: y }, x) => ({ x, y })) },
        ],
        levels: [{ y: of.all.mean ?? 0, label: 'all heads' }],
      }, width, theme);
    },
    table: () => {
      const of = value()!;
      return {
        name: 'pruning', caption: 'The best heads of every number',
        columns: [{ label: 'heads', numeric: true }, { label: 'which' }, { label: 'value', numeric: true }, ...paths(of).map(([label]) => ({ label, numeric: true }))],
        rows: of.pruning.best.map(({ heads, value: best }, k) => ({ cells: [cell(k), words(heads.map((head) => names()[head] ?? head).join(' ')), cell(best), ...paths(of).map(([, path]) => cell(path.value[k] ?? NaN))] })),
      };
    },
  });
}

/** Without attention at hand: what the document says. */
function mountDocument(root: HTMLElement, context: Context): Mounted {
  const { store, session } = context;
  const document = session.heads!;
  const layer = (state: State) => document.layers[Math.min(state.layer, document.layers.length - 1)]!;
  const names = () => document.head_names ?? layer(store.get()).weights.map((_, head) => String(head));
  const value = () => layer(store.get()).values.find((one) => one.value === store.get().value) ?? layer(store.get()).values[0];
  const layers = choose<number>('Layer', document.layers.map((l, index) => ({ value: index, label: l.name })), (index) => store.set({ layer: index }));
  const values = valueControl(context);
  const worth = worthFigures(() => (value() ? worthOfDocument(value()!, layer(store.get()).samples, names()) : null), () => value()?.value ?? 'fidelity');
  const pruning = pruningFigure(value, names);
  fill(root, sessionHeader(session, session.title, layers.element, values.element),
    h('p', { class: 'note' }, 'The attention itself is not in this page, so weights cannot be moved; this is what the document says.'),
    h('div', { class: 'grid' }, worth.shapley.element, worth.pairs.element, pruning.element));
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
  segments<HeadValue>('Worth of heads by', [{ value: 'fidelity', label: 'Fidelity' }, { value: 'speed', label: 'Speed' }], (value) => store.set({ value }));

function mountMixer(root: HTMLElement, context: Context): Mounted {
  const { store, session } = context;
  const attention = session.attention!;
  const names = tokenName(session);
  let now = selected(attention, store.get());
  let open: { key: string; mixer: Mixer; reference: Mix | null } | null = null;
  let mix: Mix | null = null;
  let subsets: { key: string; of: Subsets } | null = null;
  const opening = new Latest();
  const counting = new Latest();
  const seeking = new Latest();
  let search: AbortController | null = null;

  const layers = choose<number>('Layer', layerOptions(attention), (value) => store.set({ layer: value, weights: null }));
  const samples = choose<number>('Sample', [], (sample) => store.set({ sample }));
  const values = valueControl(context);
  const rows = h('div', { class: 'mix-rows' });
  const presets = h('div', { class: 'presets', role: 'group', 'aria-label': 'Weights' });
  const found = h('p', { class: 'note', role: 'status' });
  const outside = h('p', { class: 'note' });
  const numbers = readings();
  const documentLayer = () => session.heads?.layers[now.info.index];
  const documentValue = () => documentLayer()?.values.find((one) => one.value === store.get().value);
  const worth = worthFigures(() => {
    const live = subsets && worthOfSubsets(subsets.of, store.get().value, now.info.heads, now.info.samples[now.sample]!);
    if (live) return live;
    const of = documentValue();
    return of ? worthOfDocument(of, documentLayer()!.samples, now.info.heads) : null;
  }, () => store.get().value);
  const table = () => subsets?.of.values.find((one) => one.value === store.get().value)?.table ?? null;
  const lattice = figure({
    name: 'subsets', title: 'Every set of heads',
    draw: (width, theme) => subsetLattice({
      label: 'Sets of heads by their number and value', valueTitle: store.get().value, names: now.info.heads, table: table()!, current: bits(shares()),
      go: (set) => setShares(only(withAll(shares(), now.info.weights), now.info.heads.map((_, head) => ((set >> head) & 1) === 1))),
    }, width, theme),
    table: () => ({
      name: 'subsets', caption: `The ${store.get().value} of every set of heads`,
      columns: [{ label: 'heads' }, { label: 'number', numeric: true }, { label: 'value', numeric: true }],
      rows: Array.from(table()!, (value, set) => ({ set, value })).slice(1).map(({ set, value }) => ({ cells: [words(setName(set, now.info.heads)), cell(set.toString(2).replaceAll('0', '').length), cell(value)], marked: set === bits(shares()) })),
    }),
  });
  const pruning = pruningFigure(documentValue, () => now.info.heads);
  const ask = h('div', { class: 'card' });
  const tokens = figure({
    name: 'node-fidelity', title: 'Fidelity of every token',
    caption: 'What each token delivers to the last one with these weights; grey: with those of the data.',
    draw: (width, theme) => {
      const last = mix!.combined.node_fidelity.length - 1;
      const weakest = open!.mixer.nodeNames.indexOf(mix!.combined.minimax_fidelity.node);
      const points = (of: Mix) => of.combined.node_fidelity.slice(0, last).map((y, x) => ({ x, y }));
      return lines({
        label: 'Fidelity of every token', xTitle: 'token', yTitle: 'fidelity', logarithmic: true, height: 230, xFormat: names,
        series: [...(open!.reference ? [{ name: 'weights of the data', colour: theme.muted, width: 1, points: points(open!.reference) }] : []), { name: 'this mix', colour: theme.series[0]!, width: 1.8, points: points(mix!) }],
        notes: weakest >= 0 ? [{ x: weakest, y: mix!.combined.node_fidelity[weakest]!, label: `weakest: ${names(weakest)}` }] : [],
      }, width, theme);
    },
    table: () => ({
      name: 'tokens', caption: 'Fidelity of every token with these weights',
      columns: [{ label: 'token' }, { label: 'fidelity', numeric: true }],
      rows: mix!.combined.node_fidelity.map((value, j) => ({ cells: [words(names(j)), cell(value)] })),
    }),
  });

  fill(root, sessionHeader(session, session.title, layers.element, samples.element, values.element, h('button', { type: 'button', onclick: () => saveJson() }, 'Save JSON')),
    h('div', { class: 'mixer-grid' },
      h('section', { class: 'card' }, h('h2', {}, 'Heads'), h('p', { class: 'note' }, 'A head’s share of the mix; the others keep their proportions.'), outside, presets, rows, found),
      h('div', { class: 'stack' }, numbers.element, tokens.element)),
    ask,
    h('div', { class: 'grid' }, lattice.element, worth.shapley.element, worth.pairs.element, pruning.element));

  /** What the program would say of this layer, sample and weights. */
  const saveJson = () => void new Latest().run(async () => (await context.core).measure(attention.system(now.layer, now.sample), { weights: shares(), convention: store.get().convention }),
    (document) => saveFile('mix.json', JSON.stringify(document, null, 2) + '\n', 'application/json'), (line) => context.say(line, 'error'));
  const shares = () => now.weights;
  const setShares = (weights: readonly number[]) => store.set({ weights: [...weights] });

  /** One row a head: a switch, a name, a slider, its share. */
  let controls: { box: HTMLInputElement; slider: HTMLInputElement; share: HTMLElement }[] = [];
  function drawRows(): void {
    controls = now.info.heads.map((name, head) => {
      const id = uniqueId('head');
      const box = h('input', { type: 'checkbox', id, onchange: () => setShares(switched(shares(), head, now.info.weights)) });
      const slider = h('input', { type: 'range', min: 0, max: 1, step: 0.001, 'aria-label': `share of head ${name}`, oninput: () => setShares(withShare(shares(), head, Number(slider.value))) });
      return { box, slider, share: h('output', { for: id }), name };
    });
    fill(rows, controls.map(({ box, slider, share }, head) => h('div', { class: 'mix-row' }, h('label', { for: box.id }, box, h('span', {}, `head ${now.info.heads[head]}`)), slider, share)));
  }
  function updateRows(): void {
    shares().forEach((value, head) => {
      const { box, slider, share } = controls[head]!;
      box.checked = value > 0;
      if (Math.abs(Number(slider.value) - value) > 0.0006) slider.value = String(value);
      slider.setAttribute('aria-valuetext', percent(value));
      share.textContent = value > 0 ? `${(100 * value).toFixed(1)} %` : 'off';
    });
  }

  function drawPresets(): void {
    const { heads, learned, weights } = now.info;
    const preset = (label: string, action: () => void, about: string) => h('button', { type: 'button', onclick: action, title: about }, label);
    const set = (list: readonly number[]) => () => setShares(normalised(list));
    const overSamples = documentLayer()?.values.flatMap((of) => (of.best_weights ? [preset(`Best ${of.value}, all samples`, set(of.best_weights.weights), `best weights found over ${of.best_weights.samples} samples`)] : [])) ?? [];
    fill(presets,
      preset('Of the data', () => store.set({ weights: null }), 'the weights that the numbers of the data were measured with'),
      preset('Uniform', set(heads.map(() => 1)), 'the same for every head'),
      learned && learned.join() !== weights.join() ? preset('Learned', set(learned), 'norms of the output projection') : null,
      preset('Best fidelity', () => seek('fidelity'), 'the weights with the largest minimax fidelity on this sample'),
      preset('Best speed', () => seek('speed'), 'the weights with the largest speed on this sample'),
      overSamples as Child[]);
    presets.hidden = heads.length < 2;
  }

  function seek(value: HeadValue): void {
    if (!open) return;
    const { mixer: of } = open;
    search?.abort();
    search = new AbortController();
    const { signal } = search;
    const stop = h('button', { type: 'button', class: 'link', onclick: () => { search?.abort(); seeking.stop(); fill(found); } }, 'Stop');
    fill(found, `Seeking the weights with the largest ${value}… `, stop);
    void seeking.run(() => of.bestWeights(withAll(shares(), now.info.weights), value, { signal }), (best) => {
      setShares(normalised(best.weights));
      const bound = best.optimal ? 'No weights are better: proven.' : best.bound === null ? '' : `No weights exceed ${digits(best.bound)}.`;
      fill(found, `Best ${value} found: ${digits(best.value ?? 0)}. ${bound}`);
    }, (line) => { fill(found); if (!signal.aborted) context.say(line, 'error'); });
  }

  function openMixer(selection: Selection): void {
    const key = `${selection.layer} ${selection.sample} ${store.get().convention}`;
    if (open?.key === key) return follow();
    open?.mixer.close();
    open = null;
    mix = null;
    subsets = null;
    showNumbers();
    void opening.run(async () => {
      const core = await context.core;
      const made = await core.mixer(attention.system(selection.layer, selection.sample), { convention: store.get().convention });
      return { key, mixer: made, reference: await made.update(selection.info.weights) };
    }, (result) => {
      open = result;
      follow();
    }, (line) => context.say(line, 'error'));
  }

  /** Measures the mix as it is now. */
  function follow(): void {
    if (!open) return;
    const of = open;
    of.mixer.update(shares()).then((result) => {
      if (!result || open !== of) return;
      mix = result;
      showNumbers();
    }, (error: Error) => context.say(error.message, 'error'));
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
    timer = window.setTimeout(() => {
      if (asked) fill(ask, h('p', { class: 'note', role: 'status' }, `Measuring ${2 ** heads} sets of heads…`));
      void counting.run(() => of.subsets(weights), (result) => {
        subsets = { key, of: result };
        showWorth();
        showAsk();
      }, (line) => context.say(line, 'error'));
    }, asked || !subsets ? 0 : 120);
  }

  function showAsk(): void {
    const heads = now.info.heads.length;
    const possible = heads > LIVE && heads <= MOST && !subsets;
    ask.hidden = !possible;
    if (possible) fill(ask, h('div', { class: 'controls' }, h('p', { class: 'note' }, `${heads} heads have ${(2 ** heads).toLocaleString('en')} sets.`), h('button', { type: 'button', onclick: () => countSubsets(true) }, 'Measure every set on this sample')));
  }

  function showWorth(): void {
    lattice.element.hidden = !table() || now.info.heads.length > 10;
    lattice.caption(`Each dot is a set of heads with these proportions, its place its ${store.get().value}; orange: the best of its size. The blue one is on; lines lead to its neighbours. Click one to switch to it.`);
    if (!lattice.element.hidden) lattice.redraw();
    pruning.element.hidden = !documentValue();
    if (!pruning.element.hidden) pruning.redraw();
    worth.redraw();
  }

  let frame = 0;
  function showNumbers(): void {
    numbers.update(mix ? mixReadings(mix, open?.reference ?? null, now.info.heads.length) : []);
    tokens.element.hidden = !mix;
    if (mix && !frame)
      frame = requestAnimationFrame(() => {
        frame = 0;
        if (mix) tokens.redraw();
      });
  }

  return {
    update(state, before) {
      const layerBefore = now.layer;
      now = selected(attention, state);
      layers.update(now.info.index);
      samples.update(now.sample, sampleOptions(now.info));
      values.update(state.value);
      fill(outside, leftOut(now.info));
      if (!before || layerBefore !== now.layer || controls.length !== now.info.heads.length) {
        drawRows();
        drawPresets();
        fill(found);
      }
      updateRows();
      openMixer(now);
      if (!before || before.value !== state.value || before.layer !== state.layer || bits(before.weights ?? []) !== bits(state.weights ?? [])) showWorth();
    },
    leave() {
      for (const one of [opening, counting, seeking]) one.stop();
      search?.abort();
      open?.mixer.close();
    },
  };
}

/** Numbers of a mix, and what they are beside those of the data's weights. */
function mixReadings(mix: Mix, reference: Mix | null, heads: number): Reading[] {
  const reading = (id: string, get: (mix: Mix) => number | null, note?: string): Reading => {
    const q = quantityOf(id);
    const value = get(mix);
    const given = reference ? get(reference) : null;
    const same = value === given || (value !== null && given !== null && Math.abs(value - given) < 5e-4 * Math.abs(given));
    const order = (value ?? Infinity) - (given ?? Infinity);
    const good = q.better === null || same || !reference ? undefined : order > 0 === (q.better === 'high');
    const change = !reference ? '' : same ? '' : value !== null && given ? `${order > 0 ? '+' : '−'}${percent(Math.abs(value / given - 1))}` : `data: ${format(q, given)}`;
    return {
      label: q.label, value: format(q, value), about: q.about, tone: good === undefined ? undefined : good ? 'good' : 'bad',
      below: [change, note ?? ''].filter(Boolean).join(' · ') || (reference ? 'as in the data' : ''),
    };
  };
  const { combined } = mix;
  return [
    reading('minimax_fidelity', (m) => m.combined.minimax_fidelity.value, `token ${combined.minimax_fidelity.node}${combined.minimax_fidelity.certified ? '' : `, at most ${digits(combined.minimax_fidelity.upper)}`}`),
    ...combined.mixing_time.map(({ eps }, i) => reading(`mixing_time_${eps}`, (m) => m.combined.mixing_time[i]?.steps ?? null)),
    reading('hitting_mean', (m) => m.combined.hitting_time.mean),
    reading('hitting_max', (m) => m.combined.hitting_time.max),
    reading('truncated_hitting_mean', (m) => m.combined.truncated_hitting_time.mean),
    ...(heads > 1 ? [reading('synergy', (m) => m.synergy, `best: head ${mix.best_head}`), reading('cross_head_share', (m) => m.cross_head_share)] : []),
  ];
}

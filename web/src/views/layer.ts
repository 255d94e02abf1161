import { Latest } from '../async';
import { lines } from '../charts/lines';
import { matrixView, thumbnail, type MatrixData } from '../charts/matrix';
import type { Core, Metrics, SystemDocument } from '../core';
import { bestHeadText, fidelityText, headName, interval, synergyNote, synergyText } from '../data/intervals';
import { matrixFor, meanNumbers, measureLayer, type MeasuredLayer } from '../data/measure-layer';
import { measurementOf } from '../data/settings';
import {
  layerOptions,
  leftOut,
  sampleOptions,
  sampleWords as wordsOf,
  selected,
  tokenLabel,
  tokenName,
  tokenPhrase,
  type Sample,
  type Selection,
} from '../data/selection';
import { fill, h } from '../dom';
import { digits, format, quantityOf } from '../quantities';
import type { State } from '../state';
import { currentTheme, type Theme } from '../theme';
import { choose, readings, segments, type Reading } from '../ui/controls';
import { figure } from '../ui/figure';
import { glossary } from '../ui/glossary';
import { saveFile } from '../ui/save';
import { words, type TableData } from '../ui/table';
import type { View } from '../view';
import { conventionControl, sessionHeader, settingsNote } from './facts';
import { fidelityWords, matrixWords, meanNoteWords } from './layer-words';
import { meanReadings } from './mean-readings';

/** Above so many tokens nothing is measured before it is asked for. */
const AT_ONCE = 600;

/** The same of a mean: tokens times samples. */
const MEAN_AT_ONCE = 10_000;

/** Tokens of a matrix that is saved as numbers. */
const MOST_SAVED = 1024;

/** One layer on one sample: its matrices, and how signals and walks go through them. */
export const layer: View = {
  name: 'layer',
  title: 'Layer',
  shows: (session) => session.attention !== null,
  mount(root, context) {
    const { store, session } = context;
    const attention = session.attention!;
    let now = selected(attention, store.get());
    const labels = (token: number) => tokenLabel(session, now.sample)(token);
    const names = (token: number) => tokenName(session, now.sample)(token);
    let measured: MeasuredLayer | null = null;

    const layers = choose<number>('Layer', layerOptions(attention), (value) => store.set({ layer: value }));
    const samples = choose<Sample>('Sample', [], (sample) => store.set({ sample }));
    const colours = segments(
      'Colours',
      [
        { value: 'linear' as const, label: 'Linear' },
        { value: 'root' as const, label: 'Root' },
        { value: 'log' as const, label: 'Log' },
      ],
      (value) => store.set({ colours: value }),
    );
    const conventions = conventionControl(context);
    const measuredWith = settingsNote(session);
    const heads = h('div', { class: 'heads-strip', role: 'group', 'aria-label': 'Heads' });
    const matrix = matrixView('Attention matrix');
    let drawThumbnails = () => {};
    const drawMatrix = matrix.element.redraw!;
    matrix.element.redraw = () => {
      drawMatrix();
      drawThumbnails();
    };
    const sampleWords = () => wordsOf(now.info, now.sample);
    const shownWords = () =>
      `layer ${now.info.name}, ${now.head === 'all' ? 'all heads together' : headName(now.info.heads[now.head]!)}, ${sampleWords()}`;
    const where = h('p', { class: 'print-only' });
    const matrixFigure = figure({
      name: 'attention',
      of: sampleWords,
      title: '',
      body: matrix.element,
      csv: () => matrixTable(),
      draw: (width, theme) => matrix.draw(width, theme),
    });
    const numbers = readings();
    const saveJson = h(
      'button',
      {
        type: 'button',
        onclick: () =>
          measured &&
          saveFile(
            `layer-${now.info.name}-${sampleWords().replaceAll(' ', '-')}.json`,
            JSON.stringify(measured.document, null, 2) + '\n',
            'application/json',
          ),
      },
      'Save JSON',
    );
    const wait = h('div', { class: 'card' });
    const survival = figure({
      name: 'survival',
      of: shownWords,
      title: 'Survival of a random walk',
      draw: (w, t) => drawSurvival(w, t),
      table: () => survivalTable(),
    });
    const signal = figure({
      name: 'signals',
      of: shownWords,
      title: 'Signals at the last token',
      draw: (w, t) => drawSignals(w, t),
      table: () => signalTable(),
    });
    const fidelity = figure({
      name: 'node-fidelity',
      of: shownWords,
      title: 'Fidelity of every token',
      draw: (w, t) => drawFidelity(w, t),
      table: () => fidelityTable(),
    });
    const weightsNote = h('p', { class: 'note' });
    const meanNote = h('p', { class: 'note' });
    const words_ = glossary();
    fill(
      root,
      sessionHeader(session, session.title, layers.element, samples.element, conventions.element, colours.element, saveJson),
      measuredWith.element,
      where,
      heads,
      weightsNote,
      meanNote,
      numbers.element,
      words_.element,
      h(
        'div',
        { class: 'layer-grid' },
        h('div', { class: 'stack' }, matrixFigure.element, fidelity.element),
        h('div', { class: 'stack' }, wait, signal.element, survival.element),
      ),
    );

    /** The matrix that is shown. */
    let shownMatrix: MatrixData | null = null;
    const matrixTable = (): TableData => {
      const nodes = Math.min(shownMatrix?.nodes ?? 0, MOST_SAVED);
      if (shownMatrix && nodes < shownMatrix.nodes)
        context.say(`Only the first ${nodes} of ${shownMatrix.nodes} tokens are saved: more would be hundreds of megabytes.`);
      return {
        name: `attention-layer-${now.info.name}-${now.head === 'all' ? 'all' : `head-${now.info.heads[now.head]}`}`,
        caption: 'Attention: rows are queries, columns keys',
        columns: [{ label: 'query' }, ...Array.from({ length: nodes }, (_, j) => ({ label: names(j), numeric: true }))],
        rows: Array.from({ length: nodes }, (_, i) => ({
          cells: [
            words(names(i)),
            ...Array.from({ length: nodes }, (__, j) => number(shownMatrix!.values[i * shownMatrix!.nodes + j]!)),
          ],
        })),
      };
    };

    const pictures = new Latest();
    const strip = new Latest();
    const measuring = new Latest();
    const cache = new Map<string, Promise<MatrixData>>();

    /** The matrix of a head or of all; what was wanted before is kept. */
    function matrixOf(core: Core, selection: Selection, head: number | 'all'): Promise<MatrixData> {
      const key = [selection.layer, selection.sample, head, head === 'all' ? selection.weights.join() : ''].join(' ');
      let found = cache.get(key);
      if (!found) {
        found = matrixFor(core, attention, selection, head);
        if (cache.size > (selection.info.tokens > 1000 ? 2 : 80)) cache.delete(cache.keys().next().value!);
        cache.set(key, found);
        found.catch(() => cache.delete(key));
      }
      return found;
    }

    const whole = () => measuredOf(measured, now);
    const weakest = () => {
      const of = whole();
      return of && measured ? measured.document.nodes.indexOf(of.minimax_fidelity.node) : null;
    };

    function showMatrix(state: State): void {
      const selection = now;
      if (selection.info.tokens > AT_ONCE) matrix.wait();
      void pictures.run(
        async () => matrixOf(await context.core, selection, selection.head),
        (data) => {
          shownMatrix = data;
          matrix.show(data, state.colours, labels, weakest());
        },
        (line) => context.say(line, 'error'),
      );
    }

    function showHeads(): void {
      const { info } = now;
      const several = info.heads.length > 1;
      const list: (number | 'all')[] = several ? ['all', ...info.heads.keys()] : [0];
      const small = info.tokens * (now.sample === 'mean' ? info.samples.length / 4 : 1) <= 512 && list.length <= 40;
      const selection = now;
      const buttons = list.map((head) => {
        const picture = small ? h('canvas', { width: 64, height: 64 }) : null;
        const best =
          measured?.document.best_head_decided && several && head !== 'all' && measured.document.best_head === info.heads[head];
        return {
          head,
          picture,
          element: h(
            'button',
            {
              type: 'button',
              class: 'head-button',
              'aria-pressed': String(head === now.head),
              onclick: () => store.set({ head }),
              title: best ? 'largest fidelity alone on this sample' : null,
            },
            picture,
            h('span', {}, head === 'all' ? 'all heads' : headName(info.heads[head]!), best ? ' ●' : ''),
            best ? h('span', { class: 'hidden-text' }, ' (largest fidelity alone on this sample)') : null,
          ),
        };
      });
      fill(
        heads,
        buttons.map((b) => b.element),
      );
      heads.hidden = !several;
      if (small && several)
        void strip.run(
          async () => {
            const core = await context.core;
            return Promise.all(buttons.map(({ head }) => matrixOf(core, selection, head)));
          },
          (all) => {
            drawThumbnails = () => {
              const theme = currentTheme();
              all.forEach((data, i) => thumbnail(buttons[i]!.picture!, data, theme, store.get().colours));
            };
            drawThumbnails();
          },
          () => {},
        );
    }

    function measure(asked: boolean): void {
      const selection = now;
      const { options } = measurementOf(session, store.get().convention);
      measured = null;
      showNumbers();
      if (isLong(selection) && !asked) {
        measuring.stop();
        fill(
          wait,
          h('p', { class: 'note' }, `Walks and signals of ${longWords(selection)} take a while: `),
          h('button', { type: 'button', onclick: () => measure(true) }, 'Measure this layer'),
        );
        return;
      }
      fill(wait, h('p', { class: 'note', role: 'status' }, 'Measuring…'));
      void measuring.run(
        async () => measureLayer(await context.core, attention, selection, options, () => selection === now),
        (result) => {
          measured = result;
          showNumbers();
          showHeads();
          showMatrix(store.get());
        },
        (line) => {
          fill(wait, h('p', { class: 'note' }, line));
          context.say(line, 'error');
        },
      );
    }

    function showNumbers(): void {
      const of = whole();
      const ready = of !== null && measured !== null;
      wait.hidden = ready;
      saveJson.disabled = !ready || now.sample === 'mean';
      for (const one of [survival, signal, fidelity]) one.element.hidden = !ready;
      const list = ready ? layerReadings(of) : [];
      numbers.update(list);
      words_.update(list.map(({ id }) => id));
      fill(meanNote, ready && measured!.samples ? meanWords() : null);
      meanNote.hidden = !ready || !measured!.samples;
      if (!ready) return;
      const title = now.head === 'all' ? 'all heads together' : headName(now.info.heads[now.head]!);
      survival.caption(
        `The chance that a walk from the slowest token has not reached the last one after t steps (${title}); the mixing time is where it falls to ε.${now.info.heads.length > 1 ? (now.head === 'all' ? ' Grey: each head alone.' : ' Grey: the other heads, and all together.') : ''}`,
      );
      signal.caption(
        'What arrives of each token by diffusion after t steps, early tokens faint, late ones strong. The bold line is the weakest peak so far: it ends at the minimax fidelity. Lines end where little is left.',
      );
      fidelity.caption(fidelityWords(now));
      for (const one of [survival, signal, fidelity]) one.redraw();
    }

    /** Numbers of the sample, or means over all of them. */
    const means = () => meanNumbers(session, store.get(), now, measured!.samples!);
    const meanWords = () => meanNoteWords(means(), now);
    const together = () => now.head === 'all' && measured!.document.heads.length > 1;
    const layerReadings = (of: Metrics): Reading[] =>
      measured!.samples
        ? meanReadings(means(), measured!.document.settings.eps, together())
        : metricReadings(of, measured!.document, now.head === 'all', tokenPhrase(session, now.sample)(weakest()!));
    const weakestWords = () => (now.sample === 'mean' ? 'lowest mean' : 'weakest');

    const series = () => measured!.curves.series[now.head === 'all' ? measured!.curves.series.length - 1 : now.head]!;

    function drawSurvival(width: number, theme: Theme): SVGSVGElement {
      const { curves, document } = measured!;
      const eps = document.settings.eps[0] ?? 0.25;
      const of = whole()!;
      const time = of.mixing_time[0]?.steps ?? null;
      const points = (values: Float64Array) => Array.from(values, (y, x) => ({ x, y }));
      const others = curves.series.filter((one) => one !== series());
      return lines(
        {
          label: 'Survival curves',
          xTitle: 'step t',
          yTitle: 'chance not to have arrived',
          height: 290,
          yDomain: [0, 1],
          series: [
            ...others.slice(0, 64).map((one) => ({
              name: one.name,
              colour: theme.muted,
              points: points(one.survival),
              faint: true,
              width: 1,
              opacity: 0.3,
            })),
            { name: 'mean over tokens', colour: theme.series[5]!, points: points(series().meanSurvival), dash: '5 4' },
            { name: 'slowest token', colour: theme.series[0]!, points: points(series().survival), width: 2.5 },
          ],
          levels: [{ y: eps, label: `ε = ${digits(eps)}` }],
          moments: time === null ? [] : [{ x: time, label: `T_mix = ${digits(time)}`, colour: theme.warm }],
        },
        width,
        theme,
      );
    }

    function drawSignals(width: number, theme: Theme): SVGSVGElement {
      const { nodes, steps } = measured!.curves;
      const { signal: values, minimax } = series();
      const of = whole()!;
      const every = Math.ceil((nodes - 1) / 160);
      const floor = Math.max(1e-300, of.minimax_fidelity.value / 300, of.minimax_fidelity.value > 0 ? 0 : 1e-9);
      const faint = [];
      for (let j = 0; j < nodes - 1; j += every)
        faint.push({
          name: names(j),
          colour: theme.ramp(0.22 + (0.7 * j) / Math.max(1, nodes - 2)),
          faint: true,
          width: 1,
          opacity: 0.7,
          points: Array.from({ length: steps }, (_, t) => ({ x: t + 1, y: values[(t + 1) * nodes + j]! })).filter(
            (p) => p.y > floor,
          ),
        });
      const { time, value } = of.minimax_fidelity;
      const node = weakest()!;
      return lines(
        {
          label: 'Signals of the tokens at the last one',
          xTitle: 'step t',
          yTitle: 'signal at the last token',
          logarithmic: true,
          height: 360,
          series: [
            ...faint,
            {
              name: `${now.sample === 'mean' ? 'lowest mean fidelity' : 'weakest token'}: ${names(node)}`,
              colour: theme.warm,
              width: 1.8,
              dash: '5 3',
              points: Array.from({ length: steps }, (_, t) => ({ x: t + 1, y: values[(t + 1) * nodes + node]! })).filter(
                (p) => p.y > floor,
              ),
            },
            {
              name: 'minimax so far',
              colour: theme.ink,
              width: 2.8,
              points: Array.from({ length: steps }, (_, t) => ({ x: t + 1, y: minimax[t + 1]! })).filter((p) => p.y > floor),
            },
          ],
          notes:
            time !== null && time > 0 && time <= steps
              ? [{ x: time, y: value, label: `${fidelityText(of)} at step ${digits(time)}`, side: 'above' }]
              : [],
        },
        width,
        theme,
      );
    }

    function drawFidelity(width: number, theme: Theme): SVGSVGElement {
      const of = whole()!;
      const last = of.node_fidelity.length - 1;
      const node = weakest()!;
      const { document } = measured!;
      const uppers = of.node_fidelity_upper.map((upper, j) => (upper > of.node_fidelity[j]! * (1 + 1e-9) ? upper : null));
      const points = (metrics: Metrics) => metrics.node_fidelity.slice(0, last).map((y, x) => ({ x, y }));
      const both = now.head !== 'all' && document.heads.length > 1;
      return lines(
        {
          label: 'Fidelity of every token',
          xTitle: 'token',
          yTitle: 'fidelity',
          logarithmic: true,
          height: 250,
          xFormat: names,
          series: [
            ...(uppers.some((upper, j) => upper !== null && j < last)
              ? [
                  {
                    name: 'at most, where not certified',
                    colour: theme.warm,
                    line: false,
                    marks: 'diamonds' as const,
                    points: uppers.slice(0, last).flatMap((y, x) => (y === null ? [] : [{ x, y }])),
                  },
                ]
              : []),
            ...(both ? [{ name: 'all heads together', colour: theme.muted, points: points(document.combined), width: 1.2 }] : []),
            {
              name: now.head === 'all' ? 'all heads together' : headName(now.info.heads[now.head]!),
              colour: theme.series[0]!,
              points: points(of),
              width: 1.6,
              marks: last <= 140 ? ('dots' as const) : ('none' as const),
            },
          ],
          notes: [{ x: node, y: of.node_fidelity[node]!, label: `${weakestWords()}: ${names(node)}`, side: 'below' }],
        },
        width,
        theme,
      );
    }

    const number = (value: number) => ({ value, text: digits(value) });
    const curveRows = (columns: [string, Float64Array][], name: string, caption: string): TableData => ({
      name,
      caption,
      columns: [{ label: 'step', numeric: true }, ...columns.map(([label]) => ({ label, numeric: true }))],
      rows: Array.from(columns[0]![1], (_, t) => ({ cells: [number(t), ...columns.map(([, values]) => number(values[t]!))] })),
    });
    const survivalTable = () =>
      curveRows(
        [
          ['slowest', series().survival],
          ['mean', series().meanSurvival],
        ],
        'survival',
        'Chance not to have arrived after so many steps',
      );
    const signalTable = (): TableData => {
      const { nodes, steps } = measured!.curves;
      const of = series();
      return {
        name: 'signals',
        caption: 'Signal of each token at the last one, and the weakest peak so far',
        columns: [
          { label: 'step', numeric: true },
          { label: 'minimax', numeric: true },
          ...Array.from({ length: nodes - 1 }, (_, j) => ({ label: names(j), numeric: true })),
        ],
        rows: Array.from({ length: steps + 1 }, (_, t) => ({
          cells: [
            number(t),
            number(of.minimax[t]!),
            ...Array.from({ length: nodes - 1 }, (__, j) => number(of.signal[t * nodes + j]!)),
          ],
        })),
      };
    };
    const fidelityTable = (): TableData => {
      const of = whole()!;
      return {
        name: 'tokens',
        caption: 'Every token on its own',
        columns: [
          { label: 'token' },
          { label: 'fidelity', numeric: true },
          { label: 'at most', numeric: true },
          { label: 'at step', numeric: true },
          { label: 'hitting time', numeric: true },
        ],
        rows: of.node_fidelity.map((value, j) => ({
          cells: [
            words(names(j)),
            number(value),
            { value: of.node_fidelity_upper[j]!, text: interval(of.node_fidelity_upper[j]!, of.node_fidelity_upper[j]!) },
            { value: of.optimal_time[j] ?? Infinity, text: stepWords(of.optimal_time[j], 'limit') },
            { value: of.hitting_time.node[j] ?? Infinity, text: stepWords(of.hitting_time.node[j], 'never') },
          ],
          marked: j === weakest(),
        })),
      };
    };

    return {
      update(state, before) {
        now = selected(attention, state);
        layers.update(now.info.index);
        samples.update(now.sample, sampleOptions(now.info));
        colours.update(state.colours);
        conventions.update(state.convention);
        measuredWith.update(state.convention);
        fill(where, shownWords()[0]!.toUpperCase(), shownWords().slice(1));
        matrixFigure.title(
          `Layer ${now.info.name}, ${now.head === 'all' ? 'all heads together' : headName(now.info.heads[now.head]!)}`,
        );
        matrixFigure.caption(matrixWords(now));
        fill(
          weightsNote,
          leftOut(session, now.info),
          ' ',
          now.mixed
            ? [
                'All heads together: with the weights of the mixer. ',
                h(
                  'button',
                  { type: 'button', class: 'link', onclick: () => store.set({ weights: null }) },
                  'Back to those of the data',
                ),
              ]
            : null,
        );
        weightsNote.hidden = !now.mixed && !leftOut(session, now.info);
        const other =
          !before ||
          before.layer !== state.layer ||
          before.sample !== state.sample ||
          before.weights !== state.weights ||
          before.convention !== state.convention;
        if (other) {
          showHeads();
          measure(false);
        } else if (before.head !== state.head) {
          [...heads.children].forEach((button, i) =>
            button.setAttribute('aria-pressed', String((i === 0 ? 'all' : i - 1) === now.head)),
          );
          showNumbers();
        }
        if (other || before.head !== state.head || before.colours !== state.colours) showMatrix(state);
        if (before && before.colours !== state.colours) drawThumbnails();
      },
      leave() {
        for (const one of [pictures, strip, measuring]) one.stop();
      },
    };
  },
};

/** The metrics of what is shown. */
const measuredOf = (measured: { document: SystemDocument } | null, now: Selection): Metrics | null =>
  measured ? (now.head === 'all' ? measured.document.combined : (measured.document.heads[now.head] ?? null)) : null;

/** A step in words; null: no step, which `word` says. */
const stepWords = (step: number | null | undefined, word: string) => (step == null ? word : digits(step));

/** Whether measuring takes so long that it is asked for first. */
const isLong = ({ info, sample }: Selection) =>
  info.tokens > AT_ONCE || (sample === 'mean' && info.tokens * info.samples.length > MEAN_AT_ONCE);

const longWords = ({ info, sample }: Selection) =>
  `${info.tokens} tokens${sample === 'mean' ? ` on ${info.samples.length} samples` : ''}`;

function metricReadings(of: Metrics, document: SystemDocument, together: boolean, weakest: string): Reading[] {
  const reading = (id: string, value: number | null | string, below?: string): Reading => {
    const q = quantityOf(id);
    return {
      id,
      label: q.label,
      value: typeof value === 'string' ? value : format(q, value),
      about: q.about,
      ...(below === undefined ? {} : { below }),
    };
  };
  const { minimax_fidelity: fidelity, mixing_time, hitting_time, truncated_hitting_time } = of;
  return [
    reading(
      'minimax_fidelity',
      fidelityText(of),
      `${fidelity.certified ? '' : 'not certified; '}${weakest}, ${fidelity.time === null ? 'approached, never attained' : `step ${digits(fidelity.time)}`}`,
    ),
    ...mixing_time.map(({ eps, steps }) => reading(`mixing_time_${eps}`, steps, 'steps')),
    reading('hitting_mean', hitting_time.mean, `largest ${format(quantityOf('hitting_max'), hitting_time.max)}`),
    reading('truncated_hitting_mean', truncated_hitting_time.mean, `walks cut at ${document.settings.cutoff} steps`),
    ...(together && document.heads.length > 1
      ? [
          reading('synergy', synergyText(document), [synergyNote(document), bestHeadText(document)].filter(Boolean).join(' · ')),
          reading('cross_head_share', document.cross_head_share),
        ]
      : []),
  ];
}

/** The frame around the views: navigation, theme, what is said in one line. */
import { openCore } from './core';
import { addressProblems } from './data/address';
import { graphSession, startView, type Session } from './data/session';
import { graphMeasurement } from './data/settings';
import { fill, h, s } from './dom';
import { toHash, type State, type Store } from './state';
import { Themes, type ThemeChoice } from './theme';
import { redrawAll } from './ui/figure';
import { hideTooltip } from './ui/tooltip';
import type { Context, Mounted, View } from './view';

const THEMES: Record<ThemeChoice, { next: ThemeChoice; label: string; sign: string }> = {
  auto: { next: 'light', label: 'Theme: as the system', sign: '◐' },
  light: { next: 'dark', label: 'Theme: light', sign: '☀' },
  dark: { next: 'auto', label: 'Theme: dark', sign: '☾' },
};

/** Two heads on three tokens, and the last. */
const logo = () =>
  s(
    'svg',
    { viewBox: '0 0 24 24', 'aria-hidden': 'true', fill: 'none', 'stroke-width': 1.8 },
    s('path', { d: 'M3 15C6 5 18 5 21 15', stroke: 'var(--series-0)' }),
    s('path', { d: 'M3 15C5 10 10 10 12 15S19 20 21 15', stroke: 'var(--series-1)' }),
    ...[3, 12, 21].map((x) => s('circle', { cx: x, cy: 15, r: 2.2, fill: 'var(--ink)' })),
  );

export function startShell(root: HTMLElement, store: Store, first: Session, views: View[]): Context {
  const themes = new Themes();
  const main = h('main', { id: 'content', tabindex: -1 });
  const nav = h('nav', { class: 'views', 'aria-label': 'Views' });
  const news = h('div', { class: 'say', role: 'status' });
  const alarm = h('div', { class: 'say error', role: 'alert' });
  const foot = h('footer', { class: 'foot' });
  const themeButton = h('button', { type: 'button', class: 'quiet', onclick: () => setTheme(THEMES[themes.get()].next) });
  const setTheme = (choice: ThemeChoice) => {
    themes.set(choice);
    fill(
      themeButton,
      h('span', { 'aria-hidden': 'true' }, THEMES[choice].sign),
      h('span', { class: 'hidden-text' }, THEMES[choice].label),
    );
    themeButton.title = THEMES[choice].label;
  };
  setTheme('auto');
  themes.subscribe(redrawAll);

  /** The core opens after the first figures are drawn. */
  const painted = new Promise<void>((resolve) => setTimeout(resolve));
  /** The arrays stand after the script: they are there when the page is. */
  const whole = new Promise<void>((resolve) =>
    document.readyState === 'loading' ? document.addEventListener('DOMContentLoaded', () => resolve()) : resolve(),
  );
  let quiet = 0;
  /** What the page has, while the heads of a graph are mixed. */
  let data = first;
  const context: Context = {
    store,
    session: first,
    core: Promise.all([painted.then(() => openCore()), whole]).then(([core]) => core),
    open(session, state = {}) {
      context.session = session;
      if (state.of !== 'graph') data = session;
      fill(alarm);
      store.set({ layer: 0, sample: 0, head: 'all', weights: null, quantity: '', of: 'data', ...state });
      mount(true);
    },
    say(line, kind = 'news') {
      clearTimeout(quiet);
      fill(news, kind === 'news' && line !== '' ? line : null);
      fill(
        alarm,
        kind === 'error' ? [line, h('button', { type: 'button', class: 'quiet', onclick: () => fill(alarm) }, 'Close')] : null,
      );
      if (kind === 'news') quiet = window.setTimeout(() => fill(news), 4000);
    },
  };
  context.core.catch((error: unknown) =>
    context.say(`The computing core does not open: ${error instanceof Error ? error.message : String(error)}`, 'error'),
  );

  /** What an address does not carry. */
  const alone = () =>
    context.session !== first && context.session.attention && !context.session.graphText
      ? ` The file ${context.session.title} is not in it: who follows it must open that again.`
      : '';
  /** Whether a state shows the heads of a graph that is not the one at hand. */
  const isAway = (state: State) =>
    state.of === 'graph' && (state.view === 'mixer' || state.view === 'layer') && context.session.graphText !== state.graph;
  /** Opens what a state is of: the graph of its address, or what the page has. */
  const follow = (state: State) => {
    if (state.of === 'data') context.session = data;
    if (!isAway(state)) return;
    const open = async () => {
      const core = await context.core;
      const { text } = await core.graph({ text: state.graph });
      const document = await core.measure({ graph: text }, graphMeasurement(data).options);
      const now = store.get();
      if (!isAway(now) || now.graph !== state.graph) return;
      context.open(graphSession(text, document), { ...now, graph: text });
      heed();
    };
    open().catch((error: unknown) =>
      context.say(`Of this address there is nothing to show: ${error instanceof Error ? error.message : String(error)}`, 'error'),
    );
  };
  /** Says what of an address is not shown. */
  const heed = () => {
    const asked = store.get();
    if (location.hash.length < 2 || isAway(asked)) return;
    if (asked.view !== wanted(asked).name)
      return context.say(
        `This address shows a file that is not in the page: open it ${startView(context.session) === 'files' ? 'here' : 'under Open'} first.`,
      );
    const problems = addressProblems(location.hash, asked, context.session);
    if (problems.length > 0) context.say(`Of this address there is nothing to show: ${problems.join(', ')}.`, 'error');
  };
  const share = async () => {
    store.flush();
    try {
      await navigator.clipboard.writeText(location.href);
      context.say(`The address of this view is on the clipboard.${alone()}`);
    } catch {
      context.say(`The address bar has the address of this view.${alone()}`);
    }
  };

  fill(
    root,
    h(
      'a',
      {
        class: 'skip',
        href: '#content',
        onclick: (event: Event) => {
          event.preventDefault();
          main.focus();
        },
      },
      'To the content',
    ),
    h(
      'header',
      { class: 'top' },
      h(
        'div',
        { class: 'top-row' },
        h('span', { class: 'brand' }, logo(), 'synergraph'),
        nav,
        h(
          'div',
          { class: 'actions' },
          h('button', { type: 'button', class: 'quiet', onclick: () => void share() }, 'Copy link'),
          themeButton,
        ),
      ),
    ),
    main,
    foot,
    news,
    alarm,
  );

  let shown: { view: View; session: Session; mounted: Mounted } | null = null;
  const available = () => views.filter((view) => view.shows(context.session));
  const wanted = (state: State) =>
    available().find((view) => view.name === state.view) ??
    available().find((view) => view.name === startView(context.session)) ??
    available()[0]!;

  function mount(focus: boolean): void {
    const state = store.get();
    const view = wanted(state);
    fill(
      nav,
      available().map((one) =>
        h(
          'a',
          {
            href: toHash({ ...state, view: one.name }),
            'aria-current': one === view ? 'page' : null,
            onclick: (event: MouseEvent) => {
              if (event.metaKey || event.ctrlKey || event.shiftKey) return;
              event.preventDefault();
              store.set({ view: one.name });
            },
          },
          one.title,
        ),
      ),
    );
    if (shown?.view === view && shown.session === context.session) return;
    shown?.mounted.leave?.();
    hideTooltip();
    const place = h('div', { class: 'view', id: `view-${view.name}` });
    fill(main, place);
    document.title = [view.title, context.session.title, 'synergraph'].filter(Boolean).join(' · ');
    fill(
      foot,
      context.session.program && `Made by ${context.session.program}. `,
      'Everything here is computed in this page; it connects to nothing.',
    );
    const mounted = view.mount(place, context);
    shown = { view, session: context.session, mounted };
    mounted.update(state, null);
    if (focus) {
      main.focus({ preventScroll: true });
      scrollTo(0, 0);
    }
  }

  store.subscribe((state, before) => {
    follow(state);
    if (wanted(state) !== shown?.view || shown.session !== context.session) mount(true);
    else shown.mounted.update(state, before);
  });
  mount(false);
  follow(store.get());
  heed();
  addEventListener('hashchange', heed);
  requestAnimationFrame(() => requestAnimationFrame(() => performance.mark('synergraph: shown')));
  return context;
}

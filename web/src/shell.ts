/** The frame around the views: navigation, theme, what is said in one line. */
import { openCore } from './core';
import { addressProblems } from './data/address';
import { graphSession, startView, type Session } from './data/session';
import { graphMeasurement } from './data/settings';
import { fill, h, s } from './dom';
import { toHash, type State, type Store } from './state';
import { Themes, type ThemeChoice } from './theme';
import { redrawAll } from './ui/figure';
import { div, quiet } from './ui/parts';
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

const reason = (error: unknown) => (error instanceof Error ? error.message : String(error));

function themeButton(): HTMLElement {
  const themes = new Themes();
  const element = quiet(null, () => set(THEMES[themes.get()].next));
  const set = (choice: ThemeChoice) => {
    const { sign, label } = THEMES[choice];
    themes.set(choice);
    fill(element, h('span', { 'aria-hidden': 'true' }, sign), h('span', { class: 'hidden-text' }, label));
    element.title = label;
  };
  set('auto');
  themes.subscribe(redrawAll);
  return element;
}

/** Where the page says something in one line. */
function speaker() {
  const news = h('div', { class: 'say', role: 'status' });
  const alarm = h('div', { class: 'say error', role: 'alert' });
  let timer = 0;
  const close = () => fill(alarm);
  const say: Context['say'] = (line, kind = 'news') => {
    clearTimeout(timer);
    fill(news, kind === 'news' && line !== '' ? line : null);
    fill(alarm, kind === 'error' ? [line, quiet('Close', close)] : null);
    if (kind === 'news') timer = window.setTimeout(() => fill(news), 4000);
  };
  return { news, alarm, say, close };
}

/** The core, after the first figures are drawn. The arrays stand after the script: they are there when the page is. */
function coreWhenShown(): Context['core'] {
  const painted = new Promise<void>((resolve) => setTimeout(resolve));
  const whole = new Promise<void>((resolve) =>
    document.readyState === 'loading' ? document.addEventListener('DOMContentLoaded', () => resolve()) : resolve(),
  );
  return Promise.all([painted.then(() => openCore()), whole]).then(([core]) => core);
}

/** A link to every view. */
function viewLinks(views: View[], current: View, store: Store): HTMLElement[] {
  const state = store.get();
  return views.map((one) =>
    h(
      'a',
      {
        href: toHash({ ...state, view: one.name }),
        'aria-current': one === current ? 'page' : null,
        onclick: (event: MouseEvent) => {
          if (event.metaKey || event.ctrlKey || event.shiftKey) return;
          event.preventDefault();
          store.set({ view: one.name });
        },
      },
      one.title,
    ),
  );
}

/** Where the views are shown, one at a time. */
function stage(views: View[], context: Context) {
  const main = h('main', { id: 'content', tabindex: -1 });
  const nav = h('nav', { class: 'views', 'aria-label': 'Views' });
  const foot = h('footer', { class: 'foot' });
  let shown: { view: View; session: Session; mounted: Mounted } | null = null;
  const available = () => views.filter((view) => view.shows(context.session));
  /** The view that a state shows. */
  const wanted = (state: State) =>
    available().find((view) => view.name === state.view) ??
    available().find((view) => view.name === startView(context.session)) ??
    available()[0]!;
  const mount = (focus: boolean) => {
    const { session } = context;
    const state = context.store.get();
    const view = wanted(state);
    fill(nav, viewLinks(available(), view, context.store));
    if (shown?.view === view && shown.session === session) return;
    shown?.mounted.leave?.();
    hideTooltip();
    const place = h('div', { class: 'view', id: `view-${view.name}` });
    fill(main, place);
    document.title = [view.title, session.title, 'synergraph'].filter(Boolean).join(' · ');
    fill(
      foot,
      session.program && `Made by ${session.program}. `,
      'This page computes everything by itself and opens no connection.',
    );
    const mounted = view.mount(place, context);
    shown = { view, session: context.session, mounted };
    mounted.update(state, null);
    if (focus) {
      main.focus({ preventScroll: true });
      scrollTo(0, 0);
    }
  };
  const update = (state: State, before: State) => {
    if (wanted(state) !== shown?.view || shown.session !== context.session) mount(true);
    else shown.mounted.update(state, before);
  };
  return { main, nav, foot, wanted, mount, update };
}

/** What addresses of the page show, and what they cannot. `data`: what the page has, while the heads of a graph are mixed. */
function addresses(context: Context, first: Session, data: () => Session, wanted: (state: State) => View) {
  const { store } = context;
  const nothing = (why: string) => context.say(`The address asks for something that the page does not have: ${why}`, 'error');
  /** What an address does not carry. */
  const alone = () =>
    context.session !== first && context.session.attention && !context.session.graphText
      ? ` The address does not contain the file ${context.session.title}: whoever follows it must open the file again.`
      : '';
  /** Whether a state shows the heads of a graph that is not the one at hand. */
  const isAway = (state: State) =>
    state.of === 'graph' && (state.view === 'mixer' || state.view === 'layer') && context.session.graphText !== state.graph;
  const openGraph = async (graph: string) => {
    const core = await context.core;
    const { text } = await core.graph({ text: graph });
    const document = await core.measure({ graph: text }, graphMeasurement(data()).options);
    const now = store.get();
    if (!isAway(now) || now.graph !== graph) return;
    context.open(graphSession(text, document), { ...now, graph: text });
    heed();
  };
  /** Opens what a state is of: the graph of its address, or what the page has. */
  const follow = (state: State) => {
    if (state.of === 'data') context.session = data();
    if (isAway(state)) openGraph(state.graph).catch((error: unknown) => nothing(reason(error)));
  };
  /** Says what of an address is not shown. */
  const heed = () => {
    const asked = store.get();
    if (location.hash.length < 2 || isAway(asked)) return;
    if (asked.view !== wanted(asked).name)
      return context.say(
        `This address shows a file that is not in the page: open the file ${startView(context.session) === 'files' ? 'here' : 'under Open'} first.`,
      );
    const problems = addressProblems(location.hash, asked, context.session);
    if (problems.length > 0) nothing(`${problems.join(', ')}.`);
  };
  const share = async () => {
    store.flush();
    try {
      await navigator.clipboard.writeText(location.href);
      context.say(`The address of this view is on the clipboard.${alone()}`);
    } catch {
      context.say(`Copying failed; the address bar has the address of this view.${alone()}`);
    }
  };
  return { follow, heed, share };
}

/** A link that the keyboard reaches first. */
const skipLink = (main: HTMLElement) => {
  const skip = (event: Event) => {
    event.preventDefault();
    main.focus();
  };
  return h('a', { class: 'skip', href: '#content', onclick: skip }, 'To the content');
};

const header = (nav: HTMLElement, share: () => void) =>
  h(
    'header',
    { class: 'top' },
    div(
      'top-row',
      h('span', { class: 'brand' }, logo(), 'synergraph'),
      nav,
      div('actions', quiet('Copy link', share), themeButton()),
    ),
  );

export function startShell(root: HTMLElement, store: Store, first: Session, views: View[]): Context {
  const { news, alarm, say, close } = speaker();
  let data = first;
  const context: Context = {
    store,
    session: first,
    core: coreWhenShown(),
    open(session, state = {}) {
      context.session = session;
      if (state.of !== 'graph') data = session;
      close();
      store.set({ layer: 0, sample: 0, head: 'all', weights: null, quantity: '', of: 'data', ...state });
      mount(true);
    },
    say,
  };
  context.core.catch((error: unknown) => say(`The computing core does not start: ${reason(error)}`, 'error'));
  const { main, nav, foot, wanted, mount, update } = stage(views, context);
  const { follow, heed, share } = addresses(context, first, () => data, wanted);
  fill(
    root,
    skipLink(main),
    header(nav, () => void share()),
    main,
    foot,
    news,
    alarm,
  );

  store.subscribe((state, before) => {
    follow(state);
    update(state, before);
  });
  mount(false);
  follow(store.get());
  heed();
  addEventListener('hashchange', heed);
  requestAnimationFrame(() => requestAnimationFrame(() => performance.mark('synergraph: shown')));
  return context;
}

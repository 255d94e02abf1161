import type { Core } from './core';
import type { Session } from './data/session';
import type { State, Store, ViewName } from './state';

/** What every view is given. */
export interface Context {
  store: Store;
  /** The data shown: those in the page, or a file that was opened. */
  session: Session;
  /** The computing core; it opens in the background. */
  core: Promise<Core>;
  /** Shows other data. */
  open(session: Session, state?: Partial<State>): void;
  /** Says something in one line, to everybody; an error stays until the next. */
  say(line: string, kind?: 'news' | 'error'): void;
}

/** A view that is on the page. */
export interface Mounted {
  /** The state has changed (or the view has just been mounted, before = null). */
  update(state: State, before: State | null): void;
  /** The view leaves the page. */
  leave?(): void;
}

/** A part of the page, with a name in its navigation. */
export interface View {
  name: ViewName;
  title: string;
  /** Whether there is something to show of these data. */
  shows(session: Session): boolean;
  mount(root: HTMLElement, context: Context): Mounted;
}

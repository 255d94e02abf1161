import './style.css';
import { readPage } from './data/page';
import { emptySession, pageSession, type Session } from './data/session';
import { startShell } from './shell';
import { Store } from './state';
import { views } from './views';
import { acceptDrops } from './views/files';

/** What the page holds, and what is wrong with it. */
function ownSession(): { session: Session; problem: string } {
  try {
    const arrays = () => document.getElementById('synergraph-arrays')?.textContent ?? '';
    return { session: pageSession(readPage(document), arrays), problem: '' };
  } catch (error) {
    return {
      session: emptySession(),
      problem: `The data in this page are damaged. ${error instanceof Error ? error.message : ''}`,
    };
  }
}

const { session, problem } = ownSession();
const context = startShell(document.getElementById('app')!, new Store(window), session, views);
if (problem) context.say(problem, 'error');
acceptDrops(context);

import './style.css';
import { readPage } from './data/page';
import { pageSession } from './data/session';
import { startShell } from './shell';
import { Store } from './state';
import { views } from './views';
import { acceptDrops } from './views/files';

const session = pageSession(readPage(document), () => document.getElementById('synergraph-arrays')?.textContent ?? '');
acceptDrops(startShell(document.getElementById('app')!, new Store(window), session, views));

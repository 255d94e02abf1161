import './style.css';
import { readPage } from './data/page';
import { pageSession } from './data/session';
import { startShell } from './shell';
import { Store } from './state';
import { views } from './views';

const session = pageSession(readPage(document), () => document.getElementById('synergraph-arrays')?.textContent ?? '');
startShell(document.getElementById('app')!, new Store(window), session, views);

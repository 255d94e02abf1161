import './style.css';
import { readPage } from './data/page';

const data = readPage(document);
document.getElementById('app')!.textContent = data ? data.title : 'synergraph';

import type { ReportFigure } from '../data/page';
import type { Session } from '../data/session';
import { fill, h, type Child } from '../dom';
import { quantityOf } from '../quantities';
import { choose, segments } from '../ui/controls';
import { glossaryOf } from '../ui/glossary';
import { button, card, cardHead, div, note } from '../ui/parts';
import { saveJson } from '../ui/save';
import { csvButton, table, type TableData } from '../ui/table';
import type { View } from '../view';
import { findings, sessionHeader } from './facts';
import { studyFigures } from './study-figures';
import {
  correlationTable,
  modelsTable,
  reportTable,
  subsetTables,
  synergyTable,
  trendsTable,
  type Convention,
} from './study-tables';

const FIRST = 'truncated_hitting_mean';

const HOW = {
  conventions: 'Published convention: as the paper’s numbers were computed. Exact convention: as the paper’s definitions read.',
  layers: 'Layers are L1, L2, … in this view, as in the paper. All other views count layers from 0.',
  tests:
    'Trends: Jonckheere-Terpstra test along the number of heads, one value per seed, one-sided. Somers’ d is +1 if every pair is in the claimed order. p-values are corrected by Holm’s method over all trends of a convention. Shares have Wilson’s 95 % intervals. Correlations are Spearman’s, two-sided. Layers of one model are not independent, so the p-value of a correlation describes the data and proves nothing.',
};

/** A study: what its models show together, every model, and the tables and figures of the report. */
export const study: View = {
  name: 'study',
  title: 'Study',
  shows: (session) => session.study !== null,
  mount(root, { store, session }) {
    const of = session.study!;
    const quantities = [...new Set(of.findings.summaries.map((one) => one.quantity))];
    const chosen = () => {
      const { quantity, convention } = store.get();
      return { convention, quantity: [quantity, FIRST].find((one) => quantities.includes(one)) ?? quantities[0] ?? '' };
    };
    const choice = choose<string>(
      'Quantity',
      quantities.map((value) => ({ value, label: quantityOf(value).label })),
      (quantity) => store.set({ quantity }),
    );
    const conventions = segments<Convention>('Convention', { exact: 'Exact', published: 'Published' }, (convention) =>
      store.set({ convention }),
    );
    const figures = studyFigures(session, chosen);
    fill(
      root,
      sessionHeader(session, session.title || 'Study', choice, conventions),
      findings('What the data say', of.findings.statements, note(HOW.conventions, ' ', HOW.layers)),
      div('grid wide', figures.list),
      glossaryOf(quantities),
      tables(session),
      div('grid wide', session.report?.figures?.map(savedFigure)),
      div(
        'controls',
        button('Save results.json', () => saveJson('results', of)),
      ),
    );
    return {
      update(state, before) {
        if (before && before.quantity === state.quantity && before.convention === state.convention) return;
        choice.update(chosen().quantity);
        conventions.update(state.convention);
        figures.update();
      },
    };
  },
};

/** The paper's tables with ours, then the findings, the models and the settings. */
function tables({ study: of, report }: Session): Child {
  const [beside = [], ...others] = (report?.sections ?? []).map(({ tables: all }) =>
    all.map((one) => tableCard(reportTable(one), one.caption)),
  );
  const found = [trendsTable(of!), synergyTable(of!), correlationTable(of!)].map((one) => tableCard(one));
  // The report has tables on subsets with intervals.
  const rest = [...(report ? [] : subsetTables(of!)), modelsTable(of!)].map((one) => tableCard(one));
  return [beside, found.some(Boolean) && note(HOW.tests), found, rest, others];
}

/** A table with its title and what its numbers are; nothing where it has no rows. */
function tableCard(data: TableData, about = ''): HTMLElement | null {
  if (data.rows.length === 0) return null;
  const save = csvButton(() => data, `${data.caption}: save as CSV`);
  const made = card(cardHead(data.caption, save), about && note(about.replace(/\.?$/, '.')), table(data));
  made.classList.add('titled');
  return made;
}

/** A figure of the study's folder. An image runs no script and loads nothing. */
const savedFigure = ({ caption, svg }: ReportFigure): HTMLElement =>
  card(
    h('p', { class: 'note' }, caption),
    h('img', { class: 'saved', alt: caption, src: `data:image/svg+xml,${encodeURIComponent(svg)}` }),
  );

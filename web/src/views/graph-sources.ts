/** Where graphs come from: the page, the paper, generators. */
import type { Graph } from '../data/graph';
import type { Session } from '../data/session';
import { fill, h, uniqueId } from '../dom';
import { choose, type Control } from '../ui/controls';
import { button, div, field } from '../ui/parts';
import type { Context } from '../view';
import type { Edits } from './graph-edits';

interface Generator {
  name: string;
  label: string;
  /** What follows the number of nodes. */
  parameter?: { label: string; initial: string };
}

const GENERATORS: Generator[] = [
  { name: 'chain', label: 'Chain' },
  { name: 'complete', label: 'Complete' },
  { name: 'window', label: 'Window', parameter: { label: 'Width', initial: '3' } },
  { name: 'powers', label: 'Powers of two' },
  { name: 'star', label: 'Star' },
  { name: 'random', label: 'Random', parameter: { label: 'Probability', initial: '0.3' } },
];

/** Nodes that a generated graph may have here. */
const MOST_NODES = 512;

export function sourceControl({ graphText, title }: Session, edits: Edits): Control<string> {
  const of = (group: string, list: [string, string][]) => list.map(([value, label]) => ({ value, label, group }));
  return choose<string>(
    'Begin with',
    [
      { value: '', label: 'A graph of your own' },
      ...of('This page', graphText ? [['data', title || 'the page’s graph']] : []),
      ...of('The paper', [
        ['1', 'Worked example 1: no head alone arrives'],
        ['2', 'Worked example 2: together more faithful'],
      ]),
      ...of('Generated', [
        ['chain:12 powers:12', 'Chain and powers of two, 12 nodes'],
        ['window:16:3 star:16', 'Window and star, 16 nodes'],
        ['random:14:0.25:1 random:14:0.25:2 random:14:0.25:3', 'Three random heads, 14 nodes'],
        ['complete:8', 'Complete, 8 nodes'],
      ]),
    ],
    (value) => {
      if (value === '') return;
      if (value === 'data') edits.take(value, { text: graphText! });
      else if (value === '1' || value === '2') edits.take(value, { example: Number(value) as 1 | 2 });
      else edits.take(value, { generators: value.split(' ') });
    },
  );
}

/** Makes a graph, or a head of the graph that is there. */
export function generatorCard({ say }: Context, edits: Edits, now: () => Graph | null): HTMLElement {
  const count = h('input', { type: 'number', id: uniqueId('nodes'), min: 1, max: MOST_NODES, value: 12 });
  const label = h('span');
  const parameter = h('input', { type: 'text', id: uniqueId('parameter'), size: 5 });
  const parameterField = field(label, parameter);
  let generator = GENERATORS[0]!;
  const choice = choose<string>(
    'Generator',
    GENERATORS.map((one) => ({ value: one.name, label: one.label })),
    (name) => set(name),
  );
  const set = (name: string) => {
    generator = GENERATORS.find((one) => one.name === name)!;
    parameterField.hidden = !generator.parameter;
    fill(label, generator.parameter?.label ?? '');
    parameter.value = generator.parameter?.initial ?? '';
  };
  set('chain');
  const source = () => ({
    generators: [[generator.name, count.value, ...(generator.parameter ? [parameter.value] : [])].join(':')],
  });
  const create = () => {
    if (count.validity.valid) edits.take('', source());
    else say(`The page makes graphs of 1 to ${MOST_NODES} nodes; “synergraph graph --generate” makes larger ones.`, 'error');
  };
  const add = () => {
    const graph = now();
    if (!graph) return;
    count.value = String(graph.nodes.length);
    edits.parse(source(), ({ heads: [head] }) =>
      edits.edit(({ nodes, heads }) => ({ nodes, heads: [...heads, { ...head!, name: uniqueName(heads, head!.name) }] })),
    );
  };
  return h(
    'section',
    { class: 'card screen-only' },
    h('h2', { class: 'small' }, 'Add a head'),
    div('controls', choice, field('Nodes', count), parameterField, button('Add to this graph', add), button('New graph', create)),
  );
}

function uniqueName(heads: Graph['heads'], name: string): string {
  let result = name;
  for (let k = 2; heads.some((head) => head.name === result); ++k) result = `${name} ${k}`;
  return result;
}

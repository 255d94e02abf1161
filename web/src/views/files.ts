import { EDGES, type AttentionFileOptions, type EdgeKind } from '../core';
import { TENSOR_ENDINGS } from '../core/documents';
import { demoFile } from '../data/demo';
import { edgesIn, listedEndings, openFile } from '../data/open';
import { fileSession } from '../data/session';
import { fill, h, uniqueId, type Child } from '../dom';
import { segments } from '../ui/controls';
import { button, card, div, field, link, note } from '../ui/parts';
import type { Context, View } from '../view';

/** The file that is measured now, so that another can take its place, and where that is said. */
let measuring: AbortController | null = null;
let listener: ((content: Child) => void) | null = null;

/** How files are read; it stays while the page is open. */
const how: { axes: string; layers: string; missing: 'error' | 'node'; moved: File | null; edges: EdgeKind } = {
  axes: '',
  layers: '',
  missing: 'error',
  moved: null,
  edges: 'attention',
};

const readingOptions = (): AttentionFileOptions => ({
  ...(how.axes ? { axes: how.axes } : {}),
  ...(how.layers ? { layers: how.layers } : {}),
  ...(how.missing === 'node' ? { missing_mass: how.missing } : {}),
  ...(how.moved ? { moved: { name: how.moved.name, bytes: how.moved } } : {}),
});

/** Opens a file. Attention is measured before it is shown, unless the reader wants to see it at once. */
export async function openInPage(context: Context, name: string, bytes: Blob, options: AttentionFileOptions = {}): Promise<void> {
  measuring?.abort();
  const abort = (measuring = new AbortController());
  const stop = () =>
    link('Stop', () => {
      abort.abort();
      listener?.(`${name} was not opened.`);
    });
  context.store.set({ view: 'files' });
  context.say('');
  listener?.([`Opening ${name}… `, stop()]);
  try {
    const core = await context.core;
    const { session, state, file } = await openFile(core, name, bytes, options, { signal: abort.signal });
    if (abort.signal.aborted) {
      file?.close();
      return;
    }
    if (!file) context.open(session, state);
    else {
      listener?.([
        `${name}: measuring every layer and sample… `,
        link('See it now', () => context.open(session, { ...state, edges: how.edges })),
        ' ',
        stop(),
      ]);
      const edges = edgesIn(options).includes(how.edges) ? how.edges : 'attention';
      const document = await file.analyze({ per_head: true, edges }, { signal: abort.signal });
      if (abort.signal.aborted) return;
      const waiting = context.store.get().view === 'files';
      const measured = fileSession(file, document, null, document.missing_mass === 'node', edgesIn(options));
      context.open(measured, waiting ? { view: 'overview', edges } : context.store.get());
      if (!waiting) context.say(`${name} is measured: the overview has its numbers.`);
    }
  } catch (error) {
    if (!abort.signal.aborted) context.say(error instanceof Error ? error.message : String(error), 'error');
  } finally {
    if (measuring === abort && !abort.signal.aborted) listener?.(null);
  }
}

/** Files from the reader's machine, and what to begin with. */
export const files: View = {
  name: 'files',
  title: 'Open',
  shows: () => true,
  mount(root, context) {
    const { analyze, heads, study, graph, attention } = context.session;
    const empty = !(analyze || heads || study || graph || attention);
    const status = h('p', { class: 'note', role: 'status' });
    listener = (content) => fill(status, content);
    fill(root, introduction(empty), div('grid', ownFiles(context, status), examples(context)));
    return {
      update() {},
      leave() {
        listener = null;
      },
    };
  },
};

const introduction = (empty: boolean) =>
  div(
    'title',
    h('h1', {}, empty ? 'How fast, and how faithfully, does attention move information to the last token?' : 'Open another file'),
    empty &&
      note(
        'A causal attention head is a weighted feedforward graph on the tokens. ',
        h('b', {}, 'Mixing time'),
        ' is the number of steps that a random walk needs to reach the last token. ',
        h('b', {}, 'Minimax fidelity'),
        ' is the weakest peak signal that any token delivers there. Several heads together can beat the best of them: that is ',
        h('b', {}, 'synergy'),
        '. This page computes all three exactly, with the core of the program.',
      ),
  );

/** A file from the reader's machine, and how it is read. */
function ownFiles(context: Context, status: HTMLElement): HTMLElement {
  const choose = () => {
    const [file] = input.files ?? [];
    input.value = '';
    if (file) void openInPage(context, file.name, file, readingOptions());
  };
  const accept = [...TENSOR_ENDINGS, '.json', '.txt', '.graph'].join(',');
  const input = h('input', { type: 'file', id: uniqueId('file'), class: 'hidden-text', accept, onchange: choose });
  const typed = (name: 'axes' | 'layers', placeholder: string, size: number) => {
    const keep = () => (how[name] = box.value.trim());
    const box = h('input', { type: 'text', id: uniqueId(name), placeholder, size, oninput: keep });
    box.value = how[name];
    return box;
  };
  const mass = segments<'error' | 'node'>(
    'Rows that sum to less than 1',
    { error: 'are an error', node: 'give the rest to a node' },
    (value) => {
      how.missing = value;
    },
  );
  mass.update(how.missing);
  return card(
    h('h2', {}, 'Your own attention'),
    note(
      `Drop a file anywhere on the page: ${listedEndings('or')} with axes (heads, n, n), (samples, heads, n, n) or (layers, samples, heads, n, n). The page also opens the JSON documents of the program, and graphs as .txt. Nothing leaves this page.`,
    ),
    div(
      'drop-zone',
      h('label', { class: 'button main-label', for: input.id }, 'Choose a file'),
      input,
      h('span', { class: 'note' }, 'or drop it here'),
      status,
    ),
    h(
      'details',
      {},
      h('summary', {}, 'How to read it'),
      div(
        'controls spaced',
        field('Axes', typed('axes', 'layer,sample,head,query,key', 30)),
        field('Tensors that match (regular expression)', typed('layers', 'all', 16)),
        mass,
      ),
      valuesInput(),
    ),
  );
}

/** What the heads move, and the edges that follow from it. */
function valuesInput(): HTMLElement {
  const edges = segments<EdgeKind>(
    'Edges',
    EDGES.map((value) => ({ value, label: value[0]!.toUpperCase() + value.slice(1) })),
    (value) => {
      how.edges = value;
    },
  );
  const chosen = () => {
    how.moved = input.files?.[0] ?? null;
    edges.element.hidden = how.moved === null;
  };
  const input = h('input', { type: 'file', id: uniqueId('values'), accept: '.npz,.safetensors', onchange: chosen });
  edges.update(how.edges);
  edges.element.hidden = true;
  how.moved = null;
  return div('controls spaced', field('What the heads move (values, out_proj, residual; or norms)', input), edges);
}

function examples(context: Context): HTMLElement {
  const example = (number: 1 | 2) => () =>
    void context.core
      .then((core) => core.graph({ example: number }))
      .then(({ text }) => context.store.set({ view: 'graph', graph: text, step: 0, head: 'all' }))
      .catch((error: Error) => context.say(error.message, 'error'));
  const demo = () => void openInPage(context, 'made-up-attention.npy', new Blob([demoFile() as BlobPart]));
  const entry = (label: string, action: () => void, about: string) =>
    h('li', {}, button(label, action), h('span', { class: 'note' }, about));
  return card(
    h('h2', {}, 'Try it'),
    h(
      'ul',
      { class: 'tries' },
      entry('Worked example 1', example(1), 'No head alone carries u to the sink; together the heads mix in 10 steps.'),
      entry('Worked example 2', example(2), 'Synergy: each head alone has fidelity 0.375 or 0.25, both together 0.417.'),
      entry('Made-up attention', demo, 'Three layers of six heads, of kinds that real models have: all views, without a file.'),
    ),
  );
}

/** Lets files be dropped anywhere. */
export function acceptDrops(context: Context): void {
  let over: HTMLElement | null = null;
  const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes('Files') ?? false;
  const end = () => {
    over?.remove();
    over = null;
  };
  addEventListener('dragover', (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    if (!over) document.body.append((over = h('div', { class: 'drop', 'aria-hidden': 'true' }, 'Drop to open')));
  });
  addEventListener('dragleave', (event) => {
    if (event.relatedTarget === null) end();
  });
  addEventListener('drop', (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    end();
    const [file, ...others] = event.dataTransfer!.files;
    if (!file) return;
    void openInPage(context, file.name, file, readingOptions());
    if (others.length > 0)
      context.say(`One file at a time: ${file.name} is opened, not ${others.map(({ name }) => name).join(', ')}.`);
  });
}

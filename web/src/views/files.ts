import type { AttentionFileOptions } from '../core';
import { demoFile } from '../data/demo';
import { openFile } from '../data/open';
import { fileSession } from '../data/session';
import { fill, h, uniqueId, type Child } from '../dom';
import { segments } from '../ui/controls';
import type { Context, View } from '../view';

/** The file that is measured now, so that another can take its place, and where that is said. */
let measuring: AbortController | null = null;
let listener: ((content: Child) => void) | null = null;

/** How files are read; it stays while the page is open. */
const how: { axes: string; layers: string; missing: 'error' | 'node' } = { axes: '', layers: '', missing: 'error' };

const readingOptions = (): AttentionFileOptions => ({
  ...(how.axes ? { axes: how.axes } : {}),
  ...(how.layers ? { layers: how.layers } : {}),
  ...(how.missing === 'node' ? { missing_mass: how.missing } : {}),
});

/** Opens a file. Attention is measured before it is shown, unless the reader wants to see it at once. */
export async function openInPage(context: Context, name: string, bytes: Blob, options: AttentionFileOptions = {}): Promise<void> {
  measuring?.abort();
  const abort = (measuring = new AbortController());
  const stop = () =>
    h(
      'button',
      {
        type: 'button',
        class: 'link',
        onclick: () => {
          abort.abort();
          listener?.(`${name} was not opened.`);
        },
      },
      'Stop',
    );
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
        h('button', { type: 'button', class: 'link', onclick: () => context.open(session, state) }, 'See it now'),
        ' ',
        stop(),
      ]);
      const document = await file.analyze({ per_head: true }, { signal: abort.signal });
      if (abort.signal.aborted) return;
      const waiting = context.store.get().view === 'files';
      context.open(fileSession(file, document, null), waiting ? { view: 'overview' } : context.store.get());
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
    const { session } = context;
    const empty = !session.analyze && !session.heads && !session.study && !session.graph && !session.attention;
    const axes = h('input', { type: 'text', id: uniqueId('axes'), placeholder: 'layer,sample,head,query,key', size: 30 });
    const layers = h('input', { type: 'text', id: uniqueId('layers'), placeholder: 'all', size: 16 });
    axes.value = how.axes;
    layers.value = how.layers;
    const mass = segments<'error' | 'node'>(
      'Rows that sum to less than 1',
      [
        { value: 'error', label: 'are an error' },
        { value: 'node', label: 'give the rest to a node' },
      ],
      (value) => {
        how.missing = value;
      },
    );
    mass.update(how.missing);
    const status = h('p', { class: 'note', role: 'status' });
    listener = (content) => fill(status, content);
    for (const [name, field] of [['axes', axes] as const, ['layers', layers] as const])
      field.addEventListener('input', () => (how[name] = field.value.trim()));
    const input = h('input', {
      type: 'file',
      id: uniqueId('file'),
      class: 'hidden-text',
      accept: '.npy,.npz,.safetensors,.json,.txt,.graph',
      onchange: () => {
        const [file] = input.files ?? [];
        input.value = '';
        if (file) void openInPage(context, file.name, file, readingOptions());
      },
    });
    const example = (number: 1 | 2) =>
      void context.core
        .then(async (core) =>
          context.store.set({ view: 'graph', graph: (await core.graph({ example: number })).text, step: 0, head: 'all' }),
        )
        .catch((error: Error) => context.say(error.message, 'error'));
    fill(
      root,
      h(
        'div',
        { class: 'title' },
        h(
          'h1',
          {},
          empty ? 'How fast, and how faithfully, does attention move information to the last token?' : 'Open another file',
        ),
        empty &&
          h(
            'p',
            { class: 'note' },
            'A causal attention head is a weighted feedforward graph on the tokens. ',
            h('b', {}, 'Mixing time'),
            ' says how many steps a random walk needs to the last one; ',
            h('b', {}, 'minimax fidelity'),
            ' is the weakest peak signal that any token delivers there. Several heads together can beat their best member: ',
            h('b', {}, 'synergy'),
            '. This page computes them exactly, with the program’s own core.',
          ),
      ),
      h(
        'div',
        { class: 'grid' },
        h(
          'section',
          { class: 'card' },
          h('h2', {}, 'Your own attention'),
          h(
            'p',
            { class: 'note' },
            'Drop a file anywhere on the page: .npy, .npz or .safetensors with (heads, n, n), (samples, heads, n, n) or (layers, samples, heads, n, n). Also the program’s JSON documents, and graphs as .txt. Nothing leaves this page.',
          ),
          h(
            'div',
            { class: 'drop-zone' },
            h('label', { class: 'button main-label', for: input.id }, 'Choose a file'),
            input,
            h('span', { class: 'note' }, 'or drop it here'),
            status,
          ),
          h(
            'details',
            {},
            h('summary', {}, 'How to read it'),
            h(
              'div',
              { class: 'controls spaced' },
              h('div', { class: 'field' }, h('label', { for: axes.id }, 'Axes'), axes),
              h('div', { class: 'field' }, h('label', { for: layers.id }, 'Tensors that match (regular expression)'), layers),
              mass.element,
            ),
          ),
        ),
        h(
          'section',
          { class: 'card' },
          h('h2', {}, 'Try it'),
          h(
            'ul',
            { class: 'tries' },
            h(
              'li',
              {},
              h('button', { type: 'button', onclick: () => example(1) }, 'Worked example 1'),
              h('span', { class: 'note' }, 'No head ever carries u to the sink; together they mix in 10 steps.'),
            ),
            h(
              'li',
              {},
              h('button', { type: 'button', onclick: () => example(2) }, 'Worked example 2'),
              h('span', { class: 'note' }, '0.375 and 0.25 alone, 0.417 together: synergy.'),
            ),
            h(
              'li',
              {},
              h(
                'button',
                {
                  type: 'button',
                  onclick: () => void openInPage(context, 'made-up-attention.npy', new Blob([demoFile() as BlobPart])),
                },
                'Made-up attention',
              ),
              h('span', { class: 'note' }, 'Three layers of six heads of kinds that models have: all views, without a file.'),
            ),
          ),
        ),
      ),
    );
    return {
      update() {},
      leave() {
        listener = null;
      },
    };
  },
};

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

/** Changes of the graph; the browser's history takes them back. */
import { Latest } from '../async';
import type { GraphSource, ParsedGraph } from '../core';
import { graphText, type Graph } from '../data/graph';
import type { State } from '../state';
import type { Context } from '../view';

export class Edits {
  /** What was taken last, by its name in the list of sources. */
  taken: { value: string; text: string };
  private count = 0;

  constructor(
    private readonly context: Context,
    private readonly now: () => Graph | null,
  ) {
    const { graphText: own, graph } = context.session;
    this.taken = { value: own ? 'data' : graph ? '' : '2', text: '' };
    addEventListener('keydown', this.key);
  }

  /** Reads a graph; errors are said. */
  parse(source: GraphSource, then: (parsed: ParsedGraph) => void): void {
    const { core, say } = this.context;
    void new Latest().run(
      async () => (await core).graph(source),
      then,
      (line) => say(line, 'error'),
    );
  }

  /** Takes a graph from somewhere; its text becomes the state. */
  take(value: string, source: GraphSource): void {
    this.parse(source, ({ text }) => {
      this.taken = { value, text };
      this.set({ graph: text, step: 0, start: 0, head: 'all' });
    });
  }

  edit(change: (graph: Graph) => Graph, also: Partial<State> = {}): void {
    const graph = this.now();
    if (graph) this.parse({ text: graphText(change(graph)) }, ({ text }) => this.set({ graph: text, ...also }));
  }

  undo(): void {
    if (this.count === 0) return this.context.say('There is nothing to undo.');
    this.count -= 1;
    history.back();
  }

  leave(): void {
    removeEventListener('keydown', this.key);
  }

  private set(patch: Partial<State>): void {
    this.count += 1;
    this.context.store.set(patch, 'edit');
  }

  private readonly key = (event: KeyboardEvent) => {
    const typing = event.target instanceof HTMLElement && event.target.matches('input, textarea, select');
    if (!(event.ctrlKey || event.metaKey) || event.shiftKey || event.key !== 'z' || typing) return;
    event.preventDefault();
    this.undo();
  };
}

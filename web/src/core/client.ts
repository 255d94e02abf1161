/** The page's side: `Core`, over two workers, one for what must be quick and one for what may take long. */

import type { HeadValue, Metrics } from './documents';
import type { EdgeKind, MeasureOptions } from './settings';
import { Lane } from './lane';
import type { Place, Resource, WorkerLike } from './protocol';
import type {
  AttentionFile,
  AttentionFileOptions,
  CallOptions,
  Core,
  CurveOptions,
  GraphSource,
  Mix,
  Mixer,
  System,
} from './types';

/** Weights as messages carry them. */
function withWeights<Options extends { weights?: ArrayLike<number> }>(options: Options): Omit<Options, 'weights'> & { weights?: number[] } {
  const { weights, ...rest } = options;
  return weights === undefined ? rest : { ...rest, weights: Array.from(weights) };
}

export class Client implements Core {
  private readonly resources = new Map<number, Resource>();
  private readonly numbers = new WeakMap<object, number>();
  /** Arrays are forgotten with the page's own. */
  private readonly forgotten = new FinalizationRegistry<number>((number) => this.drop(number));
  private next = 0;
  private readonly quick: Lane;
  private readonly slow: Lane;

  constructor(create: () => WorkerLike, module: WebAssembly.Module) {
    const shelf = { find: (number: number) => this.resources.get(number) };
    this.quick = new Lane(create, module, shelf);
    this.slow = new Lane(create, module, shelf);
  }

  version() {
    return this.quick.call('version', [], []);
  }

  measure(system: System, options: MeasureOptions & { weights?: ArrayLike<number> } = {}, call?: CallOptions) {
    const { place, needs } = this.place(system);
    return this.slow.call('measure', [place, withWeights(options)], needs, call);
  }

  curves(system: System, options: CurveOptions, call?: CallOptions) {
    const { place, needs } = this.place(system);
    return this.quick.call('curves', [place, withWeights(options)], needs, call);
  }

  matrix(system: System, head: number | { weights: ArrayLike<number> }, edges?: EdgeKind) {
    const { place, needs } = this.place(system);
    const options = { ...(typeof head === 'number' ? {} : withWeights(head)), ...(edges && { edges }) };
    return this.quick.call('matrix', [place, typeof head === 'number' ? head : -1, options], needs);
  }

  async mixer(system: System, options: MeasureOptions = {}): Promise<Mixer> {
    const { place, needs } = this.place(system);
    const number = this.keep({ kind: 'mixer', place, options });
    const used = [...needs, number];
    try {
      const { heads, nodes } = await this.quick.call('mixer', [number], used);
      return new ClientMixer(this.quick, this.slow, number, used, heads, nodes, system, () => this.drop(number));
    } catch (error) {
      this.drop(number);
      throw error;
    }
  }

  graph(source: GraphSource) {
    return this.quick.call('graph', [source], []);
  }

  graphSteps(graph: string, options: MeasureOptions & { steps: number; weights?: ArrayLike<number> }) {
    return this.quick.call('steps', [graph, withWeights(options)], []);
  }

  async inspect(name: string, bytes: Blob | Uint8Array) {
    const number = this.keepFile(name, bytes, {});
    try {
      return await this.quick.call('inspect', [number], [number]);
    } finally {
      this.drop(number);
    }
  }

  async open(name: string, bytes: Blob | Uint8Array, options: AttentionFileOptions = {}, how: CallOptions = {}): Promise<AttentionFile> {
    const number = this.keepFile(name, bytes, options);
    try {
      const layers = await this.quick.call('layers', [number], [number], how);
      const file: AttentionFile = {
        name,
        layers,
        analyze: (wanted = {}, how) => this.slow.call('analyze', [number, withWeights(wanted)], [number], how),
        close: () => this.drop(number),
      };
      this.numbers.set(file, number);
      return file;
    } catch (error) {
      this.drop(number);
      throw error;
    }
  }

  close(): void {
    this.quick.close();
    this.slow.close();
    this.resources.clear();
  }

  private keep(resource: Resource): number {
    const number = this.next++;
    this.resources.set(number, resource);
    return number;
  }

  private keepFile(name: string, bytes: Blob | Uint8Array, { moved, ...options }: AttentionFileOptions): number {
    const blob = bytes instanceof Blob ? bytes : new Blob([bytes as Uint8Array<ArrayBuffer>]);
    return this.keep({ kind: 'file', name, blob, options, moved: moved ?? null });
  }

  private drop(number: number): void {
    this.resources.delete(number);
    this.quick.drop(number);
    this.slow.drop(number);
  }

  /** A system as messages name it, and the resources that it needs. */
  private place(system: System): { place: Place; needs: number[] } {
    if ('graph' in system) return { place: { graph: system.graph }, needs: [] };
    if ('file' in system) {
      const number = this.numbers.get(system.file) ?? -1;
      return { place: { resource: number, layer: system.layer, sample: system.sample }, needs: [number] };
    }
    let number = this.numbers.get(system);
    if (number === undefined) {
      number = this.keep({ kind: 'arrays', ...system });
      this.numbers.set(system, number);
      this.forgotten.register(system, number);
    }
    return { place: { resource: number, layer: 0, sample: 0 }, needs: [number] };
  }
}

class ClientMixer implements Mixer {
  readonly headNames: readonly string[];
  readonly initialWeights: readonly number[];
  private running = false;
  /** The newest update that has not begun. */
  private waiting: { weights: number[]; resolve: (mix: Mix | null) => void; reject: (reason: unknown) => void } | null = null;

  constructor(
    private readonly quick: Lane,
    private readonly slow: Lane,
    private readonly number: number,
    private readonly needs: readonly number[],
    readonly heads: readonly (Metrics & { name: string; weight: number })[],
    readonly nodeNames: readonly string[],
    /** Keeps the arrays alive. */
    readonly system: System,
    readonly close: () => void,
  ) {
    this.headNames = heads.map((head) => head.name);
    this.initialWeights = heads.map((head) => head.weight);
  }

  update(weights: ArrayLike<number>): Promise<Mix | null> {
    return new Promise((resolve, reject) => {
      this.waiting?.resolve(null);
      this.waiting = { weights: Array.from(weights), resolve, reject };
      if (!this.running) void this.work();
    });
  }

  private async work(): Promise<void> {
    this.running = true;
    while (this.waiting !== null) {
      const { weights, resolve, reject } = this.waiting;
      this.waiting = null;
      await this.quick.call('update', [this.number, weights], this.needs).then(resolve, reject);
    }
    this.running = false;
  }

  subsets(weights: ArrayLike<number>, call?: CallOptions) {
    return this.slow.call('subsets', [this.number, Array.from(weights)], this.needs, call);
  }

  bestWeights(weights: ArrayLike<number>, value: HeadValue, call?: CallOptions) {
    return this.slow.call('bestWeights', [this.number, Array.from(weights), value], this.needs, call);
  }
}

/** The worker's side: carries calls out, and keeps what they need to be carried out again by a fresh instance. */

import { blobSource, inWorker, memorySource, type Source } from './host';
import { CoreModule, DATA_TYPES, type Pointer, type Scope } from './module';
import type { Answer, Calls, Message, Place, Resource } from './protocol';
import { CoreError, type GraphSteps, type HeadArray, type Mix, type ParsedGraph, type Subsets } from './types';
import { unpack } from './zip';

const ITEM_SIZE = { float16: 2, bfloat16: 2, float32: 4, float64: 8 } as const;
const MOST_NODES_OF_POWERS = 64;
const MANY_BYTES = 1 << 28;

/** A head with all its columns. */
function fullRows(head: HeadArray, tokens: number): Uint8Array {
  const size = ITEM_SIZE[head.dtype];
  const expected = head.rows === 'full' ? tokens * tokens * size : (tokens * (tokens + 1) * size) / 2;
  if (head.bytes.length !== expected)
    throw new CoreError(`a head of ${tokens} tokens has ${head.bytes.length} bytes, expected ${expected}`, 'usage');
  if (head.rows === 'full') return head.bytes;
  const full = new Uint8Array(tokens * tokens * size);
  for (let row = 0, from = 0; row < tokens; from += (row + 1) * size, row++)
    full.set(head.bytes.subarray(from, from + (row + 1) * size), row * tokens * size);
  return full;
}

/** Two files may have the same name. */
const movedName = ({ name, moved }: { name: string; moved: { name: string } | null }): string =>
  moved!.name === name ? `values of ${name}` : moved!.name;

interface Kept {
  resource: Resource;
  /** Of a file, in the module. */
  pointer: Pointer;
  generation: number;
}

export class Server implements Calls {
  private readonly kept = new Map<number, Kept>();
  /** Of a file and what its heads move, by the names that the module asks for. */
  private readonly sources = new Map<number, Map<string, Source>>();

  constructor(private readonly module: CoreModule) {}

  async keep(number: number, resource: Resource): Promise<void> {
    this.kept.set(number, { resource, pointer: 0, generation: -1 });
    if (resource.kind !== 'file') return;
    const sources = new Map<string, Source>();
    const add = async (name: string, blob: Blob) => {
      sources.set(name, inWorker ? blobSource(blob) : memorySource(new Uint8Array(await blob.arrayBuffer())));
      for (const [ending, source] of await unpack(name, blob)) sources.set(name + ending, source);
    };
    await add(resource.name, resource.blob);
    if (resource.moved) await add(movedName(resource), resource.moved.bytes);
    this.sources.set(number, sources);
  }

  drop(number: number): void {
    const kept = this.kept.get(number);
    if (kept === undefined) return;
    if (kept.pointer !== 0 && kept.generation === this.module.generation)
      this.module.run(() => this.module.call(kept.resource.kind === 'file' ? 'sg_attention_free' : 'sg_mixer_free', kept.pointer));
    this.kept.delete(number);
    for (const source of this.sources.get(number)?.values() ?? []) this.module.files.forget(source);
    this.sources.delete(number);
  }

  private find(number: number): Kept {
    const kept = this.kept.get(number);
    if (kept === undefined) throw new CoreError('what was closed is asked for', 'usage');
    return kept;
  }

  /** What a resource is in the module, made where it is not there any more. */
  private made(kept: Kept, make: () => Pointer): Pointer {
    if (kept.pointer === 0 || kept.generation !== this.module.generation) {
      kept.pointer = make();
      kept.generation = this.module.generation;
    }
    return kept.pointer;
  }

  private file(scope: Scope, number: number): Pointer {
    const kept = this.find(number);
    const { resource } = kept;
    if (resource.kind !== 'file') throw new CoreError('this is no file', 'usage');
    const options = { ...resource.options, moved: resource.moved ? movedName(resource) : undefined };
    return this.made(kept, () =>
      this.named(number, () => scope.make(null, 'sg_attention_open', scope.text(resource.name), scope.options(options))),
    );
  }

  /** Lets the module open the files of a resource by their names. */
  private named<Result>(number: number, body: () => Result): Result {
    for (const [name, source] of this.sources.get(number) ?? []) this.module.files.add(name, source);
    return body();
  }

  /**
   * Attention, layer and sample, as the first arguments of functions; beside them what is to be told of names. Of many large
   * heads in memory only the one that is wanted, if it is one.
   */
  private place(scope: Scope, place: Place, wanted = -1): { at: [Pointer, bigint, bigint]; names: object; head: number } {
    if ('graph' in place) return { at: [this.graphAttention(scope, place.graph), 0n, 0n], names: {}, head: wanted };
    const { resource } = this.find(place.resource);
    if (resource.kind === 'file') return { at: [this.file(scope, place.resource), BigInt(place.layer), BigInt(place.sample)], names: {}, head: wanted };
    if (resource.kind !== 'arrays') throw new CoreError('this is no attention', 'usage');
    const { tokens, headNames, tokenNames } = resource;
    const dtype = resource.heads[0]?.dtype ?? 'float64';
    if (resource.heads.some((head) => head.dtype !== dtype)) throw new CoreError('heads of several element types', 'usage');
    const size = tokens * tokens * ITEM_SIZE[dtype];
    const only = wanted >= 0 && size * resource.heads.length > MANY_BYTES;
    const heads = only ? resource.heads.slice(wanted, wanted + 1) : resource.heads;
    const data = scope.allocate(size * heads.length);
    heads.forEach((head, h) => this.module.write(data + h * size, fullRows(head, tokens)));
    const attention = scope.make('sg_attention_free', 'sg_attention_create', 0);
    const shape = scope.allocate(32);
    this.module.write(shape, new Uint8Array(BigInt64Array.of(1n, BigInt(heads.length), BigInt(tokens), BigInt(tokens)).buffer));
    this.module.check('sg_attention_add', attention, 0, data, DATA_TYPES.indexOf(dtype), shape, 0);
    return { at: [attention, 0n, 0n], names: { head_names: only ? undefined : headNames, node_names: tokenNames }, head: only ? 0 : wanted };
  }

  private graphAttention(scope: Scope, text: string): Pointer {
    return scope.make('sg_attention_free', 'sg_graph_attention', this.parsed(scope, text));
  }

  private parsed(scope: Scope, text: string, source?: string): Pointer {
    const length = new TextEncoder().encode(text).length;
    return scope.make('sg_graph_free', 'sg_graph_parse', scope.text(text), length, source === undefined ? 0 : scope.text(source));
  }

  version() {
    return this.module.run(() => ({
      version: this.module.text(this.module.call('sg_version')),
      isa: this.module.text(this.module.call('sg_isa')),
    }));
  }

  measure: Calls['measure'] = (place, options) =>
    this.module.run((scope) => {
      const { at, names } = this.place(scope, place);
      return scope.document('sg_system_measure', ...at, scope.options({ ...names, ...options }), 0);
    });

  curves: Calls['curves'] = (place, { withoutSignal = false, ...options }) =>
    this.module.run((scope) => {
      const { at, names } = this.place(scope, place);
      const result = scope.result('sg_system_curves', ...at, scope.options({ ...names, ...options, signal: !withoutSignal }), 0);
      const curves = ['survival', 'mean_survival', 'minimax_fidelity', 'signal'].map((name) => scope.array(result, name));
      const { nodes, series } = seriesOf(scope, result);
      return {
        steps: options.steps,
        nodes,
        series: series.map(({ name, part }) => {
          const [survival, meanSurvival, minimax, signal] = curves.map(part) as [Float64Array, Float64Array, Float64Array, Float64Array];
          return { name, survival, meanSurvival, minimax, signal };
        }),
      };
    });

  matrix: Calls['matrix'] = (place, wanted, options) =>
    this.module.run((scope) => {
      const { at, names, head } = this.place(scope, place, wanted);
      const result = scope.result('sg_system_matrix', ...at, BigInt(head), scope.options({ ...names, ...options }), 0);
      const values = scope.array(result, 'diffusion')!;
      return { nodes: Math.round(Math.sqrt(values.length)), values };
    });

  graph: Calls['graph'] = (source) =>
    this.module.run((scope) => {
      const graph =
        'text' in source
          ? this.parsed(scope, source.text, source.source)
          : 'example' in source
            ? scope.make('sg_graph_free', 'sg_graph_example', source.example)
            : scope.make('sg_graph_free', 'sg_graph_create');
      if ('generators' in source)
        for (const generator of source.generators)
          this.module.check('sg_graph_add_generated', graph, 0, 1, scope.text(generator), source.selfLoops === false ? 0 : 1);
      return { text: scope.made('sg_graph_text', graph), ...scope.json<Omit<ParsedGraph, 'text'>>('sg_graph_json', graph) };
    });

  steps: Calls['steps'] = (graph, options) =>
    this.module.run((scope): GraphSteps => {
      const { at } = this.place(scope, { graph });
      // Names and sizes are known from the matrices of one step.
      const { nodes } = seriesOf(scope, scope.result('sg_system_steps', ...at, scope.options({}), 0));
      const powers = nodes <= MOST_NODES_OF_POWERS;
      const result = scope.result('sg_system_steps', ...at, scope.options({ ...options, powers }), 0);
      const [walk, walkers, diffusion, reached] = ['walk', 'walkers', 'diffusion', 'reached'].map((name) => scope.array(result, name));
      const series = seriesOf(scope, result).series.map(({ name, part }) => ({
        name,
        walk: part(walk!),
        walkers: walkers === undefined || walkers === null ? null : part(walkers),
        diffusion: part(diffusion!),
        reached: reached === undefined || reached === null ? null : part(reached),
      }));
      return { steps: options.steps, nodes, series };
    });

  inspect: Calls['inspect'] = (number) =>
    this.module.run((scope) => {
      const { resource } = this.find(number);
      if (resource.kind !== 'file') throw new CoreError('this is no file', 'usage');
      return this.named(number, () => scope.json('sg_inspect', scope.text(resource.name)));
    });

  layers: Calls['layers'] = (file) => this.module.run((scope) => scope.json('sg_attention_json', this.file(scope, file)));

  analyze: Calls['analyze'] = (file, { weights, ...options }) =>
    this.module.run((scope) => {
      const attention = this.file(scope, file);
      if (weights) this.module.check('sg_attention_set_weights', attention, scope.doubles(weights), weights.length);
      return scope.document('sg_measure', attention, scope.options(options), 0);
    });

  private mixerPointer(scope: Scope, number: number): Pointer {
    const kept = this.find(number);
    const { resource } = kept;
    if (resource.kind !== 'mixer') throw new CoreError('this is no mixer', 'usage');
    return this.made(kept, () => {
      const { at, names } = this.place(scope, resource.place);
      return scope.make(null, 'sg_mixer_create', ...at, scope.options({ ...names, ...resource.options }), 0);
    });
  }

  mixer: Calls['mixer'] = (number) => this.module.run((scope) => scope.document('sg_mixer_measure', this.mixerPointer(scope, number), 0, 0, 0));

  update: Calls['update'] = (number, weights) =>
    this.module.run((scope): Mix => {
      const mixer = this.mixerPointer(scope, number);
      return scope.json('sg_mixer_update', mixer, scope.doubles(weights), weights.length, 0);
    });

  subsets: Calls['subsets'] = (number, weights) =>
    this.module.run((scope): Subsets => {
      const mixer = this.mixerPointer(scope, number);
      const subsets = scope.json<Subsets>('sg_mixer_subsets', mixer, scope.doubles(weights), weights.length, 0);
      return { ...subsets, values: subsets.values.map((value) => ({ ...value, table: Float64Array.from(value.table) })) };
    });

  bestWeights: Calls['bestWeights'] = (number, weights, value) =>
    this.module.run((scope) => {
      const mixer = this.mixerPointer(scope, number);
      return scope.json('sg_mixer_best_weights', mixer, scope.doubles(weights), weights.length, scope.text(value), 0);
    });
}

/** The heads and, of several, all together; `part` takes what belongs to each of an array that has them as its first axis. */
function seriesOf(scope: Scope, result: Pointer) {
  const { heads, nodes } = scope.json<{ heads: string[]; nodes: string[] }>('sg_result_json', result);
  const names = heads.length === 1 ? heads : [...heads, 'combined'];
  const series = names.map((name, h) => ({
    name,
    part: (numbers: Float64Array | null): Float64Array => {
      const size = (numbers?.length ?? 0) / (heads.length + 1);
      return numbers?.slice(h * size, (h + 1) * size) ?? new Float64Array();
    },
  }));
  return { nodes: nodes.length, series };
}

/** Answers messages, one after the other. */
export function serve(answer: (answer: Answer, transfer: Transferable[]) => void): (message: Message) => void {
  let server: Server | null = null;
  let last: Promise<void> = Promise.resolve();
  const handle = async (message: Message): Promise<void> => {
    if ('module' in message) server = new Server(new CoreModule(message.module));
    else if (server === null) throw new Error('no module yet');
    else if ('keep' in message) await server.keep(message.keep, message.resource);
    else if ('drop' in message) server.drop(message.drop);
    else {
      try {
        const value = (server[message.call] as (...args: unknown[]) => unknown)(...message.args);
        answer({ id: message.id, value }, buffersIn(value));
      } catch (error) {
        const failure = error instanceof CoreError ? error : new CoreError(String(error), 'internal');
        answer({ id: message.id, message: failure.message, kind: failure.kind }, []);
      }
    }
  };
  return (message) => {
    last = last.then(() => handle(message));
  };
}

/** The memory of arrays, which is handed over rather than copied. */
function buffersIn(value: unknown): Transferable[] {
  if (value instanceof Float64Array) return [value.buffer as ArrayBuffer];
  if (typeof value !== 'object' || value === null) return [];
  if ('series' in value && Array.isArray(value.series)) return value.series.flatMap((series) => Object.values(series as object).flatMap(buffersIn));
  return 'values' in value ? buffersIn(value.values) : [];
}

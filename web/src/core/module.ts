/** The WebAssembly module: memory, texts and errors of its functions (capi/synergraph.h). */

import { CoreError, type DataType } from './types';
import { Files, imports } from './host';

/** A place in the module's memory; 0: nothing. */
export type Pointer = number;

type Exports = Record<string, (...args: (number | bigint)[]) => number> & { memory: WebAssembly.Memory };

const STATUS: readonly ('input' | 'usage' | 'memory' | 'internal')[] = ['internal', 'input', 'usage', 'internal', 'memory', 'internal'];

export const DATA_TYPES: readonly DataType[] = ['float16', 'bfloat16', 'float32', 'float64'];

export class CoreModule {
  readonly files = new Files();
  /** Grows when the instance is replaced: pointers of an older one are void. */
  generation = 0;
  private instance: Exports | null = null;

  constructor(private readonly module: WebAssembly.Module) {}

  private get exports(): Exports {
    if (this.instance === null) {
      const made = new WebAssembly.Instance(this.module, imports(this.module, this.files, () => made.exports['memory'] as WebAssembly.Memory));
      this.instance = made.exports as Exports;
      this.instance['_initialize']?.();
    }
    return this.instance;
  }

  private get bytes(): Uint8Array {
    return new Uint8Array(this.exports.memory.buffer);
  }

  /**
   * Runs functions of the module. What they allocated through `Scope` is freed afterwards. Whatever goes wrong is a
   * CoreError; then the instance is given up, for exceptions clean nothing up in it, and the next run has a fresh one.
   */
  run<Result>(body: (scope: Scope) => Result): Result {
    const scope = new Scope(this);
    try {
      const result = body(scope);
      scope.free();
      return result;
    } catch (error) {
      this.instance = null;
      this.generation += 1;
      if (error instanceof CoreError) throw error;
      if (error instanceof RangeError) throw new CoreError('out of memory', 'memory');
      throw new CoreError(`the core failed: ${error instanceof Error ? error.message : String(error)}`, 'internal');
    }
  }

  call(name: string, ...args: (number | bigint)[]): number {
    return this.exports[name]!(...args) >>> 0;
  }

  /** Calls a function that returns a status. */
  check(name: string, ...args: (number | bigint)[]): void {
    const status = this.call(name, ...args);
    if (status !== 0) throw new CoreError(this.text(this.call('sg_error')), STATUS[status] ?? 'internal');
  }

  /** The text at a place. */
  text(at: Pointer): string {
    const bytes = this.bytes;
    return new TextDecoder().decode(bytes.subarray(at, bytes.indexOf(0, at)));
  }

  allocate(size: number): Pointer {
    const at = this.call('malloc', Math.max(size, 1));
    if (at === 0) throw new CoreError('out of memory', 'memory');
    return at;
  }

  write(at: Pointer, bytes: Uint8Array): void {
    this.bytes.set(bytes, at);
  }

  pointer(at: Pointer): Pointer {
    return new DataView(this.exports.memory.buffer).getUint32(at, true);
  }

  numbers(at: Pointer, count: number): Float64Array {
    return new Float64Array(this.exports.memory.buffer.slice(at, at + 8 * count));
  }
}

/** What one run allocates. */
export class Scope {
  private readonly pointers: Pointer[] = [];
  private readonly releases: (() => void)[] = [];

  constructor(readonly module: CoreModule) {}

  allocate(size: number): Pointer {
    const at = this.module.allocate(size);
    this.pointers.push(at);
    return at;
  }

  /** A text for the module. */
  text(text: string): Pointer {
    const bytes = new TextEncoder().encode(text.replaceAll('\0', '\u{FFFD}'));
    const at = this.allocate(bytes.length + 1);
    this.module.write(at, bytes);
    this.module.write(at + bytes.length, new Uint8Array(1));
    return at;
  }

  /** Options, without those that are not given. */
  options(options: object): Pointer {
    return this.text(JSON.stringify(options));
  }

  doubles(numbers: ArrayLike<number>): Pointer {
    const values = Float64Array.from(numbers);
    const at = this.allocate(values.byteLength);
    this.module.write(at, new Uint8Array(values.buffer));
    return at;
  }

  /** Calls a function whose last argument is a place for what it makes, which `release` frees afterwards. */
  make(release: string | null, name: string, ...args: (number | bigint)[]): Pointer {
    const place = this.allocate(4);
    this.module.check(name, ...args, place);
    const made = this.module.pointer(place);
    if (release !== null) this.releases.push(() => this.module.call(release, made));
    return made;
  }

  /** Calls a function that makes a JSON document. */
  json<Document>(name: string, ...args: (number | bigint)[]): Document {
    return JSON.parse(this.module.text(this.make('sg_free', name, ...args))) as Document;
  }

  /** Calls a function that makes a text. */
  made(name: string, ...args: (number | bigint)[]): string {
    return this.module.text(this.make('sg_free', name, ...args));
  }

  /** Calls a function that makes a result. */
  result(name: string, ...args: (number | bigint)[]): Pointer {
    return this.make('sg_result_free', name, ...args);
  }

  /** The document of a result that a function makes. */
  document<Document>(name: string, ...args: (number | bigint)[]): Document {
    return this.json('sg_result_json', this.result(name, ...args));
  }

  /** A copy of an array of a result, if it is there: an sg_array, {name, axes, dtype, rank, shape, data}. */
  array(result: Pointer, name: string): Float64Array | null {
    const array = this.module.call('sg_result_find', result, this.text(name));
    if (array === 0) return null;
    const [rank, shape, data] = [12, 16, 20].map((offset) => this.module.pointer(array + offset)) as [number, number, number];
    const count = Array.from({ length: rank }, (_, axis) => this.module.pointer(shape + 8 * axis)).reduce((a, b) => a * b, 1);
    return this.module.numbers(data, count);
  }

  free(): void {
    for (const release of this.releases.reverse()) release();
    for (const at of this.pointers.reverse()) this.module.call('free', at);
  }
}

/** What the module asks of the page: web/core/runtime/host.h, and the little of WASI that its C library calls. */

/** Bytes that are read when they are wanted. */
export interface Source {
  readonly size: number;
  read(offset: number, into: Uint8Array): void;
}

export function memorySource(bytes: Uint8Array): Source {
  return { size: bytes.length, read: (offset, into) => into.set(bytes.subarray(offset, offset + into.length)) };
}

/** Of workers; the types of the page do not have it. */
declare class FileReaderSync {
  readAsArrayBuffer(blob: Blob): ArrayBuffer;
}

export const inWorker = typeof FileReaderSync !== 'undefined';

/** A file that is read piece by piece; in workers only. */
export function blobSource(blob: Blob): Source {
  const AHEAD = 1 << 20;
  const reader = new FileReaderSync();
  const slice = (from: number, to: number) => new Uint8Array(reader.readAsArrayBuffer(blob.slice(from, to)));
  let start = 0;
  let piece = new Uint8Array();
  return {
    size: blob.size,
    read(offset, into) {
      const end = offset + into.length;
      if (into.length > AHEAD) {
        into.set(slice(offset, end));
        return;
      }
      if (offset < start || end > start + piece.length) {
        start = offset;
        piece = slice(offset, Math.min(blob.size, offset + AHEAD));
      }
      into.set(piece.subarray(offset - start, end - start));
    },
  };
}

/** Files by their names; files of the same name are open side by side, the newest is the one that is opened. */
export class Files {
  private readonly list: (Source | null)[] = [];
  private readonly names = new Map<string, number>();

  add(name: string, source: Source): void {
    const known = this.list.indexOf(source);
    this.names.set(name, known >= 0 ? known : this.list.push(source) - 1);
  }
  forget(source: Source): void {
    const number = this.list.indexOf(source);
    if (number >= 0) this.list[number] = null;
  }
  find(name: string): number {
    const number = this.names.get(name) ?? -1;
    return this.list[number] ? number : -1;
  }
  source(number: number): Source {
    const source = this.list[number];
    if (!source) throw new Error('a file that was closed');
    return source;
  }
}

const NOT_SUPPORTED = 52;

export function imports(module: WebAssembly.Module, files: Files, memory: () => WebAssembly.Memory): WebAssembly.Imports {
  const bytes = (at: number, length: number) => new Uint8Array(memory().buffer, at >>> 0, length >>> 0);
  const text = (at: number, length: number) => new TextDecoder().decode(bytes(at, length));
  const host = {
    number: (at: number, length: number) => Number(text(at, length)),
    search(at: number, length: number, name: number, nameLength: number): number {
      try {
        const expression = new RegExp(text(at, length));
        return name === 0 || expression.test(text(name, nameLength)) ? 1 : 0;
      } catch {
        return 0;
      }
    },
    open: (at: number, length: number) => files.find(text(at, length)),
    size: (file: number) => files.source(file).size,
    read(file: number, offset: number, into: number, count: number): number {
      try {
        files.source(file).read(offset, bytes(into, count));
        return 0;
      } catch {
        return 1;
      }
    },
  };
  const wasi: Record<string, (...args: number[]) => number> = {
    environ_sizes_get(count = 0, size = 0) {
      bytes(count, 4).fill(0);
      bytes(size, 4).fill(0);
      return 0;
    },
    environ_get: () => 0,
    clock_time_get(_clock = 0, _low = 0, at = 0) {
      new DataView(memory().buffer).setBigUint64(at >>> 0, BigInt(Math.round(performance.now() * 1e6)), true);
      return 0;
    },
    proc_exit() {
      throw new Error('the core ended');
    },
  };
  for (const wanted of WebAssembly.Module.imports(module))
    if (wanted.module === 'wasi_snapshot_preview1') wasi[wanted.name] ??= () => NOT_SUPPORTED;
  return { host, wasi_snapshot_preview1: wasi };
}

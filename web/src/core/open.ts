import { Client } from './client';
import { createWorker, embeddedModule } from './embedded';
import type { WorkerLike } from './protocol';
import type { Core } from './types';

export interface OpenOptions {
  /** The module; unless given, the one that the page carries. */
  wasm?: BufferSource | WebAssembly.Module;
  /** Makes a worker that runs worker.ts; unless given, the page's own. */
  createWorker?: () => WorkerLike;
}

/** Starts the core. */
export async function openCore(options: OpenOptions = {}): Promise<Core> {
  const wasm = options.wasm ?? (await embeddedModule());
  const module = wasm instanceof WebAssembly.Module ? wasm : await WebAssembly.compile(wasm);
  return new Client(options.createWorker ?? createWorker, module);
}

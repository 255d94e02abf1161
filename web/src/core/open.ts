import type { Core } from './types';

export interface OpenOptions {
  /** The module; unless given, the one that the page carries. */
  wasm?: BufferSource | WebAssembly.Module;
  /** Makes a worker that runs worker.ts; unless given, the page's own. */
  createWorker?: () => Worker;
}

/** Starts the core. */
export function openCore(_options: OpenOptions = {}): Promise<Core> {
  return Promise.reject(new Error('the core is not built yet'));
}

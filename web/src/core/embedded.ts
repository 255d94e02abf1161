/** What the page carries: the module, compressed, as text, and the worker's script. */

import { length, text } from '../../core/synergraph.wasm?gzip-text';
import { decode91 } from './base91';
import CoreWorker from './worker?worker&inline';

export async function embeddedModule(): Promise<WebAssembly.Module> {
  const stream = new Blob([decode91(text, length)]).stream().pipeThrough(new DecompressionStream('gzip'));
  return WebAssembly.compile(await new Response(stream).arrayBuffer());
}

export const createWorker = (): Worker => new CoreWorker();

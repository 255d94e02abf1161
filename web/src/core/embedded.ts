/** What the page carries: the module, compressed, as text, and the worker's script. */

import compressed from '../../core/synergraph.wasm?gzip-base64';
import CoreWorker from './worker?worker&inline';

export async function embeddedModule(): Promise<WebAssembly.Module> {
  const bytes = Uint8Array.from(atob(compressed), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return WebAssembly.compile(await new Response(stream).arrayBuffer());
}

export const createWorker = (): Worker => new CoreWorker();

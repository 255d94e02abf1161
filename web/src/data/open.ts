/** Files that a reader opens: attention, documents of the program, graphs. */
import type { AttentionFile, AttentionFileOptions, CallOptions, Core, SystemDocument } from '../core';
import type { Analyze, Heads, Study } from './documents';
import { checked } from './check';
import { SCHEMAS } from './schemas';
import { emptySession, fileSession, type Session } from './session';
import type { State } from '../state';

export interface Opened {
  session: Session;
  state: Partial<State>;
  /** Attention that is not measured yet. */
  file?: AttentionFile;
}

/** A document of the program, by its schema. */
export function documentSession(name: string, text: string): Opened {
  let document: { schema?: unknown; program?: unknown } | null;
  try {
    document = JSON.parse(text) as typeof document;
  } catch {
    throw new Error(`${name}: not JSON`);
  }
  const schema = typeof document?.schema === 'string' ? document.schema : '';
  const base = { ...emptySession(), title: name, program: typeof document?.program === 'string' ? document.program : '' };
  const of = <T>() => checked<T>(name, document, SCHEMAS[schema]!);
  switch (schema) {
    case 'synergraph.analyze':
      return { session: { ...base, analyze: of<Analyze>() }, state: { view: 'overview' } };
    case 'synergraph.heads':
      return { session: { ...base, heads: of<Heads>() }, state: { view: 'overview' } };
    case 'synergraph.reproduce':
      return { session: { ...base, study: of<Study>() }, state: { view: 'study' } };
    case 'synergraph.graph':
      return { session: { ...base, graph: of<SystemDocument>() }, state: { view: 'graph', graph: '' } };
    default:
      throw new Error(
        `${name}: no document of synergraph ${schema ? `that this page shows ('${schema.slice(0, 60)}')` : '(it has no schema)'}`,
      );
  }
}

/** Opens a file by its name: .json, .txt (a graph), or attention in any format that the core reads. */
export async function openFile(
  core: Core,
  name: string,
  bytes: Blob,
  options: AttentionFileOptions,
  call: CallOptions = {},
): Promise<Opened> {
  if (/\.json$/i.test(name)) return documentSession(name, await bytes.text());
  if (/\.(txt|graph)$/i.test(name)) {
    const graph = await core.graph({ text: await bytes.text(), source: name });
    return { session: { ...emptySession(), title: name, graphText: graph.text }, state: { view: 'graph', graph: graph.text } };
  }
  if (/\.(pt|pth)$/i.test(name))
    throw new Error(
      `${name}: a PyTorch file; this page reads .npy, .npz and .safetensors with attention, the program also checkpoints (synergraph analyze ${name} --page page.html)`,
    );
  const file = await core.open(name, bytes, options, call);
  return { session: fileSession(file, null, null, options.missing_mass === 'node'), state: { view: 'layer' }, file };
}

/** Files that a reader opens: attention, documents of the program, graphs. */
import { EDGES, type AttentionFile, type AttentionFileOptions, type CallOptions, type Core, type EdgeKind } from '../core';
import { TENSOR_ENDINGS } from '../core/documents';
import { documentOf } from './page';
import { emptySession, fileSession, startView, type Session } from './session';
import type { State } from '../state';

export interface Opened {
  session: Session;
  state: Partial<State>;
  /** Attention that is not measured yet. */
  file?: AttentionFile;
}

/** A document of the program, by its schema. */
export function documentSession(name: string, text: string): Opened {
  let document: { program?: unknown } | null;
  try {
    document = JSON.parse(text) as typeof document;
  } catch {
    throw new Error(`${name}: not JSON`);
  }
  const documents = documentOf(name, document);
  const session = {
    ...emptySession(),
    ...documents,
    title: name,
    program: typeof document?.program === 'string' ? document.program : '',
  };
  return { session, state: { view: startView(session), ...(documents.graph ? { graph: '' } : {}) } };
}

/** The endings in words: ".npy, .npz or .safetensors". */
export function listedEndings(joined: 'and' | 'or'): string {
  return `${TENSOR_ENDINGS.slice(0, -1).join(', ')} ${joined} ${TENSOR_ENDINGS.at(-1)}`;
}

/** The edges that attention has: values make it more than one. A node for missing mass moves nothing, and would come and go with them. */
export const edgesIn = ({ moved, missing_mass: missing }: AttentionFileOptions): readonly EdgeKind[] =>
  moved && missing !== 'node' ? EDGES : [];

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
      `${name}: a PyTorch file; this page reads ${listedEndings('and')} with attention, the program also checkpoints (synergraph analyze ${name} --page page.html)`,
    );
  const file = await core.open(name, bytes, options, call);
  return {
    session: fileSession(file, null, null, options.missing_mass === 'node', edgesIn(options)),
    state: { view: 'layer' },
    file,
  };
}

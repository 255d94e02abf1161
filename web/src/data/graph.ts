/** Graphs that are drawn: changes to what was read, and the text format (docs/formats.md, "Graphs"). */
import type { ParsedGraph } from '../core';

type Head = ParsedGraph['heads'][number];
export type Graph = Pick<ParsedGraph, 'nodes' | 'heads'>;

const KEYWORDS = new Set(['head', 'nodes', 'weight', 'matrix', 'self-loops', '->', ':']);

/** A name in the text format. */
export function quoted(name: string): string {
  if (/^[^\s"#\\\p{Cc}]+$/u.test(name) && !KEYWORDS.has(name)) return name;
  const escapes: Record<string, string> = { '"': '\\"', '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };
  return `"${name.replace(/["\\\n\r\t]/g, (c) => escapes[c]!).replace(/\p{Cc}/gu, (c) => [...new TextEncoder().encode(c)].map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join(''))}"`;
}

function headText(head: Head, nodes: readonly string[], loops: boolean): string {
  const title = `head ${quoted(head.name)} weight ${head.weight}`;
  if (head.kind === 'matrix') {
    const rows = nodes.map(() => new Array<number>(nodes.length).fill(0));
    for (const { from, to, weight } of head.edges) rows[to]![from] = weight;
    return [`${title} matrix`, ...rows.map((row) => `  ${row.join(' ')}`)].join('\n');
  }
  const edges = head.edges.filter(({ from, to }) => !loops || from !== to);
  return [
    title,
    ...edges.map(
      ({ from, to, weight }) => `  ${quoted(nodes[from]!)} -> ${quoted(nodes[to]!)}${weight === 1 ? '' : ` : ${weight}`}`,
    ),
  ].join('\n');
}

/** The text of a graph. Self-loops are left to the default where every head has just those. */
export function graphText({ nodes, heads }: Graph): string {
  const usual = heads.every(
    (head) =>
      head.kind === 'matrix' ||
      nodes.every((_, i) => head.edges.some(({ from, to, weight }) => from === i && to === i && weight === 1)),
  );
  // A lone number would be read as how many nodes there are.
  const list = nodes.every((name, i) => name === String(i))
    ? String(nodes.length)
    : nodes.map((name) => (/^\d+$/.test(name) && nodes.length === 1 ? `"${name}"` : quoted(name))).join(' ');
  return (
    [`nodes ${list}`, ...(usual ? [] : ['self-loops off']), ...heads.map((head) => headText(head, nodes, usual))].join('\n') +
    '\n'
  );
}

const changed = (graph: Graph, head: number, edges: Head['edges']): Graph => ({
  nodes: graph.nodes,
  heads: graph.heads.map((one, h) => (h === head ? { ...one, edges } : one)),
});

/** Adds an edge, or removes it where it is; it goes forward, whichever end comes first. */
export function toggleEdge(graph: Graph, head: number, a: number, b: number): Graph {
  const [from, to] = [Math.min(a, b), Math.max(a, b)];
  const { edges } = graph.heads[head]!;
  const rest = edges.filter((edge) => edge.from !== from || edge.to !== to);
  const sorted = [...rest, ...(rest.length < edges.length ? [] : [{ from, to, weight: 1 }])].sort(
    (x, y) => x.from - y.from || x.to - y.to,
  );
  return changed(graph, head, sorted);
}

/** A new node just before the sink, with a self-loop in every head. */
export function addNode({ nodes, heads }: Graph): Graph {
  const at = nodes.length - 1;
  const numbered = nodes.every((name, i) => name === String(i));
  let name = 'a';
  for (let k = 0; nodes.includes(name); ++k) name = k < 26 ? String.fromCharCode(97 + k) : `n${k}`;
  const shift = (i: number) => (i >= at ? i + 1 : i);
  return {
    nodes: numbered ? [...nodes, String(nodes.length)] : [...nodes.slice(0, at), name, ...nodes.slice(at)],
    heads: heads.map((head) => ({
      ...head,
      edges: [
        ...head.edges.map(({ from, to, weight }) => ({ from: shift(from), to: shift(to), weight })),
        { from: at, to: at, weight: 1 },
      ].sort((x, y) => x.from - y.from || x.to - y.to),
    })),
  };
}

/** The graph without a node and its edges. */
export function removeNode({ nodes, heads }: Graph, node: number): Graph {
  const shift = (i: number) => (i > node ? i - 1 : i);
  const numbered = nodes.every((name, i) => name === String(i));
  const left = nodes.filter((_, i) => i !== node);
  return {
    nodes: numbered ? left.map((_, i) => String(i)) : left,
    heads: heads.map((head) => ({
      ...head,
      edges: head.edges
        .filter(({ from, to }) => from !== node && to !== node)
        .map(({ from, to, weight }) => ({ from: shift(from), to: shift(to), weight })),
    })),
  };
}

/** One more head, of self-loops. */
export function addHead({ nodes, heads }: Graph): Graph {
  let k = heads.length + 1;
  while (heads.some((head) => head.name === `head ${k}`)) ++k;
  return {
    nodes,
    heads: [
      ...heads,
      {
        name: `head ${k}`,
        weight: heads.at(-1)?.weight ?? 1,
        kind: 'graph',
        edges: nodes.map((_, i) => ({ from: i, to: i, weight: 1 })),
      },
    ],
  };
}

export const removeHead = ({ nodes, heads }: Graph, head: number): Graph => ({
  nodes,
  heads: heads.filter((_, h) => h !== head),
});

/** A vector after 0 to `steps` steps. `matrix[i * n + k]`: what i takes of k, or where a walker at i goes. */
export function course(
  matrix: Float64Array,
  n: number,
  start: number,
  steps: number,
  kind: 'walk' | 'diffusion',
): Float64Array[] {
  const all: Float64Array[] = [Float64Array.from({ length: n }, (_, i) => (i === start ? 1 : 0))];
  for (let t = 0; t < steps; ++t) {
    const now = all[t]!;
    const next = new Float64Array(n);
    for (let i = 0; i < n; ++i)
      for (let k = 0; k < n; ++k) {
        if (kind === 'walk') next[k]! += now[i]! * matrix[i * n + k]!;
        else next[i]! += matrix[i * n + k]! * now[k]!;
      }
    all.push(next);
  }
  return all;
}

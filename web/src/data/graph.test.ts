import { describe, expect, it } from 'vitest';
import { addHead, addNode, course, graphText, quoted, removeNode, toggleEdge, type Graph } from './graph';

const loops = (n: number) => Array.from({ length: n }, (_, i) => ({ from: i, to: i, weight: 1 }));
const graph: Graph = {
  nodes: ['u', 'v', 'tau'],
  heads: [
    {
      name: 'Head 1',
      weight: 0.5,
      kind: 'graph',
      edges: [...loops(3), { from: 0, to: 1, weight: 1 }, { from: 1, to: 2, weight: 2.5 }],
    },
  ],
};

describe('graphText', () => {
  it('writes the format', () =>
    expect(graphText(graph)).toBe('nodes u v tau\nhead "Head 1" weight 0.5\n  u -> v\n  v -> tau : 2.5\n'));
  it('says where self-loops are missing', () => {
    const without = { ...graph, heads: [{ ...graph.heads[0]!, edges: graph.heads[0]!.edges.slice(1) }] };
    expect(graphText(without)).toContain('self-loops off\n');
    expect(graphText(without)).toContain('  v -> v\n');
  });
  it('writes matrices', () =>
    expect(
      graphText({
        nodes: ['0', '1'],
        heads: [
          {
            name: 'm',
            weight: 1,
            kind: 'matrix',
            edges: [
              { from: 0, to: 0, weight: 1 },
              { from: 0, to: 1, weight: 0.25 },
              { from: 1, to: 1, weight: 0.75 },
            ],
          },
        ],
      }),
    ).toBe('nodes 2\nhead m weight 1 matrix\n  1 0\n  0.25 0.75\n'));
  it('quotes what would mean something', () => {
    expect(quoted('head')).toBe('"head"');
    expect(quoted('a "b" # \\ \n\u0001')).toBe('"a \\"b\\" # \\\\ \\n\\x01"');
    expect(quoted('<script>')).toBe('<script>');
  });
});

describe('changes', () => {
  it('toggle edges forward', () => {
    const more = toggleEdge(graph, 0, 2, 0);
    expect(more.heads[0]!.edges).toContainEqual({ from: 0, to: 2, weight: 1 });
    expect(toggleEdge(more, 0, 0, 2)).toEqual({
      ...graph,
      heads: [{ ...graph.heads[0]!, edges: [...graph.heads[0]!.edges].sort((a, b) => a.from - b.from || a.to - b.to) }],
    });
  });
  it('keep the sink last', () => {
    const more = addNode(graph);
    expect(more.nodes).toEqual(['u', 'v', 'a', 'tau']);
    expect(more.heads[0]!.edges).toContainEqual({ from: 1, to: 3, weight: 2.5 });
    expect(removeNode(more, 2).nodes).toEqual(graph.nodes);
    expect(addHead(graph).heads[1]!.edges).toHaveLength(3);
  });
});

it('follows walks and signals', () => {
  const matrix = Float64Array.of(0.5, 0.5, 0, 1);
  expect([...course(matrix, 2, 0, 2, 'walk')[2]!]).toEqual([0.25, 0.75]);
  expect([...course(matrix, 2, 1, 2, 'diffusion')[2]!]).toEqual([0.75, 1]);
});

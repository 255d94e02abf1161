#include "synergraph/graph/layered_design.h"

#include <algorithm>
#include <numeric>

namespace synergraph {
namespace {

/// Calls edge(head, from, to) for all edges but self-loops.
template <class Visit>
void each_edge(const LayeredShape& shape, int heads, const Visit& edge) {
  const int sink = shape.nodes() - 1;
  const int collector = sink - shape.collectors;
  const auto layers = static_cast<int>(shape.sizes.size());
  int begin = 0;
  for (int k = 0; k < layers; ++k) {
    const int size = shape.sizes[static_cast<std::size_t>(k)];
    const int next = begin + size;
    const bool last = k + 1 == layers;
    const int hearers = last ? 0 : shape.sizes[static_cast<std::size_t>(k) + 1];
    const int movers = last ? 0 : shape.movers[static_cast<std::size_t>(k) + 1];
    const int degree = std::min(shape.indegree, size);
    std::int64_t dealt = 0;  // in turn, over all heads: all nodes are heard equally often, to one
    for (int move = 0; move < movers; ++move)
      for (int p = 0; p < hearers; ++p)
        for (int q = 0; q < degree; ++q)
          edge((k + move) % heads, begin + static_cast<int>(dealt++ % size), next + p);
    for (int h = 0; h < heads; ++h)
      for (int p = begin; p < next; ++p) {
        if (last) edge(h, p, sink);
        if (k >= shape.linked_layers || h >= shape.linked_heads || shape.collectors == 0) continue;
        for (int q = 0; q < std::min(shape.links, shape.collectors); ++q)
          edge(h, p, collector + (p + q) % shape.collectors);
      }
    begin = next;
  }
  for (int h = 0; h < heads; ++h)
    for (int c = collector; c < sink; ++c) edge(h, c, sink);
}

}  // namespace

int LayeredShape::nodes() const {
  return std::accumulate(sizes.begin(), sizes.end(), 0) + collectors + 1;
}

std::int64_t count_edges(const LayeredShape& shape, int heads) {
  std::int64_t count = std::int64_t{shape.nodes()} * heads;
  each_edge(shape, heads, [&](int, int, int) { ++count; });
  return count;
}

DesignEdges layered_edges(const LayeredShape& shape, int heads) {
  DesignEdges edges(shape.nodes(), heads);
  each_edge(shape, heads, [&](int h, int from, int to) { edges.add(h, from, to); });
  return edges;
}

}  // namespace synergraph

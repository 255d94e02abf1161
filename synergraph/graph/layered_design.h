#pragma once

#include <vector>

#include "synergraph/graph/design_edges.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// Heads made of layers and collectors. The signal runs back through the layers as one wave, which
/// makes every node of a layer of m nodes loud once, at about 1/m. Walks leave the layers for a
/// collector, and reach the sink from there. Nodes that hear others in few heads are slow: a wave
/// that has spread over many steps gathers in them and is loud again.
struct LayeredShape {
  std::vector<int> sizes;   ///< nodes of each layer; the first has node 0, the sink hears the last
  std::vector<int> movers;  ///< of each layer, the number of heads that hear the layer before
  int indegree = 1;         ///< most nodes of the layer before that a node of a head hears
  int collectors = 0;       ///< nodes before the sink, which hears them all
  int links = 0;            ///< collectors that a node has an edge to
  int linked_layers = 0;    ///< the first layers, whose nodes have edges to collectors
  int linked_heads = 0;     ///< the first heads, in which they have these edges

  int nodes() const;
};

/// Returns the number of edges of layered_edges().
std::int64_t count_edges(const LayeredShape& shape, int heads);

DesignEdges layered_edges(const LayeredShape& shape, int heads);

}  // namespace synergraph
#pragma GCC visibility pop

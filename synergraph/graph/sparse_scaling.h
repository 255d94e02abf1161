#pragma once

#include "synergraph/graph/sparse_graph.h"

namespace synergraph {

/// The edges of a node whose weights have one scale: walks depend on the shares of the edges out of
/// each node, diffusion on those of the edges into each node.
enum class EdgeSide { kOutgoing, kIncoming };

/// Returns true if the sums of the weights of each node's edges are in_safe_range(), or zero.
bool has_safe_sums(const SparseGraph& graph, EdgeSide side);

/// Returns the graph with the weights of each node's edges multiplied by a power of two, so that
/// the largest is near one. The shares stay the same.
SparseGraph with_safe_sums(const SparseGraph& graph, EdgeSide side);

}  // namespace synergraph

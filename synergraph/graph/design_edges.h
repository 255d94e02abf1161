#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "synergraph/graph/sparse_graph.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// The edges of several heads on the same nodes, for searches that change edges one by one. Every
/// node of every head has a self-loop, which is in no list but counts as an edge.
class DesignEdges {
 public:
  DesignEdges(int nodes, int heads);

  int nodes() const { return nodes_; }
  int heads() const { return static_cast<int>(senders_.size()); }
  int sink() const { return nodes_ - 1; }
  /// Returns the number of edges of all heads, self-loops included.
  std::int64_t count() const { return count_; }
  /// Returns the number of edges of one head, self-loops included.
  std::int64_t count(int head) const;

  /// Returns the later nodes that node j of a head has edges to, in increasing order.
  const std::vector<std::int32_t>& receivers(int head, int j) const {
    return receivers_[static_cast<std::size_t>(head)][static_cast<std::size_t>(j)];
  }
  /// Returns the earlier nodes that node i of a head has edges from, in increasing order.
  const std::vector<std::int32_t>& senders(int head, int i) const {
    return senders_[static_cast<std::size_t>(head)][static_cast<std::size_t>(i)];
  }
  bool has(int head, int from, int to) const;
  /// Adds an edge that goes forward and is not there.
  void add(int head, int from, int to);
  /// Removes an edge that is there.
  void remove(int head, int from, int to);

  /// Returns one head as a graph.
  SparseGraph graph(int head) const;

  bool operator==(const DesignEdges& other) const = default;

 private:
  int nodes_;
  std::int64_t count_;
  std::vector<std::vector<std::vector<std::int32_t>>> receivers_, senders_;
};

/// Copies the edges of a graph into one head. Weights are ignored.
void add_edges(const SparseGraph& graph, int head, DesignEdges& edges);

}  // namespace synergraph
#pragma GCC visibility pop

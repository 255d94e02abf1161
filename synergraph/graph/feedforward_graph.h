#pragma once

#include <string_view>
#include <vector>

#pragma GCC visibility push(default)
namespace synergraph {

/// The largest number of nodes of a graph. Every analysis works on dense n x n matrices.
inline constexpr int kMaxNodes = 16384;

/// A directed edge from -> to with from <= to, and its strength.
struct Edge {
  int from = 0;
  int to = 0;
  double weight = 1.0;

  friend bool operator==(const Edge&, const Edge&) = default;
};

/// A feedforward graph (theory: "Feedforward graph") with nodes 0 .. n-1. Every edge goes forward,
/// and the last node is the sink. A FeedforwardGraph is immutable and always valid.
class FeedforwardGraph {
 public:
  /// Makes a graph from edges in any order. Unless `self_loops` is false, every node without a
  /// self-loop gets a self-loop of weight 1. InputError for a backward or repeated edge, a node out
  /// of range, a weight that is not positive and finite, or n outside [1, kMaxNodes].
  FeedforwardGraph(int nodes, std::vector<Edge> edges, bool self_loops = true);

  int nodes() const { return nodes_; }
  int sink() const { return nodes_ - 1; }

  /// Returns all edges, including self-loops, sorted by (from, to).
  const std::vector<Edge>& edges() const { return edges_; }

 private:
  int nodes_;
  std::vector<Edge> edges_;
};

/// Throws InputError unless 1 <= nodes <= kMaxNodes.
void check_node_count(long long nodes);

/// Throws InputError unless the edge goes forward between nodes of [0, nodes) with a positive
/// finite weight. The message names the nodes by `from` and `to`, or by their numbers if these
/// names are empty.
void check_edge(const Edge& edge, int nodes, std::string_view from = {}, std::string_view to = {});

}  // namespace synergraph
#pragma GCC visibility pop

#pragma once

#include <string_view>
#include <vector>

#pragma GCC visibility push(default)
namespace synergraph {

/// The most nodes a graph may have: every analysis works on dense n x n matrices.
inline constexpr int kMaxNodes = 16384;

/// A directed edge from -> to with from <= to, and its strength.
struct Edge {
  int from = 0;
  int to = 0;
  double weight = 1.0;

  friend bool operator==(const Edge&, const Edge&) = default;
};

/// A feedforward graph (theory: "Feedforward graph"): nodes 0 .. n-1, every edge goes forward, the
/// last node is the sink. Immutable and always valid.
class FeedforwardGraph {
 public:
  /// Edges in any order; a self-loop of weight 1 is added to every node that has none, unless
  /// `self_loops` is false. InputError for a backward or repeated edge, a node out of range, a
  /// weight that is not positive and finite, or n outside [1, kMaxNodes].
  FeedforwardGraph(int nodes, std::vector<Edge> edges, bool self_loops = true);

  int nodes() const { return nodes_; }
  int sink() const { return nodes_ - 1; }

  /// All edges, self-loops included, sorted by (from, to).
  const std::vector<Edge>& edges() const { return edges_; }

 private:
  int nodes_;
  std::vector<Edge> edges_;
};

/// InputError unless 1 <= nodes <= kMaxNodes.
void check_node_count(long long nodes);

/// InputError unless the edge goes forward between nodes of [0, nodes) with a positive finite
/// weight. Its message names the nodes, or gives their numbers.
void check_edge(const Edge& edge, int nodes, std::string_view from = {}, std::string_view to = {});

}  // namespace synergraph
#pragma GCC visibility pop

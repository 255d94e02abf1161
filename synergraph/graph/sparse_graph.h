#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "synergraph/core/aligned_memory.h"
#include "synergraph/core/execution.h"
#include "synergraph/graph/feedforward_graph.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// The largest number of nodes and of edges of a sparse graph.
inline constexpr std::int64_t kMaxSparseNodes = std::int64_t{1} << 30U;
inline constexpr std::int64_t kMaxSparseEdges = std::int64_t{1} << 36U;

/// A feedforward graph (theory: "Feedforward graph") in compressed rows: four bytes an edge, and
/// eight more if edges have weights. Every edge goes forward, and the last node is the sink.
/// Self-loops are kept apart. A SparseGraph is immutable and always valid.
class SparseGraph {
 public:
  /// Makes a graph from the receivers of every node: `first` has nodes + 1 entries, the receivers
  /// of node j are receivers[first[j]] .. receivers[first[j+1] - 1], in any order. `weights` has an
  /// entry for each edge, or none: all ones. A receiver that is the node itself is a self-loop.
  /// Unless `self_loops` is false, every node without a self-loop gets one of weight 1. InputError
  /// for a backward or repeated edge, a node out of range, a weight that is not positive and
  /// finite, or offsets that do not fit; `where` begins the message. Stopped if it was asked to.
  SparseGraph(std::vector<std::int64_t> first, ScratchVector<std::int32_t> receivers,
              ScratchVector<double> weights = {}, bool self_loops = true,
              const std::string& where = "", const Execution& execution = {});

  explicit SparseGraph(const FeedforwardGraph& graph);

  int nodes() const { return static_cast<int>(self_.size()); }
  int sink() const { return nodes() - 1; }
  /// Returns the number of edges, self-loops included.
  std::int64_t edge_count() const;
  bool weighted() const { return !weights_.empty(); }

  /// Returns the receivers of node j, in increasing order, without j itself.
  std::span<const std::int32_t> receivers(int j) const {
    return {receivers_.data() + first_[static_cast<std::size_t>(j)], count(j)};
  }
  /// Returns the weights of the edges to receivers(j); empty if all are 1.
  std::span<const double> weights(int j) const {
    if (!weighted()) return {};
    return {weights_.data() + first_[static_cast<std::size_t>(j)], count(j)};
  }
  /// Returns the weight of the self-loop of node j, 0 if there is none.
  double self_loop(int j) const { return self_[static_cast<std::size_t>(j)]; }

  /// The compressed rows themselves.
  const std::vector<std::int64_t>& first() const { return first_; }
  const ScratchVector<std::int32_t>& all_receivers() const { return receivers_; }
  const ScratchVector<double>& all_weights() const { return weights_; }

  /// Returns the graph with every edge turned round and nodes counted from the last: node k is node
  /// n - 1 - k of this graph. Its walk is the backward walk of this graph.
  SparseGraph reversed() const;

  /// Returns the graph as a FeedforwardGraph. InputError if it has more than kMaxNodes nodes.
  FeedforwardGraph dense() const;

 private:
  SparseGraph() = default;
  std::size_t count(int j) const {
    const auto k = static_cast<std::size_t>(j);
    return static_cast<std::size_t>(first_[k + 1] - first_[k]);
  }
  void sort_rows(const std::string& where, const Execution& execution);

  std::vector<std::int64_t> first_;
  ScratchVector<std::int32_t> receivers_;
  ScratchVector<double> weights_;
  std::vector<double> self_;
};

}  // namespace synergraph
#pragma GCC visibility pop

#include "synergraph/graph/sparse_scaling.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "synergraph/core/safe_range.h"

namespace synergraph {
namespace {

/// Calls visit(node, sender, receiver, weight) for every edge, self-loops first among those of
/// their senders; `node` is the one whose edges have one scale.
template <class Visit>
void each_edge(const SparseGraph& graph, EdgeSide side, const Visit& visit) {
  for (int j = 0; j < graph.nodes(); ++j) {
    if (graph.self_loop(j) > 0.0) visit(static_cast<std::size_t>(j), j, j, graph.self_loop(j));
    const auto receivers = graph.receivers(j);
    const auto weights = graph.weights(j);
    for (std::size_t e = 0; e < receivers.size(); ++e)
      visit(static_cast<std::size_t>(side == EdgeSide::kOutgoing ? j : receivers[e]), j,
            receivers[e], weights.empty() ? 1.0 : weights[e]);
  }
}

}  // namespace

bool has_safe_sums(const SparseGraph& graph, EdgeSide side) {
  if (!graph.weighted()) {  // sums of ones, and of self-loops that may have weights
    for (int j = 0; j < graph.nodes(); ++j)
      if (graph.self_loop(j) > 0.0 && !in_safe_range(graph.self_loop(j))) return false;
    return true;
  }
  std::vector<double> sum(static_cast<std::size_t>(graph.nodes()), 0.0);
  each_edge(graph, side,
            [&](std::size_t node, int, std::int32_t, double weight) { sum[node] += weight; });
  return std::all_of(sum.begin(), sum.end(),
                     [](double of) { return of == 0.0 || in_safe_range(of); });
}

SparseGraph with_safe_sums(const SparseGraph& graph, EdgeSide side) {
  std::vector<double> largest(static_cast<std::size_t>(graph.nodes()), 0.0);
  each_edge(graph, side, [&](std::size_t node, int, std::int32_t, double weight) {
    largest[node] = std::max(largest[node], weight);
  });
  std::vector<std::int64_t> first(largest.size() + 1, 0);
  ScratchVector<std::int32_t> receivers;
  ScratchVector<double> weights;
  each_edge(graph, side, [&](std::size_t node, int from, std::int32_t to, double weight) {
    ++first[static_cast<std::size_t>(from) + 1];
    receivers.push_back(to);
    weights.push_back(std::max(std::ldexp(weight, -std::ilogb(largest[node])),
                               std::numeric_limits<double>::denorm_min()));
  });
  for (std::size_t j = 1; j < first.size(); ++j) first[j] += first[j - 1];
  return {std::move(first), std::move(receivers), std::move(weights), false};
}

}  // namespace synergraph

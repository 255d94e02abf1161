#include "synergraph/heads/sparse_metrics.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "synergraph/chain/mixing.h"
#include "synergraph/core/error.h"
#include "synergraph/core/special_values.h"
#include "synergraph/diffusion/fidelity.h"
#include "synergraph/diffusion/incoming_shares.h"
#include "synergraph/graph/graph_memory.h"

namespace synergraph {
namespace {

/// Matrices that exist at the same time: D, the walk, the walk back, and powers of one walk.
constexpr double kMatrices = 6.0;

double dense_bytes(int nodes) {
  return kMatrices * sizeof(double) * static_cast<double>(nodes) * nodes;
}

/// Expected steps of the backward walk from every node to node 0, without the reversed graph. A
/// node's sum is complete when its turn comes: all edges into the node come from earlier nodes.
std::vector<double> backward_times(const SparseGraph& graph) {
  const auto n = static_cast<std::size_t>(graph.nodes());
  std::vector<double> earlier(n, 0.0);
  std::vector<double> sum(n, 0.0);
  std::vector<double> time(n, 0.0);
  for (std::size_t j = 0; j < n; ++j) {
    if (j > 0)
      time[j] = earlier[j] > 0.0
                    ? (earlier[j] + graph.self_loop(static_cast<int>(j)) + sum[j]) / earlier[j]
                    : kInfinity;
    const auto receivers = graph.receivers(static_cast<int>(j));
    const auto weights = graph.weights(static_cast<int>(j));
    for (std::size_t e = 0; e < receivers.size(); ++e) {
      const double weight = weights.empty() ? 1.0 : weights[e];
      earlier[static_cast<std::size_t>(receivers[e])] += weight;
      sum[static_cast<std::size_t>(receivers[e])] += weight * time[j];
    }
  }
  return time;
}

/// Both engines step in panels of about this length.
constexpr double kPanel = 16.0;

/// The steps of a walk until its survival is below eps, from its longest expected time.
double walk_steps(double longest, double eps) {
  if (!(longest < kInfinity)) return kPanel;  // only averages are searched for
  return std::max(kPanel, longest * std::log(1.0 / std::min(eps, 0.9)));
}

SparseWalkSummary from_matrix(WalkSummary found, std::int64_t step_limit) {
  const auto times = [&](const std::vector<double>& all) {
    std::vector<Steps> steps;
    steps.reserve(all.size());
    const auto limit = static_cast<double>(step_limit);
    for (const double time : all)
      steps.push_back(time > limit && time < kInfinity ? Steps{limit, false} : Steps{time, true});
    return steps;
  };
  SparseWalkSummary summary;
  summary.hitting = std::move(found.hitting);
  summary.truncated = std::move(found.truncated);
  summary.mixing = times(found.mixing);
  summary.averaged_l1 = times(found.averaged);
  summary.averaged_tv = times(found.averaged_tv);
  return summary;
}

/// Entry (i, j) is the weight of the edge j -> i.
Matrix weights_of(const SparseGraph& graph) {
  Matrix matrix(graph.nodes(), graph.nodes());
  for (int j = 0; j < graph.nodes(); ++j) {
    matrix(j, j) = graph.self_loop(j);
    const auto receivers = graph.receivers(j);
    const auto weights = graph.weights(j);
    for (std::size_t e = 0; e < receivers.size(); ++e)
      matrix(receivers[e], j) = weights.empty() ? 1.0 : weights[e];
  }
  return matrix;
}

SparseMetrics measure_by_matrices(const SparseGraph& graph, const SparseMetricsOptions& options,
                                  const Execution& execution) {
  if (graph.nodes() > kMostMatrixNodes)
    throw InputError(fmt::format("a graph of {} nodes; matrices measure graphs of at most {}",
                                 graph.nodes(), kMostMatrixNodes));
  const std::int64_t limit = std::max(options.step_limit, options.cutoff);
  WalkOptions walk;
  walk.eps = {options.eps};
  walk.cutoff = options.cutoff;
  walk.averaged = true;
  SparseMetrics metrics;
  metrics.engine = GraphEngine::kMatrices;
  Matrix matrix = weights_of(graph);
  metrics.walk = from_matrix(summarise_walk(walk_of_attention(matrix), walk, execution), limit);
  to_incoming_shares(matrix);
  FidelityOptions fidelities;
  fidelities.step_limit = options.step_limit;
  metrics.fidelity = fidelity(matrix, fidelities, execution);
  walk.cutoff = 0;
  metrics.backward =
      from_matrix(summarise_walk(backward_walk(matrix), walk, execution), options.step_limit);
  return metrics;
}

/// Walks have about ten numbers for each node, and a panel of states. The walk back has a graph of
/// its own.
void check_edge_memory(const SparseGraph& graph) {
  const double edge = sizeof(std::int32_t) + (graph.weighted() ? sizeof(double) : 0);
  check_graph_memory(graph.nodes(), static_cast<double>(graph.edge_count()),
                     {.node = (10.0 + kPanel) * sizeof(double), .edge = 2.0 * edge});
}

SparseMetrics measure_by_edges(const SparseGraph& graph, const SparseMetricsOptions& options,
                               const Execution& execution) {
  check_edge_memory(graph);
  SparseWalkOptions walk;
  walk.eps = {options.eps};
  walk.cutoff = options.cutoff;
  walk.step_limit = options.step_limit;
  SparseFidelityOptions diffusion;
  diffusion.step_limit = options.step_limit;
  SparseMetrics metrics;
  metrics.walk = summarise_walk(graph, walk, execution);
  metrics.fidelity = fidelity(graph, diffusion, execution);
  walk.cutoff = 0;  // of the way back, no truncated times are shown
  metrics.backward = summarise_walk(graph.reversed(), walk, execution);
  return metrics;
}

}  // namespace

double SparseMetrics::fidelity_bound() const {
  const auto sources = static_cast<double>(fidelity.node.size() - 1);
  return sources > 0.0 ? backward_hitting_time() / sources : kInfinity;
}

GraphWork graph_work(const SparseGraph& graph, const SparseMetricsOptions& options) {
  // docs/graphs.md has the times behind these weights.
  constexpr double kNode = 8.0;        // a node's recurrence, in edges
  constexpr double kWeighted = 2.0;    // an edge with a weight, in edges without
  constexpr double kTurnRound = 40.0;  // an edge of the reversed graph
  constexpr double kEntry = 0.25;      // an entry of a matrix, for each step
  constexpr double kFill = 60.0;       // an entry, to make and transpose the matrices
  constexpr double kMultiply = 0.6;    // a multiplication of a matrix product
  const auto n = static_cast<double>(graph.nodes());
  const std::vector<double> back = backward_times(graph);
  const double longest = hitting_times(graph).max;
  const double longest_back = *std::max_element(back.begin(), back.end());
  const double limit = static_cast<double>(options.step_limit);
  const double cutoff = static_cast<double>(options.cutoff);
  const double steps[] = {std::max(cutoff, std::min(limit, walk_steps(longest, options.eps))),
                          std::min(limit, walk_steps(longest_back, options.eps))};
  // The signal needs some multiple of the steps of the way back; a node that hears nothing stays
  // open until its bound underflows.
  const double signal =
      std::min(limit, back.back() < kInfinity ? std::max(kPanel, 2.0 * back.back()) : 256.0);
  const auto edges = static_cast<double>(graph.edge_count());
  GraphWork work;
  work.edges =
      ((graph.weighted() ? kWeighted : 1.0) * edges + kNode * n) * (signal + steps[0] + steps[1]) +
      kTurnRound * edges;
  work.matrices = kFill * n * n;
  const auto add = [&](double needed, double single) {  // as many steps, then squaring
    work.matrices += kEntry * n * n / 2.0 * std::min(needed, single);
    if (needed > single) work.matrices += kMultiply * n * n * n / 6.0 * std::log2(needed);
  };
  for (const double needed : steps) add(needed, std::max(400.0, n / 8.0));
  add(signal, std::max(2000.0, 4.0 * n));
  return work;
}

SparseMetrics measure(const SparseGraph& graph, const SparseMetricsOptions& options,
                      const Execution& execution) {
  bool matrices = options.engine == GraphEngine::kMatrices;
  if (options.engine == GraphEngine::kFastest && graph.nodes() <= kMostMatrixNodes &&
      dense_bytes(graph.nodes()) <= static_cast<double>(execution.memory.bytes())) {
    const GraphWork work = graph_work(graph, options);
    matrices = work.matrices < work.edges;
  }
  if (!matrices) return measure_by_edges(graph, options, execution);
  SparseMetrics metrics = measure_by_matrices(graph, options, execution);
  // Where the step limit came first, both engines give intervals, but not the same ones.
  if (!metrics.fidelity.certified && options.engine == GraphEngine::kFastest) {
    SparseFidelityOptions diffusion;
    diffusion.step_limit = options.step_limit;
    metrics.fidelity = fidelity(graph, diffusion, execution);
  }
  return metrics;
}

}  // namespace synergraph

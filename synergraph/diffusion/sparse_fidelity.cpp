#include "synergraph/diffusion/sparse_fidelity.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "synergraph/core/error.h"
#include "synergraph/core/sparse_propagation.h"
#include "synergraph/core/special_values.h"
#include "synergraph/graph/sparse_scaling.h"

namespace synergraph {
namespace {

/// D as factors: D(i, j) = weight(j -> i) / incoming[i].
struct Diffusion {
  std::vector<double> earlier;   ///< sum of the weights of edges from earlier nodes
  std::vector<double> incoming;  ///< the same with the self-loop

  explicit Diffusion(const SparseGraph& graph) : earlier(static_cast<std::size_t>(graph.nodes())) {
    for (int j = 0; j < graph.nodes(); ++j) {
      const auto receivers = graph.receivers(j);
      const auto weights = graph.weights(j);
      for (std::size_t e = 0; e < receivers.size(); ++e)
        earlier[static_cast<std::size_t>(receivers[e])] += weights.empty() ? 1.0 : weights[e];
    }
    incoming = earlier;
    for (int j = 0; j < graph.nodes(); ++j)
      incoming[static_cast<std::size_t>(j)] += graph.self_loop(j);
  }
  /// Whether the node keeps what it gets.
  bool keeps(std::size_t j) const { return !(earlier[j] > 0.0); }
};

SparsePropagation::Operator signal_operator(const SparseGraph& graph, const Diffusion& diffusion) {
  const auto n = diffusion.incoming.size();
  std::vector<double> stay(n, 1.0);
  std::vector<double> scale(n, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    if (diffusion.keeps(i)) continue;
    stay[i] = graph.self_loop(static_cast<int>(i)) / diffusion.incoming[i];
    scale[i] = 1.0 / diffusion.incoming[i];
  }
  return {graph.first(),   graph.all_receivers(), graph.all_weights(), std::move(stay), {},
          std::move(scale)};
}

/// For every node that keeps what it gets, the probability that the way back from the sink ends
/// there: the supremum of its signal. NaN for other nodes.
std::vector<double> absorbed(const SparseGraph& graph, const Diffusion& diffusion) {
  const auto n = diffusion.incoming.size();
  std::vector<double> result(n, std::numeric_limits<double>::quiet_NaN());
  std::vector<double> leaving(n, 0.0);  // expected visits over `incoming`, where it leaves
  for (std::size_t j = n; j-- > 0;) {
    const auto receivers = graph.receivers(static_cast<int>(j));
    const auto weights = graph.weights(static_cast<int>(j));
    double arriving = j + 1 == n ? 1.0 : 0.0;
    for (std::size_t e = 0; e < receivers.size(); ++e)
      arriving +=
          (weights.empty() ? 1.0 : weights[e]) * leaving[static_cast<std::size_t>(receivers[e])];
    // Visits are arrivals over the chance to leave, earlier / incoming.
    if (diffusion.keeps(j))
      result[j] = arriving;
    else
      leaving[j] = arriving / diffusion.earlier[j];
  }
  return result;
}

/// Takes the fidelities that are known by now, and bounds of later signals.
void settle(const SparsePropagation& states, const SparsePropagation::Collected& seen,
            const std::vector<double>& kept, const SparseFidelityOptions& options,
            double own_signal, bool forever, Fidelity& result) {
  const std::size_t n = kept.size();
  result.minimax = kInfinity;
  result.minimax_upper = kInfinity;
  double ahead = 0.0;  // mass that has not passed the node, and is not kept for ever
  for (std::size_t j = n; j-- > 0;) {
    if (kept[j] != kept[j]) ahead += states.now()[j];
    double least = seen.peak[j];
    double most = forever ? std::max(least, ahead) : least;
    double time = seen.peak_time[j];
    if (j + 1 == n) {  // t >= 1
      least = most = own_signal;
      time = 1.0;
    } else if (forever && !(kept[j] != kept[j])) {
      least = most = kept[j];
      if (seen.peak[j] < kept[j] * (1.0 - 1e-13)) time = kInfinity;
    }
    result.node[j] = least;
    result.node_upper[j] = most;
    result.optimal_time[j] = time;
    if (j + 1 == n && options.nodes == FidelityNodes::kSources) continue;
    if (least <= result.minimax) {
      result.minimax = least;
      result.minimax_node = static_cast<int>(j);
      result.minimax_time = time;
    }
    result.minimax_upper = std::min(result.minimax_upper, most);
  }
  if (!(result.minimax < kInfinity)) result.minimax = result.minimax_upper = 1.0;  // no source
  result.certified = forever && result.minimax_upper <= result.minimax;
}

}  // namespace

Fidelity fidelity(const SparseGraph& graph, const SparseFidelityOptions& options,
                  const Execution& execution) {
  if (options.horizon < 0 || options.step_limit < 1)
    throw UsageError(fmt::format("a horizon of {} steps and a limit of {} steps are too small",
                                 options.horizon, options.step_limit));
  if (!has_safe_sums(graph, EdgeSide::kIncoming))
    return fidelity(with_safe_sums(graph, EdgeSide::kIncoming), options, execution);
  const auto n = static_cast<std::size_t>(graph.nodes());
  const Diffusion diffusion(graph);
  const std::vector<double> kept = absorbed(graph, diffusion);
  SparsePropagation::Operator op = signal_operator(graph, diffusion);
  const double own_signal = op.stay.back();
  std::vector<double> start(n, 0.0);
  start.back() = 1.0;
  SparsePropagation states(std::move(op), std::move(start), execution);
  SparsePropagation::Collected seen;
  seen.peak.assign(n, 0.0);
  seen.peak_time.assign(n, 0.0);
  Fidelity result;
  result.node.resize(n);
  result.node_upper.resize(n);
  result.optimal_time.resize(n);
  const bool forever = options.horizon == 0;
  // Step t of the horizon counts; a panel begins with the state of its first step.
  const std::int64_t last = forever ? options.step_limit : options.horizon;
  do {
    states.advance(last + 1 - states.time(), seen, nullptr);
    settle(states, seen, kept, options, own_signal, forever, result);
  } while (states.time() <= last && !(forever && result.certified));
  result.steps = static_cast<double>(states.time() - 1);
  return result;
}

}  // namespace synergraph

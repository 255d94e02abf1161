#include "synergraph/chain/sparse_walk.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "synergraph/core/error.h"
#include "synergraph/core/sparse_propagation.h"
#include "synergraph/core/special_values.h"
#include "synergraph/graph/sparse_scaling.h"

namespace synergraph {
namespace {

constexpr double kSparseTie = 1e-13;  // as for mixing_times()

/// The weights of a node's edges to later nodes, and with its self-loop.
struct OutgoingWeight {
  double forward, all;
};

OutgoingWeight outgoing(const SparseGraph& graph, int j) {
  const auto weights = graph.weights(j);
  const double forward = weights.empty() ? static_cast<double>(graph.receivers(j).size())
                                         : std::accumulate(weights.begin(), weights.end(), 0.0);
  return {forward, forward + graph.self_loop(j)};
}

/// The walk: x_{t+1} = P x_t.
SparsePropagation::Operator walk_operator(const SparseGraph& graph) {
  const auto n = static_cast<std::size_t>(graph.nodes());
  std::vector<double> stay(n, 1.0);
  std::vector<double> gain(n, 0.0);
  for (int j = 0; j < graph.sink(); ++j) {
    const OutgoingWeight weight = outgoing(graph, j);
    if (!(weight.forward > 0.0)) continue;  // it stays
    stay[static_cast<std::size_t>(j)] = graph.self_loop(j) / weight.all;
    gain[static_cast<std::size_t>(j)] = 1.0 / weight.all;
  }
  return {graph.first(), graph.all_receivers(), graph.all_weights(), std::move(stay),
          std::move(gain)};
}

/// The first step at which a number that never grows meets a threshold, for every threshold.
class Crossings {
 public:
  Crossings(std::vector<double> thresholds, bool strict)
      : thresholds_(std::move(thresholds)), strict_(strict), found_(thresholds_.size()) {
    for (Steps& steps : found_) steps.exact = false;
  }
  void see(std::int64_t t, double value) {
    for (std::size_t k = 0; k < found_.size(); ++k)
      if (!found_[k].exact && met(value, thresholds_[k]))
        found_[k] = {static_cast<double>(t), true};
  }
  bool done() const {
    return std::all_of(found_.begin(), found_.end(), [](const Steps& s) { return s.exact; });
  }
  /// What was not found by `limit` steps is above; infinite if it never comes.
  std::vector<Steps> take(std::int64_t limit, const std::function<bool(double)>& comes) {
    for (std::size_t k = 0; k < found_.size(); ++k) {
      if (found_[k].exact) continue;
      if (comes(thresholds_[k]))
        found_[k].least = static_cast<double>(limit);
      else
        found_[k] = {kInfinity, true};
    }
    return std::move(found_);
  }

 private:
  bool met(double value, double threshold) const {
    return strict_ ? value < threshold * (1.0 - kSparseTie)
                   : value <= threshold * (1.0 + kSparseTie);
  }
  std::vector<double> thresholds_;
  bool strict_;
  std::vector<Steps> found_;
};

/// The mean over all nodes of the probability that the walk ends at a node without a way out other
/// than the sink: what the averaged survival falls to, by back substitution without a subtraction.
double mean_lost(const SparseGraph& graph) {
  std::vector<double> lost(static_cast<std::size_t>(graph.nodes()), 0.0);
  double sum = 0.0;
  for (int j = graph.sink() - 1; j >= 0; --j) {
    const auto receivers = graph.receivers(j);
    const auto weights = graph.weights(j);
    double reached = 0.0;
    for (std::size_t e = 0; e < receivers.size(); ++e)
      reached +=
          (weights.empty() ? 1.0 : weights[e]) * lost[static_cast<std::size_t>(receivers[e])];
    const double forward = outgoing(graph, j).forward;
    lost[static_cast<std::size_t>(j)] = forward > 0.0 ? std::min(1.0, reached / forward) : 1.0;
    sum += lost[static_cast<std::size_t>(j)];
  }
  return sum / static_cast<double>(graph.nodes());
}

std::vector<double> times(std::vector<double> numbers, double factor) {
  for (double& number : numbers) number *= factor;
  return numbers;
}

}  // namespace

HittingTimes hitting_times(const SparseGraph& graph) {
  if (!has_safe_sums(graph, EdgeSide::kOutgoing))
    return hitting_times(with_safe_sums(graph, EdgeSide::kOutgoing));
  std::vector<double> node(static_cast<std::size_t>(graph.nodes()), 0.0);
  for (int j = graph.sink() - 1; j >= 0; --j) {
    const auto receivers = graph.receivers(j);
    const auto weights = graph.weights(j);
    double sum = 0.0;
    for (std::size_t e = 0; e < receivers.size(); ++e) {
      const double later = node[static_cast<std::size_t>(receivers[e])];
      sum += weights.empty() ? later : weights[e] * later;
    }
    // h_j = (1 + sum P h) / leave with P = weight / all and leave = forward / all.
    const OutgoingWeight weight = outgoing(graph, j);
    node[static_cast<std::size_t>(j)] =
        weight.forward > 0.0 ? (weight.all + sum) / weight.forward : kInfinity;
  }
  return summarise_hitting(std::move(node));
}

SparseWalkSummary summarise_walk(const SparseGraph& graph, const SparseWalkOptions& options,
                                 const Execution& execution) {
  for (const double eps : options.eps)
    if (!(eps > 0.0)) throw UsageError(fmt::format("eps must be positive, not {}", eps));
  if (!has_safe_sums(graph, EdgeSide::kOutgoing))
    return summarise_walk(with_safe_sums(graph, EdgeSide::kOutgoing), options, execution);
  const auto n = static_cast<std::size_t>(graph.nodes());
  SparseWalkSummary summary;
  summary.hitting = hitting_times(graph);
  // A node that cannot reach the sink survives for ever. Nodes before it do so with a probability
  // that can be small: the mean may still fall below its threshold.
  const bool some_lost = summary.hitting.max == kInfinity;
  const double lost = some_lost ? mean_lost(graph) : 0.0;

  std::vector<double> start(n, 1.0);
  start.back() = 0.0;
  SparsePropagation states(walk_operator(graph), std::move(start), execution);
  SparsePropagation::Collected collected;
  collected.sum.assign(n, 0.0);
  collected.sum_end = options.cutoff;
  Crossings worst(options.eps, false);
  Crossings l1(times(options.eps, 0.5), true);
  Crossings tv(options.eps, true);
  const auto comes_worst = [&](double threshold) { return !some_lost || threshold >= 1.0; };
  const auto comes_mean = [&](double threshold) { return lost < threshold * (1.0 - kSparseTie); };
  const auto open = [&] {
    const auto waits = [](const Crossings& of, const std::vector<double>& thresholds,
                          const auto& comes) {
      return !of.done() && std::any_of(thresholds.begin(), thresholds.end(), comes);
    };
    return waits(worst, options.eps, comes_worst) ||
           waits(l1, times(options.eps, 0.5), comes_mean) || waits(tv, options.eps, comes_mean);
  };
  const std::int64_t limit = std::max(options.step_limit, options.cutoff);
  while (states.time() < limit && (states.time() < options.cutoff || open())) {
    states.advance(limit - states.time(), collected,
                   [&](std::int64_t t, double total, double largest) {
                     if (t > limit) return;
                     worst.see(t, largest);
                     l1.see(t, total / static_cast<double>(n));
                     tv.see(t, total / static_cast<double>(n));
                   });
  }
  const std::int64_t seen = std::min(states.time(), limit);
  summary.steps = states.time();
  summary.truncated = summarise_hitting(std::move(collected.sum));
  summary.mixing = worst.take(seen, comes_worst);
  summary.averaged_l1 = l1.take(seen, comes_mean);
  summary.averaged_tv = tv.take(seen, comes_mean);
  return summary;
}

}  // namespace synergraph

#include "synergraph/chain/hitting.h"

#include <algorithm>
#include <utility>

#include "synergraph/chain/survival_sweep.h"
#include "synergraph/core/array_math.h"
#include "synergraph/core/kernels/kernels.h"
#include "synergraph/core/special_values.h"

namespace synergraph {

HittingTimes summarise_hitting(std::vector<double> times) {
  HittingTimes result;
  result.node = std::move(times);
  result.mean = total(result.node.data(), static_cast<int>(result.node.size())) /
                static_cast<double>(result.node.size());
  const auto worst = std::max_element(result.node.begin(), result.node.end());
  result.max = *worst;
  result.worst_node = static_cast<int>(worst - result.node.begin());
  return result;
}

Matrix survival(const Walk& walk, int steps) {
  Matrix curve(steps + 1, walk.nodes());
  for (int j = 0; j < walk.sink(); ++j) curve(0, j) = 1.0;
  SurvivalSweep sweep(walk);
  for (int begin = 0; begin <= steps; begin += Propagation::panel()) {
    sweep.advance();
    const int count = std::min(Propagation::panel(), steps + 1 - begin);
    for (int j = 0; j < walk.sink(); ++j)
      for (int k = 0; k < count; ++k) curve(begin + k, j) = sweep.states().at(j, k);
  }
  return curve;
}

std::vector<double> total_variation_curve(const Walk& walk, int steps) {
  const Matrix curve = survival(walk, steps);
  std::vector<double> worst;
  for (int t = 0; t <= steps; ++t)
    worst.push_back(*std::max_element(curve.row(t), curve.row(t) + walk.nodes()));
  return worst;
}

HittingTimes truncated_hitting_times(const Walk& walk, std::int64_t cutoff) {
  SurvivalSweep sweep(walk);
  sweep.flush_tiny();  // every sum is at least one
  const Execution execution;
  TruncatedSum sum(walk.nodes(), cutoff, execution);
  while (!sum.complete()) {
    sweep.advance(cutoff - sweep.states().time());
    sum.add(sweep);
    sweep.restrict_to(sum.active(sweep));
  }
  return summarise_hitting(sum.take());
}

HittingTimes hitting_times(const Walk& walk) {
  const int sink = walk.sink();
  // A node that cannot reach the sink takes infinitely long, and so does every node that may step
  // to one of them. With an infinite pivot they enter the sums as zeros, so that 0 * infinity never
  // arises.
  std::vector<int> infinite;
  const auto held = std::find(walk.leave.begin(), walk.leave.end() - 1, 0.0);
  for (int j = held == walk.leave.end() - 1 ? -1 : sink - 1; j >= 0; --j) {
    const double* row = walk.step.row(j);
    const auto may_step_to = [&](int i) { return row[i] > 0.0; };
    if (!(walk.leave[static_cast<std::size_t>(j)] > 0.0) ||
        std::any_of(infinite.begin(), infinite.end(), may_step_to))
      infinite.push_back(j);
  }
  std::vector<double> pivot;
  if (!infinite.empty()) pivot = walk.leave;
  for (const int j : infinite) pivot[static_cast<std::size_t>(j)] = kInfinity;
  const double* pivots = infinite.empty() ? walk.leave.data() : pivot.data();
  std::vector<double> time(walk.leave.size(), 0.0);
  kernels().back_substitute(walk.step, nullptr, pivots, 0, sink, time.data());
  // A node that is slower than any double may be hardly ever visited: then in smaller units.
  if (largest(time.data(), sink, 0.0) == kInfinity) {
    constexpr double kUnit = 0x1.0p-600;
    const std::vector<double> one(time.size(), kUnit);
    kernels().back_substitute(walk.step, one.data(), pivots, 0, sink, time.data());
    for (double& t : time) t /= kUnit;
  }
  for (const int j : infinite) time[static_cast<std::size_t>(j)] = kInfinity;
  return summarise_hitting(std::move(time));
}

}  // namespace synergraph

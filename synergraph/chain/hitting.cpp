#include "synergraph/chain/hitting.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "synergraph/chain/survival_sweep.h"
#include "synergraph/core/simd.h"

namespace synergraph {

Matrix survival(const Walk& walk, int steps) {
  Matrix curve(steps + 1, walk.nodes());
  for (int j = 0; j < walk.sink(); ++j) curve(0, j) = 1.0;
  SurvivalSweep sweep(walk);
  for (int begin = 0; begin <= steps; begin += Propagation::kPanel) {
    sweep.advance();
    const int count = std::min(Propagation::kPanel, steps + 1 - begin);
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
  TruncatedSum sum(walk.nodes(), cutoff);
  while (!sum.complete()) {
    sweep.advance(cutoff - sweep.states().time());
    sum.add(sweep);
    sweep.restrict_to(sum.active(sweep));
  }
  return summarise_hitting(sum.take());
}

HittingTimes hitting_times(const Walk& walk) {
  const int n = walk.nodes();
  std::vector<double> time(static_cast<std::size_t>(n), 0.0);
  // Nodes that cannot reach the sink are infinite; so is every node that may step to one of them.
  // They enter the sums as zeros, so that 0 * infinity never arises.
  std::vector<double> finite(static_cast<std::size_t>(n), 0.0);
  std::vector<int> infinite;
  for (int j = n - 2; j >= 0; --j) {
    const double* row = walk.step.row(j);
    const auto at = static_cast<std::size_t>(j);
    const bool never = !(walk.leave[at] > 0.0) || std::any_of(infinite.begin(), infinite.end(),
                                                              [&](int i) { return row[i] > 0.0; });
    if (never) {
      infinite.push_back(j);
      time[at] = std::numeric_limits<double>::infinity();
      continue;
    }
    finite[at] = time[at] =
        (1.0 + dot(row + j + 1, finite.data() + j + 1, n - j - 1)) / walk.leave[at];
  }
  return summarise_hitting(std::move(time));
}

}  // namespace synergraph

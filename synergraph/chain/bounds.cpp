#include "synergraph/chain/bounds.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "synergraph/core/error.h"

namespace synergraph {

double forward_probability(const Walk& walk) {
  if (walk.nodes() == 1) return 1.0;
  return *std::min_element(walk.leave.begin(), walk.leave.end() - 1);
}

double combined_forward_probability(const std::vector<double>& head_probabilities,
                                    const std::vector<double>& weights) {
  double sum = 0.0;
  for (std::size_t h = 0; h < weights.size(); ++h) sum += weights[h] * head_probabilities[h];
  return sum;
}

MixingBound mixing_bound(int nodes, double forward_probability) {
  const double moves = nodes - 1;
  if (moves == 0.0) return {0.0, 1.0};
  if (!(forward_probability > 0.0)) return {std::numeric_limits<double>::infinity(), 1.0};
  // The smallest whole number of steps with steps * p >= 2 N, where the rounding of p, of a few
  // last bits, does not make it one more: 42 / 0.7 is 60.
  double steps = std::ceil(2.0 * moves / forward_probability);
  if (std::fma(steps - 1.0, forward_probability, -2.0 * moves) >= -0x1.0p-50 * moves) steps -= 1.0;
  return {steps, std::exp(-forward_probability * moves)};
}

MixingBound adaptive_bound(int nodes, const std::vector<double>& head_probabilities) {
  return mixing_bound(nodes,
                      *std::max_element(head_probabilities.begin(), head_probabilities.end()));
}

double head_diversity_probability(double below, int heads) {
  if (!(below >= 0.0 && below <= 1.0))
    throw UsageError(fmt::format("a probability is in [0, 1], not {}", below));
  if (heads < 1) throw UsageError(fmt::format("there is at least one head, not {}", heads));
  if (below == 0.0) return 1.0;
  return -std::expm1(heads * std::log(below));  // 1 - below^heads without cancellation
}

double head_diversity_probability(const std::vector<double>& observed, double q, int heads) {
  if (observed.empty()) throw UsageError("no forward probabilities were observed");
  const auto below =
      std::count_if(observed.begin(), observed.end(), [&](double p) { return p < q; });
  return head_diversity_probability(
      static_cast<double>(below) / static_cast<double>(observed.size()), heads);
}

}  // namespace synergraph

#include "synergraph/gradients/soft_minimum.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace synergraph {

double soft_minimum(std::span<const double> log_values, double softness, std::span<double> shares) {
  const auto first = std::min_element(log_values.begin(), log_values.end());
  const double least = *first;
  std::fill(shares.begin(), shares.end(), 0.0);
  if (softness == 0.0 || std::isinf(least)) {
    shares[static_cast<std::size_t>(first - log_values.begin())] = 1.0;
    return least;
  }
  double sum = 0.0;
  for (std::size_t j = 0; j < log_values.size(); ++j)
    sum += shares[j] = std::exp((least - log_values[j]) / softness);
  for (double& share : shares) share /= sum;
  return least - softness * std::log(sum / static_cast<double>(log_values.size()));
}

}  // namespace synergraph

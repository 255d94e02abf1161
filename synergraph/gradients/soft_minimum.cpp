#include "synergraph/gradients/soft_minimum.h"

#include <fmt/core.h>

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

double log_mean_exp(std::span<const double> x) {
  const double most = *std::max_element(x.begin(), x.end());
  if (std::isinf(most)) return most;
  double sum = 0.0;
  for (const double one : x) sum += std::exp(one - most);
  return most + std::log(sum / static_cast<double>(x.size()));
}

InputError no_gradient_of_log_zero(std::string_view value) {
  return InputError(fmt::format(
      "{}, so its logarithm is -infinity and has no gradient; leave such items out of the loss "
      "(torch.where), or use the fidelity itself",
      value));
}

}  // namespace synergraph

#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "synergraph/core/random.h"
#include "synergraph/subsets/subset.h"

namespace synergraph::testing_support {

/// A table of random values, the kind of which depends on `stream`: uniform, normal, near the value
/// of all heads but for few heads, or small whole numbers with many ties. v(none) = 0.
inline std::vector<double> random_game(int heads, std::uint32_t stream) {
  RandomSequence draws(14, Purpose::kTest, stream);
  std::vector<double> values(std::size_t{1} << heads);
  for (std::size_t subset = 1; subset < values.size(); ++subset) {
    const double size = std::popcount(subset);
    switch (stream % 4) {
      case 0:
        values[subset] = draws.uniform();
        break;
      case 1:
        values[subset] = draws.normal();
        break;
      case 2:
        values[subset] = 0.95 - 0.5 / (size * size) + 1e-3 * draws.uniform();
        break;
      default:
        values[subset] = static_cast<double>(draws.below(4));
        break;
    }
  }
  return values;
}

/// v(S) = sum of what its heads are worth.
inline std::vector<double> additive_game(const std::vector<double>& worth) {
  std::vector<double> values(std::size_t{1} << worth.size());
  for (Subset subset = 0; subset < values.size(); ++subset)
    for (const int head : heads_in(subset)) values[subset] += worth[static_cast<std::size_t>(head)];
  return values;
}

}  // namespace synergraph::testing_support

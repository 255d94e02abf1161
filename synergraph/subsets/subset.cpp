#include "synergraph/subsets/subset.h"

#include <fmt/core.h>

#include <bit>
#include <cmath>
#include <functional>

#include "synergraph/core/error.h"

namespace synergraph {

std::vector<int> heads_in(Subset subset) {
  std::vector<int> heads;
  for (Subset rest = subset; rest != 0; rest &= rest - 1) heads.push_back(std::countr_zero(rest));
  return heads;
}

std::vector<Subset> subsets_of_size(int heads, int size) {
  std::vector<Subset> subsets;
  // The smallest head first: of those with it, then of those without.
  const std::function<void(Subset, int, int)> extend = [&](Subset subset, int first, int left) {
    if (left == 0) {
      subsets.push_back(subset);
      return;
    }
    for (int head = first; head + left <= heads; ++head)
      extend(subset | Subset{1} << head, head + 1, left - 1);
  };
  extend(0, 0, size);
  return subsets;
}

int heads_of_table(std::span<const double> values) {
  const int heads = std::countr_zero(values.size());
  if (!std::has_single_bit(values.size()) || heads < 1 || heads > kMaxExactHeads)
    throw InputError(fmt::format("a table of {} values of subsets: expected 2^H, H from 1 to {}",
                                 values.size(), kMaxExactHeads));
  for (std::size_t subset = 0; subset < values.size(); ++subset)
    if (!std::isfinite(values[subset]))
      throw InputError(fmt::format("the value of subset {} is not finite", subset));
  return heads;
}

}  // namespace synergraph

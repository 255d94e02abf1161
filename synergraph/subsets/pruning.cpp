#include "synergraph/subsets/pruning.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "synergraph/core/error.h"
#include "synergraph/core/ties.h"
#include "synergraph/subsets/game.h"

namespace synergraph {
namespace {

/// The number of heads in a subset, by halves: not every CPU counts bits.
std::size_t size_of(std::size_t subset) {
  static constexpr auto kSizes = [] {
    std::array<std::uint8_t, std::size_t{1} << (kMaxExactHeads / 2)> sizes{};
    for (std::size_t half = 0; half < sizes.size(); ++half)
      sizes[half] = static_cast<std::uint8_t>(std::popcount(half));
    return sizes;
  }();
  return std::size_t{kSizes[subset % kSizes.size()]} + kSizes[subset / kSizes.size()];
}

/// Values of the prefixes of an order of all heads, and their losses.
PruningPath path_along(std::span<const double> values, std::vector<int> order) {
  PruningPath path{std::move(order), {values[0]}, {}};
  Subset taken = 0;
  for (const int head : path.order) path.value.push_back(values[taken |= Subset{1} << head]);
  const std::vector<SubsetChoice> best = best_subsets(values);
  for (std::size_t k = 0; k < best.size(); ++k)
    path.loss.push_back(std::max(0.0, best[k].value - path.value[k]));
  return path;
}

}  // namespace

std::vector<SubsetChoice> best_subsets(std::span<const double> values) {
  const auto sizes = static_cast<std::size_t>(heads_of_table(values)) + 1;
  std::vector<double> largest(sizes, -std::numeric_limits<double>::infinity());
  for (std::size_t subset = 0; subset < values.size(); ++subset) {
    double& most = largest[size_of(subset)];
    most = std::max(most, values[subset]);
  }
  std::vector<SubsetChoice> best(sizes);
  for (std::size_t subset = values.size(); subset-- > 0;)
    if (reaches(values[subset], largest[size_of(subset)]))
      best[size_of(subset)] = {static_cast<Subset>(subset), values[subset]};
  return best;
}

PruningPath greedy_addition(std::span<const double> values) {
  std::vector<int> left = heads_in(all_heads(heads_of_table(values)));
  std::vector<int> order;
  Subset taken = 0;
  while (!left.empty()) {
    const auto next =
        first_of_largest(left, [&](int head) { return values[taken | Subset{1} << head]; });
    taken |= Subset{1} << *next;
    order.push_back(*next);
    left.erase(next);
  }
  return path_along(values, std::move(order));
}

PruningPath greedy_removal(std::span<const double> values) {
  std::vector<int> left = heads_in(all_heads(heads_of_table(values)));
  std::reverse(left.begin(), left.end());  // the smallest subset is the one without the last head
  std::vector<int> order;
  Subset kept = all_heads(static_cast<int>(left.size()));
  while (!left.empty()) {
    const auto next =
        first_of_largest(left, [&](int head) { return values[kept & ~(Subset{1} << head)]; });
    kept &= ~(Subset{1} << *next);
    order.push_back(*next);
    left.erase(next);
  }
  std::reverse(order.begin(), order.end());
  return path_along(values, std::move(order));
}

PruningPath shapley_path(std::span<const double> values) {
  return path_along(values, falling_order(shapley_values(values)));
}

SubsetChoice smallest_subset(std::span<const double> values, double keep) {
  if (!(keep >= 0.0 && keep <= 1.0))
    throw InputError(fmt::format("keep {} of the value of all heads: expected 0 to 1", keep));
  const std::vector<SubsetChoice> best = best_subsets(values);
  for (const SubsetChoice& choice : best)
    if (reaches(choice.value, keep * values.back())) return choice;
  return best.back();
}

BetterSubsets subsets_beating_all(std::span<const double> values) {
  const std::vector<SubsetChoice> best = best_subsets(values);
  const auto most = first_of_largest(best, [](const SubsetChoice& choice) { return choice.value; });
  if (!exceeds(most->value, values.back())) return {};
  const auto count = std::count_if(values.begin(), values.end(),
                                   [&](double value) { return exceeds(value, values.back()); });
  return {static_cast<std::uint64_t>(count), *most};
}

}  // namespace synergraph

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "synergraph/subsets/subset.h"

#pragma GCC visibility push(default)
namespace synergraph {

// Which heads to keep, by a table of the values of all subsets, see heads_of_table() (theory:
// "Subsets of heads"). Values within a relative 1e-12 of each other tie; of subsets that tie, the
// one with the smallest index is taken.

struct SubsetChoice {
  Subset heads = 0;
  double value = 0.0;
};

/// The best subset of every size 0 .. H.
std::vector<SubsetChoice> best_subsets(std::span<const double> values);

/// Heads in the order in which they are taken, and what the first of them are worth.
struct PruningPath {
  std::vector<int> order;
  std::vector<double> value;  ///< of the first k heads, k = 0 .. H
  std::vector<double> loss;   ///< how much better the best k heads are, at least 0
};

/// Every time the head that makes the most of those already taken.
PruningPath greedy_addition(std::span<const double> values);

/// Starts with all heads, every time without the one whose removal leaves the most: the first k of
/// the order are the last k that remain.
PruningPath greedy_removal(std::span<const double> values);

/// By falling Shapley value.
PruningPath shapley_path(std::span<const double> values);

/// The fewest heads that keep a share of the value of all, v(S) >= keep v(all), `keep` in [0, 1]:
/// the best subset of that size. All heads if no subset does, as may be where v(all) is negative.
SubsetChoice smallest_subset(std::span<const double> values, double keep = 0.95);

/// Subsets that are worth more than all heads together.
struct BetterSubsets {
  std::uint64_t count = 0;
  /// The best of them; of those that tie, one with the fewest heads. Nothing if there is none.
  std::optional<SubsetChoice> best;
};

BetterSubsets subsets_beating_all(std::span<const double> values);

}  // namespace synergraph
#pragma GCC visibility pop

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "synergraph/subsets/subset.h"

#pragma GCC visibility push(default)
namespace synergraph {

// These functions choose which heads to keep, by a table of the values of all subsets. See
// heads_of_table() (theory: "Subsets of heads"). Values within a relative 1e-12 of each other tie;
// among tied subsets the smallest index wins.

struct SubsetChoice {
  Subset heads = 0;
  double value = 0.0;
};

/// The best subset of every size 0 .. H.
std::vector<SubsetChoice> best_subsets(std::span<const double> values);

/// An order of the heads, and the value of every beginning of the order.
struct PruningPath {
  std::vector<int> order;
  std::vector<double> value;  ///< value of the first k heads, k = 0 .. H
  /// Value of the best k heads minus value of the first k heads, at least 0.
  std::vector<double> loss;
};

/// Adds in each step the head that gives the largest value together with the heads already taken.
PruningPath greedy_addition(std::span<const double> values);

/// Starts with all heads and removes in each step the head whose removal leaves the largest value.
/// The first k heads of the order are the last k heads that remain.
PruningPath greedy_removal(std::span<const double> values);

/// Orders the heads by falling Shapley value.
PruningPath shapley_path(std::span<const double> values);

/// Finds the smallest size at which a subset has v(S) >= keep v(all), `keep` in [0, 1]. Returns the
/// best subset of that size. Returns all heads if no subset keeps that share, which can happen
/// where v(all) is negative.
SubsetChoice smallest_subset(std::span<const double> values, double keep = 0.95);

/// The subsets that are worth more than all heads together.
struct BetterSubsets {
  std::uint64_t count = 0;
  /// The best such subset; among tied subsets, one with the fewest heads. Empty if no subset beats
  /// all heads.
  std::optional<SubsetChoice> best;
};

BetterSubsets subsets_beating_all(std::span<const double> values);

}  // namespace synergraph
#pragma GCC visibility pop

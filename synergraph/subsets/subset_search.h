#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "synergraph/core/execution.h"
#include "synergraph/subsets/pruning.h"

#pragma GCC visibility push(default)
namespace synergraph {

// These functions search for good subsets of more heads than a table of values can have. The best
// subset found need not be the best subset that exists.

/// Returns the value of some heads, given in rising order. Several threads call the function at
/// once.
using SubsetFunction = std::function<double(std::span<const int> heads)>;

struct SubsetSearchOptions {
  /// A size with at most this many subsets is searched completely, and its best subset is
  /// certified. The sizes 1 and H - 1 are always searched completely.
  std::int64_t exhaustive = 1000;
  /// Orders of all heads whose beginnings the search tries, in addition to greedy addition and
  /// removal.
  std::vector<std::vector<int>> orders = {};
  /// Also improve the best subset of each size, as find_subsets() says.
  bool improve = true;
  /// Receives subsets before their values are wanted, for values that are cheaper in batches.
  std::function<void(const std::vector<std::vector<int>>& subsets)> prepare = nullptr;
  Execution execution = {};
};

struct FoundSubset {
  std::vector<int> heads;  ///< in rising order
  double value = 0.0;
  bool certified = false;  ///< no subset of this size is better
};

struct FoundSubsets {
  std::vector<FoundSubset> best;  ///< the best subset found of every size 0 .. H
  PruningPath addition, removal;  ///< greedy paths; each loss is relative to the best subset found
  std::vector<PruningPath> orders;
  std::int64_t values = 0;  ///< number of distinct subsets whose value was computed
};

/// Starts from greedy addition, greedy removal and the given orders. Then the search improves the
/// best subset of each size in three ways. The search exchanges one head of the subset for another
/// head. The search adds one head to the best subset of the next smaller size. The search removes
/// one head from the best subset of the next larger size. The search ends when no size improves.
FoundSubsets find_subsets(int heads, const SubsetFunction& value,
                          const SubsetSearchOptions& options = {});

}  // namespace synergraph
#pragma GCC visibility pop

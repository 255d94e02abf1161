#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "synergraph/core/execution.h"
#include "synergraph/subsets/pruning.h"

#pragma GCC visibility push(default)
namespace synergraph {

// Good subsets of more heads than a table of values has: the best found, which need not be the best
// there is.

/// The value of some heads, given in rising order. Called from several threads.
using SubsetFunction = std::function<double(std::span<const int> heads)>;

struct SubsetSearchOptions {
  /// Sizes that have no more subsets than this are searched through, and their best certified. One
  /// head, and all but one, always are.
  std::int64_t exhaustive = 1000;
  /// Orders of all heads whose beginnings are looked at, beside greedy addition and removal.
  std::vector<std::vector<int>> orders = {};
  Execution execution = {};
};

struct FoundSubset {
  std::vector<int> heads;  ///< rising
  double value = 0.0;
  bool certified = false;  ///< no subset of this size is better
};

struct FoundSubsets {
  std::vector<FoundSubset> best;  ///< found of every size 0 .. H
  PruningPath addition, removal;  ///< greedy; losses are to the best found
  std::vector<PruningPath> orders;
  std::int64_t values = 0;  ///< asked for, each once
};

/// Starts from greedy addition, greedy removal and the orders given. Then the best of a size is
/// improved by every exchange of one of its heads for another, by every head more for the best of
/// one less, and by every head less for the best of one more, until no size can be.
FoundSubsets find_subsets(int heads, const SubsetFunction& value,
                          const SubsetSearchOptions& options = {});

}  // namespace synergraph
#pragma GCC visibility pop

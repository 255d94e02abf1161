#pragma once

#include <vector>

#include "synergraph/core/matrix.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// The keys that the queries of a layer may look at, as far as its attention tells: key j is
/// allowed to query i where some head gives it weight. What no head ever looks at is masked: later
/// tokens, a window's past, padding, other documents. A score that no mask forbids has a positive
/// weight in every head, unless it underflows.
class AllowedKeys {
 public:
  explicit AllowedKeys(int nodes);

  int nodes() const { return static_cast<int>(missing_.size()); }

  /// Allows where this lower triangle, without its first `skipped` rows and columns, is not 0.
  void add(ConstMatrixView attention, int skipped = 0);

  /// Whether every key up to the query itself is allowed.
  bool all() const { return masked_.empty(); }

  /// The allowed keys from `first` to the query, rising.
  void list(int query, int first, std::vector<int>& into) const;

  /// Those of all nodes but the first ones.
  AllowedKeys without_first(int count) const;

 private:
  std::size_t place(int query, int key) const {
    const auto row = static_cast<std::size_t>(query);
    return row * (row + 1) / 2 + static_cast<std::size_t>(key);
  }
  /// Forgets the triangle once nothing is masked.
  void settle();

  std::vector<int> missing_;  // keys of each query that are not allowed yet
  std::vector<bool> masked_;  // the lower triangle, row by row; empty: nothing is
};

}  // namespace synergraph
#pragma GCC visibility pop

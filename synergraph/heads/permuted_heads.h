#pragma once

#include <cstdint>

#include "synergraph/heads/measure.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// The heads of a system with the weights of each row in random order: each query spreads its
/// attention over the keys up to itself as evenly or sharply as before, but not to the same keys.
/// Every row of every head has an order of its own. The orders depend on the seed, layer, sample,
/// head and row alone. A null for what heads owe to where they look.
class PermutedHeads : public HeadSource {
 public:
  /// `heads` must outlive it. The first `fixed` nodes stand for no token and keep their column.
  PermutedHeads(HeadSource& heads, std::uint64_t seed, int layer, int sample, int fixed = 0)
      : heads_(heads), seed_(seed), layer_(layer), sample_(sample), fixed_(fixed) {}

  int heads() const override { return heads_.heads(); }
  int nodes() const override { return heads_.nodes(); }
  const MirroredMatrix& head(int h) override;
  const RowShares* row_shares() override { return heads_.row_shares(); }

 private:
  HeadSource& heads_;
  std::uint64_t seed_;
  int layer_;
  int sample_;
  int fixed_;
  MirroredMatrix permuted_;
};

}  // namespace synergraph
#pragma GCC visibility pop

#pragma once

#include <cstdint>
#include <optional>

#include "synergraph/heads/measure.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// The heads of a system with the weights of each row in random order: each query spreads its
/// attention over its allowed keys (see AllowedKeys) as evenly or sharply as before, but not to the
/// same keys. Every row of every head has an order of its own; a row in which a head moves nothing
/// stays as it is. The orders depend on the seed, layer, sample, head, row and the allowed keys
/// alone. A null for what heads owe to where they look.
class PermutedHeads : public HeadSource {
 public:
  /// `heads` must outlive it. The first `fixed` nodes stand for no token and keep their column.
  PermutedHeads(HeadSource& heads, std::uint64_t seed, int layer, int sample, int fixed = 0)
      : heads_(heads), seed_(seed), layer_(layer), sample_(sample), fixed_(fixed) {}

  int heads() const override { return heads_.heads(); }
  int nodes() const override { return heads_.nodes(); }
  const MirroredMatrix& head(int h) override;
  const RowShares* row_shares() override { return heads_.row_shares(); }
  AllowedKeys allowed_keys() override { return heads_.allowed_keys(); }

 private:
  HeadSource& heads_;
  std::uint64_t seed_;
  int layer_;
  int sample_;
  int fixed_;
  std::optional<AllowedKeys> allowed_;
  MirroredMatrix permuted_;
};

}  // namespace synergraph
#pragma GCC visibility pop

#include "synergraph/heads/permuted_heads.h"

#include <algorithm>
#include <utility>

#include "synergraph/core/random.h"

namespace synergraph {

const MirroredMatrix& PermutedHeads::head(int h) {
  const ConstMatrixView whole = heads_.head(h).view();
  Matrix rows(whole.rows, whole.rows);
  const std::uint64_t layer_and_head =
      (static_cast<std::uint64_t>(layer_) << 32U) + static_cast<std::uint32_t>(h);
  RandomSequence draws(seed_ ^ (layer_and_head + 1) * 0x9e3779b97f4a7c15U, Purpose::kNull,
                       static_cast<std::uint32_t>(sample_));
  for (int i = 0; i < whole.rows; ++i) {
    double* row = rows.row(i);
    std::copy_n(whole.row(i), i + 1, row);
    for (int j = i; j > fixed_; --j)
      std::swap(
          row[j],
          row[fixed_ + static_cast<int>(draws.below(static_cast<std::uint64_t>(j - fixed_) + 1))]);
  }
  permuted_ = MirroredMatrix(std::move(rows));
  return permuted_;
}

}  // namespace synergraph

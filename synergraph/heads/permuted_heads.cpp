#include "synergraph/heads/permuted_heads.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "synergraph/core/random.h"

namespace synergraph {

const MirroredMatrix& PermutedHeads::head(int h) {
  if (!allowed_) allowed_ = heads_.allowed_keys();
  const RowShares* shares = heads_.row_shares();
  const ConstMatrixView whole = heads_.head(h).view();
  Matrix rows(whole.rows, whole.rows);
  const std::uint64_t layer_and_head =
      (static_cast<std::uint64_t>(layer_) << 32U) + static_cast<std::uint32_t>(h);
  RandomSequence draws(seed_ ^ (layer_and_head + 1) * 0x9e3779b97f4a7c15U, Purpose::kNull,
                       static_cast<std::uint32_t>(sample_));
  std::vector<int> keys;
  for (int i = 0; i < whole.rows; ++i) {
    double* row = rows.row(i);
    std::copy_n(whole.row(i), i + 1, row);
    if (shares != nullptr && shares->heads(h, i) == 0.0) continue;
    allowed_->list(i, fixed_, keys);
    for (std::size_t k = keys.size(); k > 1; --k)
      std::swap(row[keys[k - 1]], row[keys[draws.below(k)]]);
  }
  permuted_ = MirroredMatrix(std::move(rows));
  return permuted_;
}

}  // namespace synergraph

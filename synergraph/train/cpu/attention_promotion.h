#pragma once

#include <vector>

#include "synergraph/core/aligned_memory.h"
#include "synergraph/core/kernels/attention_shape.h"
#include "synergraph/train/promotion.h"

namespace synergraph {

/// The promoted metrics of one layer and one sequence, and their gradient towards queries and keys.
/// The forward pass left the attention of the heads; metrics and their gradient towards the mean D
/// over the heads are computed in double precision. The softmax's backward pass makes of the
/// gradient G of D the gradient of the scores of head h, p (G - sum_k p_k G_k) / heads in each
/// row. Queries and keys get their products with these, in single precision as the task's gradient.
class AttentionPromotion {
 public:
  AttentionPromotion(const Promotion& promotion, const AttentionShape& shape);

  /// Adds to dqkv (3E x stride) the gradient of -scale sum of strength * metric, and to `sums` the
  /// metrics. `forward` is what attention_forward left; with dropout the dropped weights count as
  /// the others.
  void add(const AttentionBuffers& forward, double scale, float* dqkv, PromotedSums& sums);

 private:
  void combine(const AttentionBuffers& forward);
  bool differentiate(double scale, PromotedSums& sums);
  double add_entropy(double factor);
  void add_scores(int head, const AttentionBuffers& forward, float* dqkv);

  Promotion promotion_;
  AttentionShape shape_;
  AlignedVector<float> heads_;     ///< (H, n, n): probabilities
  std::vector<double> mean_;       ///< (n, n): D
  std::vector<double> gradient_;   ///< (n, n): of D
  AlignedVector<float> by_query_;  ///< (n, stride): gradient of one head's q . k
  AlignedVector<float> by_key_;    ///< its transpose
};

}  // namespace synergraph

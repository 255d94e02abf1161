#pragma once

#include "synergraph/core/matrix.h"
#include "synergraph/model/attention.h"

namespace synergraph {

/// The backward pass of attention_forward, with the memory it needs.
class AttentionBackward {
 public:
  explicit AttentionBackward(const AttentionShape& shape);

  /// dqkv (3E x stride) from dattended (E x stride) and what the forward pass left in `forward`.
  /// Both gradients are zero in the padding.
  void run(const AttentionBuffers& forward, const float* dattended, float* dqkv);

 private:
  void run_block(const AttentionBuffers& forward, const float* dattended, float* dqkv, int head,
                 const QueryBlock& block);

  AttentionShape shape_;
  int row_ = 0;  ///< floats of one position of one head: head_width, padded
  // Of one head, position-major: (stride x row_).
  AlignedVector<float> query_;
  AlignedVector<float> dout_;
  AlignedVector<float> dkey_;
  AlignedVector<float> dvalue_;
  AlignedVector<float> dscores_;  ///< of one block: (keys x lanes)
  AlignedVector<float> kept_;     ///< of one block: its weights less the dropped ones
  AlignedVector<float> scaled_;   ///< of one head: (head_width x stride)
};

}  // namespace synergraph

#pragma once

#include "synergraph/core/aligned_memory.h"
#include "synergraph/core/kernels/attention_shape.h"

namespace synergraph {

/// The backward pass of attention_forward, with the memory it needs.
class AttentionBackward {
 public:
  explicit AttentionBackward(const AttentionShape& shape);

  /// dqkv (3E x stride) from dattended (E x stride) and what the forward pass left in `forward`.
  /// Both gradients are zero in the padding.
  void run(const AttentionBuffers& forward, const float* dattended, float* dqkv);

 private:
  AttentionShape shape_;
  // See AttentionWorkspace.
  int row_;
  AlignedVector<float> query_;
  AlignedVector<float> dout_;
  AlignedVector<float> dkey_;
  AlignedVector<float> dvalue_;
  AlignedVector<float> dscores_;
  AlignedVector<float> kept_;
  AlignedVector<float> scaled_;
};

}  // namespace synergraph

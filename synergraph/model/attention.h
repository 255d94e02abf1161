#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "synergraph/model/config.h"
#include "synergraph/model/sequence_shape.h"

namespace synergraph {

/// Up to sixteen queries of one head and the keys they may look at.
struct QueryBlock {
  int first = 0;              ///< first query
  int lanes = 0;              ///< 16 or 8 queries, the last ones perhaps padding
  int keys = 0;               ///< keys 0 .. keys-1
  std::ptrdiff_t offset = 0;  ///< of its (keys x lanes) weights within the head's
};

/// How the attention of one sequence lies in memory. Activations are feature-major, as in
/// SequenceShape, so that every reduction of the softmax is vertical. Weights are kept transposed,
/// (keys x queries), in blocks of queries, and only as far as causality lets them differ from zero.
struct AttentionShape {
  int heads = 0;
  int head_width = 0;
  int length = 0;
  int columns = 0;               ///< of SequenceShape
  int stride = 0;                ///< of SequenceShape
  int blocks = 0;                ///< blocks of queries
  std::ptrdiff_t head_size = 0;  ///< floats of one head's weights
  std::ptrdiff_t mask_size = 0;  ///< bytes of one head's dropout mask
  std::uint64_t mask_bytes = 0;  ///< bytes of one sequence's dropout mask, a multiple of 8

  AttentionShape(const ModelConfig& config, const SequenceShape& shape);
  QueryBlock block(int index) const;
  /// Queries 8q .. 8q+7 have one mask byte for every key up to their last; these are at this
  /// offset.
  std::ptrdiff_t mask_offset(int q) const;
};

/// What the attention of one layer and one sequence reads and writes.
struct AttentionBuffers {
  const float* qkv;          ///< (3E x stride): queries, keys, values
  float* weights;            ///< (H, head_size): exp(score - maximum); negative where dropped
  float* inverse_sums;       ///< (H x stride): 1 / sum of weights of each query
  float* attended;           ///< (E x stride): the heads' outputs
  float* scratch;            ///< 16 * length floats
  const std::uint8_t* mask;  ///< kept elements, or null: no dropout
  float scale;               ///< factor of the kept ones
};

/// softmax(Q K^T / sqrt(d)) with causal mask and dropout, times V, for all heads.
void attention_forward(const AttentionShape& shape, const AttentionBuffers& buffers);

/// The attention matrices (H, n, n) of one sequence, rows are queries, zero above the diagonal.
void unpack_attention(const AttentionShape& shape, const float* weights, const float* inverse_sums,
                      float* matrices);

}  // namespace synergraph

#pragma once

#include <cstddef>
#include <cstdint>

#include "synergraph/core/kernels/sequence_shape.h"

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

  AttentionShape(int head_count, const SequenceShape& shape)
      : heads(head_count),
        head_width(shape.width / head_count),
        length(shape.length),
        columns(shape.columns),
        stride(shape.stride),
        blocks((columns + kBlock - 1) / kBlock) {
    const QueryBlock last = block(blocks - 1);
    head_size = last.offset + static_cast<std::ptrdiff_t>(last.keys) * last.lanes;
    mask_size = mask_offset(columns / kMaskQueries);
    mask_bytes = static_cast<std::uint64_t>((heads * mask_size + 7) / 8 * 8);
  }

  [[gnu::always_inline]] QueryBlock block(int index) const {
    const int first = index * kBlock;
    const int end = first + kBlock;
    const std::ptrdiff_t before = static_cast<std::ptrdiff_t>(index) * (index + 1) / 2;
    return {first, end < columns ? kBlock : columns - first, end < length ? end : length,
            before * kBlock * kBlock};
  }
  /// Queries 8q .. 8q+7 have one mask byte for every key up to their last; these are at this
  /// offset.
  [[gnu::always_inline]] std::ptrdiff_t mask_offset(int q) const {
    // Only the last eight queries can reach beyond the sequence.
    const std::ptrdiff_t whole = q < length / kMaskQueries ? q : length / kMaskQueries;
    return whole * (whole + 1) / 2 * kMaskQueries + (q > whole ? length : 0);
  }

 private:
  static constexpr int kBlock = 16;
  static constexpr int kMaskQueries = 8;  ///< a byte of the mask holds as many
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

/// What the backward pass of attention works in: one head's parts, position-major (stride x row),
/// and one block's.
struct AttentionWorkspace {
  int row;         ///< floats of one position of one head: head_width, padded
  float* query;    ///< (stride x row)
  float* dout;     ///< (stride x row)
  float* dkey;     ///< (stride x row)
  float* dvalue;   ///< (stride x row)
  float* dscores;  ///< of one block: (keys x lanes)
  float* kept;     ///< of one block: its weights less the dropped ones
  float* scaled;   ///< of one head: (head_width x stride)
};

}  // namespace synergraph

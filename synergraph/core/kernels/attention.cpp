#include "synergraph/core/kernels/simd.h"

// Causal softmax attention of one sequence and all heads, forward. Activations are feature-
// major: a vector register holds the same feature of eight queries, so that maximum, sum and
// division of the softmax need no shuffles. The scores of a block of up to sixteen queries stay
// in the first-level cache from the product with the keys to the product with the values. Keys
// that no query of the block may see are never computed. The multiply-adds of the two products
// and the exponentials limit it.

namespace synergraph::SYNERGRAPH_ISA {
namespace {

/// Eight queries of a block: scores in, weights out, one row of `stride` floats a key.
struct Column {
  float* weights;
  float* kept;               ///< the weights after dropout; null without dropout
  const std::uint8_t* mask;  ///< null without dropout
  int stride;
  int first;  ///< first query
  int keys;   ///< keys the last query sees
  int rows;   ///< keys of the block: beyond `keys` the weights are zero
};

/// All ones in the lanes whose query may see key first + offset.
[[gnu::always_inline]] inline Ints causal(int offset) {
  const Ints lane = {0, 1, 2, 3, 4, 5, 6, 7};
  return lane >= lane * 0 + offset;
}

/// Whether a product of this size, rounded, is so far from the exact one that a fused multiply-add
/// would make of the difference more than a small factor of all weights.
bool is_steep(Floats scaled_top) {
  const Ints large = maximum(scaled_top, -scaled_top) > splat<Floats>(0x1p20F);
  int any = 0;
  for (int lane = 0; lane < kFloats; ++lane) any |= large[lane];
  return any != 0;
}

/// Softmax without the division; returns the sums. `factor` multiplies the scores.
Floats softmax_column(const Column& column, float factor) {
  const Floats lowest = splat<Floats>(-3.0e38F);
  Floats top = lowest;
  const int whole = smaller(column.first, column.keys);
  for (int j = 0; j < whole; ++j)
    top = maximum(top, load<Floats>(column.weights + j * column.stride));
  for (int j = whole; j < column.keys; ++j) {
    const Floats score = load<Floats>(column.weights + j * column.stride);
    top = maximum(top, causal(j - column.first) ? score : lowest);
  }
  const Floats scaled_top = top * factor;
  const bool steep = is_steep(scaled_top);
  Floats sums = {};
  const auto weigh = [&](int j, bool diagonal) __attribute__((always_inline)) {
    float* row = column.weights + j * column.stride;
    const Floats score = load<Floats>(row);
    Floats weight = exp2(steep ? (score - top) * factor : score * factor - scaled_top);
    if (diagonal) weight = keep(weight, causal(j - column.first));
    sums += weight;
    if (column.mask == nullptr) {
      store(row, weight);
      return;
    }
    const Ints kept = expand_bits(column.mask[j]);
    const Ints sign = ~kept & INT32_MIN;
    store(row, from_bits(bits(weight) | sign));
    store(column.kept + j * column.stride, keep(weight, kept));
  };
  for (int j = 0; j < whole; ++j) weigh(j, false);
  for (int j = whole; j < column.keys; ++j) weigh(j, true);
  for (int j = column.keys; j < column.rows; ++j) {
    store(column.weights + j * column.stride, Floats{});
    if (column.mask != nullptr) store(column.kept + j * column.stride, Floats{});
  }
  return sums;
}

void block_forward(const AttentionShape& shape, const AttentionBuffers& buffers, int head,
                   const QueryBlock& block) {
  const int width = shape.head_width;
  const std::ptrdiff_t stride = shape.stride;
  const std::ptrdiff_t features = static_cast<std::ptrdiff_t>(shape.heads) * width;
  const float* query = buffers.qkv + head * width * stride;
  const float* key = query + features * stride;
  const float* value = key + features * stride;
  float* weights = buffers.weights + head * shape.head_size + block.offset;
  float* out = buffers.attended + head * width * stride + block.first;

  multiply({.rows = block.keys,
            .cols = block.lanes,
            .depth = width,
            .a = key,
            .a_stride = stride,
            .a_transposed = true,
            .b = query + block.first,
            .b_stride = stride,
            .c = weights,
            .c_stride = block.lanes});
  const float factor = kLog2E / __builtin_sqrtf(static_cast<float>(width));
  float* inverse = buffers.inverse_sums + head * stride + block.first;
  const std::uint8_t* mask = nullptr;
  for (int lane = 0; lane < block.lanes; lane += kFloats) {
    const int first = block.first + lane;
    if (buffers.mask != nullptr)
      mask = buffers.mask + head * shape.mask_size + shape.mask_offset(first / kFloats);
    const Floats sums = softmax_column({weights + lane, buffers.scratch + lane, mask, block.lanes,
                                        first, smaller(first + kFloats, shape.length), block.keys},
                                       factor);
    store(inverse + lane, 1.0F / sums);
  }
  multiply({.rows = width,
            .cols = block.lanes,
            .depth = block.keys,
            .a = value,
            .a_stride = stride,
            .b = mask == nullptr ? weights : buffers.scratch,
            .b_stride = block.lanes,
            .c = out,
            .c_stride = stride});
  for (int lane = 0; lane < block.lanes; lane += kFloats) {
    const Floats factors = load<Floats>(inverse + lane) * buffers.scale;
    for (int c = 0; c < width; ++c)
      store(out + c * stride + lane, load<Floats>(out + c * stride + lane) * factors);
  }
}

}  // namespace

void attention_forward(const AttentionShape& shape, const AttentionBuffers& buffers) {
  for (int head = 0; head < shape.heads; ++head)
    for (int index = 0; index < shape.blocks; ++index)
      block_forward(shape, buffers, head, shape.block(index));
}

void unpack_attention(const AttentionShape& shape, const float* weights, const float* inverse_sums,
                      float* matrices) {
  const std::ptrdiff_t n = shape.length;
  for (int head = 0; head < shape.heads; ++head) {
    float* matrix = matrices + head * n * n;
    for (int index = 0; index < shape.blocks; ++index) {
      const QueryBlock block = shape.block(index);
      const int queries = smaller(block.lanes, shape.length - block.first);
      transpose(block.keys, queries, weights + head * shape.head_size + block.offset, block.lanes,
                matrix + block.first * n, n);
      for (int i = block.first; i < block.first + queries; ++i)
        fill(matrix + i * n + block.keys, matrix + (i + 1) * n, 0.0F);
    }
    for (std::ptrdiff_t i = 0; i < n; ++i) {
      const float inverse = inverse_sums[head * shape.stride + i];
      for (std::ptrdiff_t j = 0; j <= i; ++j) matrix[i * n + j] *= inverse;
    }
  }
}

}  // namespace synergraph::SYNERGRAPH_ISA

#include "synergraph/model/attention.h"

#include <cmath>

#include "synergraph/model/gemm.h"
#include "synergraph/model/simd.h"

namespace synergraph {
namespace {

using simd::IntLanes;
using simd::kLanes;
using simd::Lanes;

constexpr int kBlock = 16;

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
[[gnu::always_inline]] inline IntLanes causal(int offset) {
  const IntLanes lane = {0, 1, 2, 3, 4, 5, 6, 7};
  return lane >= lane * 0 + offset;
}

/// Softmax without the division; returns the sums. `factor` multiplies the scores.
Lanes softmax_column(const Column& column, float factor) {
  const Lanes lowest = simd::splat(-3.0e38F);
  Lanes top = lowest;
  const int whole = std::min(column.first, column.keys);
  for (int j = 0; j < whole; ++j)
    top = simd::maximum(top, simd::load(column.weights + j * column.stride));
  for (int j = whole; j < column.keys; ++j) {
    const Lanes score = simd::load(column.weights + j * column.stride);
    top = simd::maximum(top, causal(j - column.first) ? score : lowest);
  }
  const Lanes scaled_top = top * factor;
  Lanes sums = {};
  const auto weigh = [&](int j, bool diagonal) __attribute__((always_inline)) {
    float* row = column.weights + j * column.stride;
    Lanes weight = simd::exp2(simd::load(row) * factor - scaled_top);
    if (diagonal) weight = simd::keep(weight, causal(j - column.first));
    sums += weight;
    if (column.mask == nullptr) {
      simd::store(row, weight);
      return;
    }
    const IntLanes kept = simd::expand_bits(column.mask[j]);
    const IntLanes sign = ~kept & INT32_MIN;
    simd::store(row, simd::from_bits(simd::bits(weight) | sign));
    simd::store(column.kept + j * column.stride, simd::keep(weight, kept));
  };
  for (int j = 0; j < whole; ++j) weigh(j, false);
  for (int j = whole; j < column.keys; ++j) weigh(j, true);
  for (int j = column.keys; j < column.rows; ++j) {
    simd::store(column.weights + j * column.stride, Lanes{});
    if (column.mask != nullptr) simd::store(column.kept + j * column.stride, Lanes{});
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
  const float factor = simd::kLog2E / std::sqrt(static_cast<float>(width));
  float* inverse = buffers.inverse_sums + head * stride + block.first;
  const std::uint8_t* mask = nullptr;
  for (int lane = 0; lane < block.lanes; lane += kLanes) {
    const int first = block.first + lane;
    if (buffers.mask != nullptr)
      mask = buffers.mask + head * shape.mask_size + shape.mask_offset(first / kLanes);
    const Lanes sums = softmax_column({weights + lane, buffers.scratch + lane, mask, block.lanes,
                                       first, std::min(first + kLanes, shape.length), block.keys},
                                      factor);
    simd::store(inverse + lane, 1.0F / sums);
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
  for (int lane = 0; lane < block.lanes; lane += kLanes) {
    const Lanes factors = simd::load(inverse + lane) * buffers.scale;
    for (int c = 0; c < width; ++c)
      simd::store(out + c * stride + lane, simd::load(out + c * stride + lane) * factors);
  }
}

}  // namespace

AttentionShape::AttentionShape(const ModelConfig& config, const SequenceShape& shape)
    : heads(config.heads),
      head_width(config.head_width()),
      length(config.length),
      columns(shape.columns),
      stride(shape.stride),
      blocks((columns + kBlock - 1) / kBlock) {
  const QueryBlock last = block(blocks - 1);
  head_size = last.offset + static_cast<std::ptrdiff_t>(last.keys) * last.lanes;
  mask_size = mask_offset(columns / kLanes);
  mask_bytes = static_cast<std::uint64_t>((heads * mask_size + 7) / 8 * 8);
}

QueryBlock AttentionShape::block(int index) const {
  const int first = index * kBlock;
  const std::ptrdiff_t before = static_cast<std::ptrdiff_t>(index) * (index + 1) / 2;
  return {first, std::min(kBlock, columns - first), std::min(first + kBlock, length),
          before * kBlock * kBlock};
}

std::ptrdiff_t AttentionShape::mask_offset(int q) const {
  // Only the last eight queries can reach beyond the sequence.
  const std::ptrdiff_t whole = std::min(q, length / kLanes);
  return whole * (whole + 1) / 2 * kLanes + (q > whole ? length : 0);
}

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
      const int queries = std::min(block.lanes, shape.length - block.first);
      transpose(block.keys, queries, weights + head * shape.head_size + block.offset, block.lanes,
                matrix + block.first * n, n);
      for (int i = block.first; i < block.first + queries; ++i)
        std::fill(matrix + i * n + block.keys, matrix + (i + 1) * n, 0.0F);
    }
    for (std::ptrdiff_t i = 0; i < n; ++i) {
      const float inverse = inverse_sums[head * shape.stride + i];
      for (std::ptrdiff_t j = 0; j <= i; ++j) matrix[i * n + j] *= inverse;
    }
  }
}

}  // namespace synergraph

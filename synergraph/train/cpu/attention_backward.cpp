#include "synergraph/train/cpu/attention_backward.h"

#include <cmath>

#include "synergraph/model/gemm.h"
#include "synergraph/model/simd.h"

namespace synergraph {
namespace {

using simd::IntLanes;
using simd::kLanes;
using simd::Lanes;

/// With w = exp(score - max) and s = scale / sum of w, the kept weights are w s. Per query:
/// dscore = w s / scale * (keep * scale * dweight - D), where D = dout . out of the query.
/// `dscores` holds dweight on entry. With dropout, `kept` gets the weights less the dropped ones.
template <bool kDropped>
void scores_backward(int keys, int stride, Lanes factor, Lanes shift, const float* weights,
                     float* dscores, float* kept) {
  const IntLanes magnitude = IntLanes{} + INT32_MAX;
  for (int j = 0; j < keys; ++j) {
    const Lanes weight = simd::load(weights + j * stride);
    Lanes gradient = simd::load(dscores + j * stride);
    if (kDropped) {
      const IntLanes dropped = simd::bits(weight) >> 31;
      gradient = simd::keep(gradient, ~dropped);
      simd::store(kept + j * stride, simd::keep(weight, ~dropped));
    }
    const Lanes positive = simd::from_bits(simd::bits(weight) & magnitude);
    simd::store(dscores + j * stride, positive * factor * (gradient - shift));
  }
}

/// Fetches the weights of a block that comes next: there are too many for the second-level cache.
void prefetch_block(const float* weights, const QueryBlock& block) {
  const float* end = weights + block.offset + static_cast<std::ptrdiff_t>(block.keys) * block.lanes;
  for (const float* line = weights + block.offset; line < end; line += 16) __builtin_prefetch(line);
}

std::size_t floats(std::ptrdiff_t rows, std::ptrdiff_t cols) {
  return static_cast<std::size_t>(rows * cols);
}

}  // namespace

AttentionBackward::AttentionBackward(const AttentionShape& shape)
    : shape_(shape),
      row_(shape.head_width <= 4 ? 4 : padded(shape.head_width)),
      query_(floats(shape.stride, row_)),
      dout_(floats(shape.stride, row_)),
      dkey_(floats(shape.stride, row_)),
      dvalue_(floats(shape.stride, row_)),
      dscores_(floats(shape.length, 16)),
      kept_(floats(shape.length, 16)),
      scaled_(floats(shape.head_width, shape.stride)) {}

void AttentionBackward::run_block(const AttentionBuffers& forward, const float* dattended,
                                  float* dqkv, int head, const QueryBlock& block) {
  const int width = shape_.head_width;
  const std::ptrdiff_t stride = shape_.stride;
  const std::ptrdiff_t features = static_cast<std::ptrdiff_t>(shape_.heads) * width;
  const std::ptrdiff_t start = head * width * stride;
  const float* key = forward.qkv + features * stride + start;
  const float* value = key + features * stride;
  const float* dout = dattended + start + block.first;
  const float* out = forward.attended + start + block.first;
  const float* weights = forward.weights + head * shape_.head_size + block.offset;
  const bool dropped = forward.mask != nullptr;
  const auto backward = dropped ? scores_backward<true> : scores_backward<false>;

  multiply({.rows = block.keys,
            .cols = block.lanes,
            .depth = width,
            .a = value,
            .a_stride = stride,
            .a_transposed = true,
            .b = dout,
            .b_stride = stride,
            .c = dscores_.data(),
            .c_stride = block.lanes});
  const float root = std::sqrt(static_cast<float>(width));
  for (int lane = 0; lane < block.lanes; lane += kLanes) {
    Lanes dot = {};
    for (int c = 0; c < width; ++c)
      dot += simd::load(dout + c * stride + lane) * simd::load(out + c * stride + lane);
    const Lanes inverse = simd::load(forward.inverse_sums + head * stride + block.first + lane);
    backward(block.keys, block.lanes, inverse * (forward.scale / root), dot / forward.scale,
             weights + lane, dscores_.data() + lane, kept_.data() + lane);
  }
  multiply({.rows = width,
            .cols = block.lanes,
            .depth = block.keys,
            .a = key,
            .a_stride = stride,
            .b = dscores_.data(),
            .b_stride = block.lanes,
            .c = dqkv + start + block.first,
            .c_stride = stride});
  // The last block sees every key: it comes first and starts the sums over queries.
  const bool first = block.keys == shape_.length;
  multiply({.rows = block.keys,
            .cols = width,
            .depth = block.lanes,
            .a = dscores_.data(),
            .a_stride = block.lanes,
            .b = query_.data() + block.first * row_,
            .b_stride = row_,
            .c = dkey_.data(),
            .c_stride = row_,
            .source = first ? nullptr : dkey_.data()});
  multiply({.rows = block.keys,
            .cols = width,
            .depth = block.lanes,
            .a = dropped ? kept_.data() : weights,
            .a_stride = block.lanes,
            .b = dout_.data() + block.first * row_,
            .b_stride = row_,
            .c = dvalue_.data(),
            .c_stride = row_,
            .source = first ? nullptr : dvalue_.data()});
}

void AttentionBackward::run(const AttentionBuffers& forward, const float* dattended, float* dqkv) {
  const int width = shape_.head_width;
  const std::ptrdiff_t stride = shape_.stride;
  const std::ptrdiff_t features = static_cast<std::ptrdiff_t>(shape_.heads) * width;
  for (int head = 0; head < shape_.heads; ++head) {
    const std::ptrdiff_t start = head * width * stride;
    const float* inverse = forward.inverse_sums + head * stride;
    for (int c = 0; c < width; ++c)
      for (int p = 0; p < shape_.columns; p += kLanes)
        simd::store(scaled_.data() + c * stride + p,
                    simd::load(dattended + start + c * stride + p) *
                        (simd::load(inverse + p) * forward.scale));
    transpose(width, shape_.columns, forward.qkv + start, stride, query_.data(), row_);
    transpose(width, shape_.columns, scaled_.data(), stride, dout_.data(), row_);
    for (int index = shape_.blocks - 1; index >= 0; --index) {
      const bool last = index == 0;
      if (!last || head + 1 < shape_.heads)
        prefetch_block(forward.weights + (last ? head + 1 : head) * shape_.head_size,
                       shape_.block(last ? shape_.blocks - 1 : index - 1));
      run_block(forward, dattended, dqkv, head, shape_.block(index));
    }
    float* dkey = dqkv + features * stride + start;
    float* dvalue = dkey + features * stride;
    transpose(shape_.length, width, dkey_.data(), row_, dkey, stride);
    transpose(shape_.length, width, dvalue_.data(), row_, dvalue, stride);
    for (int c = 0; c < width; ++c) {
      std::fill(dkey + c * stride + shape_.length, dkey + c * stride + shape_.columns, 0.0F);
      std::fill(dvalue + c * stride + shape_.length, dvalue + c * stride + shape_.columns, 0.0F);
    }
  }
}

}  // namespace synergraph

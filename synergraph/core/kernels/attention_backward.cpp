#include "synergraph/core/kernels/simd.h"

// Gradients of causal softmax attention of one sequence and all heads. The forward pass kept the
// unnormalised weights and the inverse sums, so nothing is exponentiated again. Blocks of
// queries are visited as in the forward pass; the gradients of keys and values are added up
// block by block. Four products per block limit it.

namespace synergraph::SYNERGRAPH_ISA {
namespace {

/// With w = exp(score - max) and s = scale / sum of w, the kept weights are w s. Per query:
/// dscore = w s / scale * (keep * scale * dweight - D), where D = dout . out of the query.
/// `dscores` holds dweight on entry. With dropout, `kept` gets the weights less the dropped ones.
template <bool kDropped>
void scores_backward(int keys, int stride, Floats factor, Floats shift, const float* weights,
                     float* dscores, float* kept) {
  const Ints magnitude = Ints{} + INT32_MAX;
  for (int j = 0; j < keys; ++j) {
    const Floats weight = load<Floats>(weights + j * stride);
    Floats gradient = load<Floats>(dscores + j * stride);
    if (kDropped) {
      const Ints dropped = bits(weight) >> 31;
      gradient = keep(gradient, ~dropped);
      store(kept + j * stride, keep(weight, ~dropped));
    }
    const Floats positive = from_bits(bits(weight) & magnitude);
    store(dscores + j * stride, positive * factor * (gradient - shift));
  }
}

/// Fetches the weights of a block that comes next: there are too many for the second-level cache.
void prefetch_block(const float* weights, const QueryBlock& block) {
  const float* end = weights + block.offset + static_cast<std::ptrdiff_t>(block.keys) * block.lanes;
  for (const float* line = weights + block.offset; line < end; line += 16) __builtin_prefetch(line);
}

void block_backward(const AttentionShape& shape, const AttentionWorkspace& work,
                    const AttentionBuffers& forward, const float* dattended, float* dqkv, int head,
                    const QueryBlock& block) {
  const int width = shape.head_width;
  const std::ptrdiff_t stride = shape.stride;
  const std::ptrdiff_t features = static_cast<std::ptrdiff_t>(shape.heads) * width;
  const std::ptrdiff_t start = head * width * stride;
  const float* key = forward.qkv + features * stride + start;
  const float* value = key + features * stride;
  const float* dout = dattended + start + block.first;
  const float* out = forward.attended + start + block.first;
  const float* weights = forward.weights + head * shape.head_size + block.offset;
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
            .c = work.dscores,
            .c_stride = block.lanes});
  const float root = __builtin_sqrtf(static_cast<float>(width));
  for (int lane = 0; lane < block.lanes; lane += kFloats) {
    Floats dot = {};
    for (int c = 0; c < width; ++c)
      dot += load<Floats>(dout + c * stride + lane) * load<Floats>(out + c * stride + lane);
    const Floats inverse = load<Floats>(forward.inverse_sums + head * stride + block.first + lane);
    backward(block.keys, block.lanes, inverse * (forward.scale / root), dot / forward.scale,
             weights + lane, work.dscores + lane, work.kept + lane);
  }
  multiply({.rows = width,
            .cols = block.lanes,
            .depth = block.keys,
            .a = key,
            .a_stride = stride,
            .b = work.dscores,
            .b_stride = block.lanes,
            .c = dqkv + start + block.first,
            .c_stride = stride});
  // The last block sees every key: it comes first and starts the sums over queries.
  const bool first = block.keys == shape.length;
  multiply({.rows = block.keys,
            .cols = width,
            .depth = block.lanes,
            .a = work.dscores,
            .a_stride = block.lanes,
            .b = work.query + block.first * work.row,
            .b_stride = work.row,
            .c = work.dkey,
            .c_stride = work.row,
            .source = first ? nullptr : work.dkey});
  multiply({.rows = block.keys,
            .cols = width,
            .depth = block.lanes,
            .a = dropped ? work.kept : weights,
            .a_stride = block.lanes,
            .b = work.dout + block.first * work.row,
            .b_stride = work.row,
            .c = work.dvalue,
            .c_stride = work.row,
            .source = first ? nullptr : work.dvalue});
}

}  // namespace

void attention_backward(const AttentionShape& shape, const AttentionWorkspace& work,
                        const AttentionBuffers& forward, const float* dattended, float* dqkv) {
  const int width = shape.head_width;
  const std::ptrdiff_t stride = shape.stride;
  const std::ptrdiff_t features = static_cast<std::ptrdiff_t>(shape.heads) * width;
  for (int head = 0; head < shape.heads; ++head) {
    const std::ptrdiff_t start = head * width * stride;
    const float* inverse = forward.inverse_sums + head * stride;
    for (int c = 0; c < width; ++c)
      for (int p = 0; p < shape.columns; p += kFloats)
        store(work.scaled + c * stride + p, load<Floats>(dattended + start + c * stride + p) *
                                                (load<Floats>(inverse + p) * forward.scale));
    transpose(width, shape.columns, forward.qkv + start, stride, work.query, work.row);
    transpose(width, shape.columns, work.scaled, stride, work.dout, work.row);
    for (int index = shape.blocks - 1; index >= 0; --index) {
      const bool last = index == 0;
      if (!last || head + 1 < shape.heads)
        prefetch_block(forward.weights + (last ? head + 1 : head) * shape.head_size,
                       shape.block(last ? shape.blocks - 1 : index - 1));
      block_backward(shape, work, forward, dattended, dqkv, head, shape.block(index));
    }
    float* dkey = dqkv + features * stride + start;
    float* dvalue = dkey + features * stride;
    transpose(shape.length, width, work.dkey, work.row, dkey, stride);
    transpose(shape.length, width, work.dvalue, work.row, dvalue, stride);
    for (int c = 0; c < width; ++c) {
      fill(dkey + c * stride + shape.length, dkey + c * stride + shape.columns, 0.0F);
      fill(dvalue + c * stride + shape.length, dvalue + c * stride + shape.columns, 0.0F);
    }
  }
}

}  // namespace synergraph::SYNERGRAPH_ISA

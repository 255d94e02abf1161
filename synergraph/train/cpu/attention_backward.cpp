#include "synergraph/train/cpu/attention_backward.h"

#include "synergraph/core/kernels/kernels.h"

namespace synergraph {
namespace {

std::size_t block_size(std::ptrdiff_t rows, std::ptrdiff_t cols) {
  return static_cast<std::size_t>(rows * cols);
}

}  // namespace

AttentionBackward::AttentionBackward(const AttentionShape& shape)
    : shape_(shape),
      row_(shape.head_width <= 4 ? 4 : padded(shape.head_width)),
      query_(block_size(shape.stride, row_)),
      dout_(block_size(shape.stride, row_)),
      dkey_(block_size(shape.stride, row_)),
      dvalue_(block_size(shape.stride, row_)),
      dscores_(block_size(shape.length, 16)),
      kept_(block_size(shape.length, 16)),
      scaled_(block_size(shape.head_width, shape.stride)) {}

void AttentionBackward::run(const AttentionBuffers& forward, const float* dattended, float* dqkv) {
  kernels().attention_backward(shape_,
                               {row_, query_.data(), dout_.data(), dkey_.data(), dvalue_.data(),
                                dscores_.data(), kept_.data(), scaled_.data()},
                               forward, dattended, dqkv);
}

}  // namespace synergraph

#include "synergraph/train/cpu/attention_backward.h"

#include "synergraph/core/kernels/kernels.h"

namespace synergraph {
namespace {

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

void AttentionBackward::run(const AttentionBuffers& forward, const float* dattended, float* dqkv) {
  kernels().attention_backward(shape_,
                               {row_, query_.data(), dout_.data(), dkey_.data(), dvalue_.data(),
                                dscores_.data(), kept_.data(), scaled_.data()},
                               forward, dattended, dqkv);
}

}  // namespace synergraph

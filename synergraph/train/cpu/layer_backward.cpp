#include "synergraph/train/cpu/layer_backward.h"

#include "synergraph/model/gemm.h"
#include "synergraph/model/simd.h"

namespace synergraph {

using simd::kLanes;
using simd::Lanes;

namespace {

/// Calls values(k) for the eight entries from k on, in order, and gives the sum of each row to
/// sums[row].
template <class Values>
void sum_rows(int rows, const SequenceShape& shape, const Values& values, float* sums, Into into) {
  for (int row = 0; row < rows; ++row) {
    const std::ptrdiff_t start = static_cast<std::ptrdiff_t>(row) * shape.stride;
    Lanes total = {};
    for (std::ptrdiff_t k = start; k < start + shape.columns; k += kLanes) total += values(k);
    sums[row] = (into == Into::kAdd ? sums[row] : 0.0F) + simd::sum(total);
  }
}

}  // namespace

void rms_norm_backward(const SequenceShape& shape, const float* x, const float* gain,
                       const float* inverse_rms, const float* dy, float* dx, float* dgain,
                       Into into) {
  const std::ptrdiff_t stride = shape.stride;
  // y = g x r with r = (mean x^2 + eps)^(-1/2), so dx = r g dy - x r^3 / E sum_c g dy x.
  for (int p = 0; p < shape.columns; p += kLanes) {
    Lanes even = {};
    Lanes odd = {};
    for (int c = 0; c < shape.width; ++c)
      (c % 2 == 0 ? even : odd) +=
          simd::load(dy + c * stride + p) * simd::load(x + c * stride + p) * gain[c];
    const Lanes r = simd::load(inverse_rms + p);
    const Lanes shrink = (even + odd) * r * r * r / static_cast<float>(shape.width);
    for (int c = 0; c < shape.width; ++c) {
      const std::ptrdiff_t k = c * stride + p;
      simd::store(dx + k, simd::load(dx + k) + simd::load(dy + k) * (r * gain[c]) -
                              simd::load(x + k) * shrink);
    }
  }
  for (int c = 0; c < shape.width; ++c) {
    Lanes total = {};
    for (int p = 0; p < shape.columns; p += kLanes)
      total += simd::load(dy + c * stride + p) * simd::load(x + c * stride + p) *
               simd::load(inverse_rms + p);
    dgain[c] = (into == Into::kAdd ? dgain[c] : 0.0F) + simd::sum(total);
  }
}

void bias_backward(int rows, const SequenceShape& shape, const float* dy, float* dbias, Into into) {
  sum_rows(
      rows, shape, [&](std::ptrdiff_t k) { return simd::load(dy + k); }, dbias, into);
}

void relu_backward(int rows, const SequenceShape& shape, const float* hidden, float* dh,
                   float* dbias, Into into) {
  const auto pass = [&](std::ptrdiff_t k) {
    const Lanes value = simd::keep(simd::load(dh + k), simd::load(hidden + k) > Lanes{});
    simd::store(dh + k, value);
    return value;
  };
  sum_rows(rows, shape, pass, dbias, into);
}

void dropout_backward(const SequenceShape& shape, const float* dx, const std::uint8_t* mask,
                      float scale, float* dy, float* dbias, Into into) {
  const auto pass = [&](std::ptrdiff_t k) {
    const Lanes value = simd::keep(simd::load(dx + k), simd::expand_bits(*mask++)) * scale;
    simd::store(dy + k, value);
    return value;
  };
  sum_rows(shape.width, shape, pass, dbias, into);
}

void embed_backward(const SequenceShape& shape, const std::int32_t* tokens, const float* dx,
                    float* scratch, float* dtoken, float* dposition, std::ptrdiff_t row,
                    Into into) {
  transpose(shape.width, shape.length, dx, shape.stride, scratch, shape.width);
  for (int p = 0; p < shape.length; ++p) {
    const float* from = scratch + static_cast<std::ptrdiff_t>(p) * shape.width;
    float* token = dtoken + tokens[p] * row;
    float* position = dposition + p * row;
    for (int c = 0; c < shape.width; ++c) token[c] += from[c];
    for (int c = 0; c < shape.width; ++c)
      position[c] = (into == Into::kAdd ? position[c] : 0.0F) + from[c];
  }
}

}  // namespace synergraph

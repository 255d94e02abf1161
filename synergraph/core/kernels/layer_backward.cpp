#include "synergraph/core/kernels/simd.h"

// Gradients of normalisation, bias, ReLU, dropout and embeddings of one sequence. Each function
// reads its (features x positions) activations once and writes the gradient in place where it
// can. Sums run along positions in a fixed order. Cache bandwidth limits all of them.

namespace synergraph::SYNERGRAPH_ISA {
namespace {

/// Calls values(k) for the eight entries from k on, in order, and gives the sum of each row to
/// sums[row].
template <class Values>
void sum_rows(int rows, const SequenceShape& shape, const Values& values, float* sums, Into into) {
  for (int row = 0; row < rows; ++row) {
    const std::ptrdiff_t start = static_cast<std::ptrdiff_t>(row) * shape.stride;
    Floats total = {};
    for (std::ptrdiff_t k = start; k < start + shape.columns; k += kFloats) total += values(k);
    sums[row] = (into == Into::kAdd ? sums[row] : 0.0F) + sum(total);
  }
}

}  // namespace

void rms_norm_backward(const SequenceShape& shape, const float* x, const float* gain,
                       const float* inverse_rms, const float* dy, float* dx, float* dgain,
                       Into into) {
  const std::ptrdiff_t stride = shape.stride;
  // y = g x r with r = (mean x^2 + eps)^(-1/2), so dx = r g dy - x r^3 / E sum_c g dy x.
  for (int p = 0; p < shape.columns; p += kFloats) {
    Floats even = {};
    Floats odd = {};
    for (int c = 0; c < shape.width; ++c)
      (c % 2 == 0 ? even : odd) +=
          load<Floats>(dy + c * stride + p) * load<Floats>(x + c * stride + p) * gain[c];
    const Floats r = load<Floats>(inverse_rms + p);
    const Floats shrink = (even + odd) * r * r * r / static_cast<float>(shape.width);
    for (int c = 0; c < shape.width; ++c) {
      const std::ptrdiff_t k = c * stride + p;
      store(dx + k, load<Floats>(dx + k) + load<Floats>(dy + k) * (r * gain[c]) -
                        load<Floats>(x + k) * shrink);
    }
  }
  for (int c = 0; c < shape.width; ++c) {
    Floats total = {};
    for (int p = 0; p < shape.columns; p += kFloats)
      total += load<Floats>(dy + c * stride + p) * load<Floats>(x + c * stride + p) *
               load<Floats>(inverse_rms + p);
    dgain[c] = (into == Into::kAdd ? dgain[c] : 0.0F) + sum(total);
  }
}

void bias_backward(int rows, const SequenceShape& shape, const float* dy, float* dbias, Into into) {
  sum_rows(
      rows, shape, [&](std::ptrdiff_t k) { return load<Floats>(dy + k); }, dbias, into);
}

void relu_backward(int rows, const SequenceShape& shape, const float* hidden, float* dh,
                   float* dbias, Into into) {
  const auto pass = [&](std::ptrdiff_t k) {
    const Floats value = keep(load<Floats>(dh + k), load<Floats>(hidden + k) > Floats{});
    store(dh + k, value);
    return value;
  };
  sum_rows(rows, shape, pass, dbias, into);
}

void dropout_backward(const SequenceShape& shape, const float* dx, const std::uint8_t* mask,
                      float scale, float* dy, float* dbias, Into into) {
  const auto pass = [&](std::ptrdiff_t k) {
    const Floats value = keep(load<Floats>(dx + k), expand_bits(*mask++)) * scale;
    store(dy + k, value);
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

void scale_positions_backward(const SequenceShape& shape, int rows, const float* x, const float* r,
                              const float* y, const float* bias, float* dy, float* dx) {
  const std::ptrdiff_t stride = shape.stride;
  // dx gets -x r^2 / E (dy . r u) through r.
  for (int p = 0; p < shape.columns; p += kFloats) {
    const Floats scale = load<Floats>(r + p);
    Floats even = {};
    Floats odd = {};
    for (int k = 0; k < rows; ++k) {
      float* from = dy + k * stride + p;
      const Floats product = load<Floats>(y + k * stride + p) - bias[k];
      (k % 2 == 0 ? even : odd) += load<Floats>(from) * product;
      store(from, load<Floats>(from) * scale);
    }
    const Floats shrink = (even + odd) * scale * scale / static_cast<float>(shape.width);
    for (int c = 0; c < shape.width; ++c) {
      float* to = dx + c * stride + p;
      store(to, load<Floats>(to) - load<Floats>(x + c * stride + p) * shrink);
    }
  }
}

void scaled_weight_backward(int rows, int cols, const float* weight, const float* gain,
                            const float* dscaled, std::ptrdiff_t row, float* dweight,
                            float* dgain) {
  fill(dgain, dgain + cols, 0.0F);
  for (int k = 0; k < rows; ++k) {
    const float* from = dscaled + k * row;
    for (int c = 0; c < cols; ++c) {
      dgain[c] += weight[k * cols + c] * from[c];
      dweight[k * cols + c] = gain[c] * from[c];
    }
  }
}

}  // namespace synergraph::SYNERGRAPH_ISA

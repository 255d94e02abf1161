#include "synergraph/core/kernels/simd.h"

// The parts of a layer's forward pass that are not products: embedding, RMSNorm, residual sums
// with dropout, cross-entropy. Activations are (features x positions), so that a reduction over
// features is vertical in the vector registers. Cache bandwidth limits all but cross-entropy,
// which exponentials limit.

namespace synergraph::SYNERGRAPH_ISA {

void embed(const SequenceShape& shape, const std::int32_t* tokens, const float* token_embedding,
           const float* position_embedding, std::ptrdiff_t row, float* scratch, float* x) {
  for (int p = 0; p < shape.length; ++p) {
    const float* token = token_embedding + tokens[p] * row;
    const float* position = position_embedding + p * row;
    float* sum = scratch + static_cast<std::ptrdiff_t>(p) * shape.width;
    for (int c = 0; c < shape.width; ++c) sum[c] = token[c] + position[c];
  }
  transpose(shape.length, shape.width, scratch, shape.width, x, shape.stride);
  for (int c = 0; c < shape.width; ++c) {
    float* feature = x + static_cast<std::ptrdiff_t>(c) * shape.stride;
    fill(feature + shape.length, feature + shape.columns, 0.0F);
  }
}

void inverse_rms(const SequenceShape& shape, const float* x, float* r) {
  const std::ptrdiff_t stride = shape.stride;
  for (int p = 0; p < shape.columns; p += kFloats) {
    Floats even = {};
    Floats odd = {};
    for (int c = 0; c < shape.width; ++c) {
      const Floats value = load<Floats>(x + c * stride + p);
      (c % 2 == 0 ? even : odd) += value * value;
    }
    const Floats mean = (even + odd) / static_cast<float>(shape.width) + kNormEpsilon;
    for (int lane = 0; lane < kFloats; ++lane) r[p + lane] = 1.0F / __builtin_sqrtf(mean[lane]);
  }
}

void rms_norm(const SequenceShape& shape, const float* x, const float* gain, float* r, float* y) {
  inverse_rms(shape, x, r);
  for (int c = 0; c < shape.width; ++c) {
    const std::ptrdiff_t row = static_cast<std::ptrdiff_t>(c) * shape.stride;
    for (int p = 0; p < shape.columns; p += kFloats)
      store(y + row + p, load<Floats>(x + row + p) * load<Floats>(r + p) * gain[c]);
  }
}

void scale_positions(const SequenceShape& shape, int rows, const float* x, const float* r,
                     const float* bias, float least, float* y) {
  const Floats lowest = splat<Floats>(least);
  for (int k = 0; k < rows; ++k) {
    const std::ptrdiff_t row = static_cast<std::ptrdiff_t>(k) * shape.stride;
    for (int p = 0; p < shape.columns; p += kFloats) {
      const Floats value = load<Floats>(x + row + p) * load<Floats>(r + p) + splat<Floats>(bias[k]);
      store(y + row + p, value < lowest ? lowest : value);
    }
  }
}

void add_residual(const SequenceShape& shape, const float* x, const float* y,
                  const std::uint8_t* mask, float scale, float* sum) {
  for (int c = 0; c < shape.width; ++c) {
    const std::ptrdiff_t row = static_cast<std::ptrdiff_t>(c) * shape.stride;
    for (int p = 0; p < shape.columns; p += kFloats) {
      Floats value = load<Floats>(y + row + p);
      if (mask != nullptr) value = keep(value, expand_bits(*mask++)) * scale;
      store(sum + row + p, load<Floats>(x + row + p) + value);
    }
  }
}

SequenceLoss cross_entropy(const SequenceShape& shape, int vocabulary, const std::int32_t* targets,
                           float gradient_scale, float* logits) {
  const std::ptrdiff_t stride = shape.stride;
  SequenceLoss total;
  for (int p = 0; p < shape.columns; p += kFloats) {
    Floats top = load<Floats>(logits + p);
    Ints best = {};
    for (int v = 1; v < vocabulary; ++v) {
      const Floats value = load<Floats>(logits + v * stride + p);
      const Ints above = value > top;
      top = above ? value : top;
      best = above ? best * 0 + v : best;
    }
    Floats answers = {};
    const int positions = smaller(kFloats, shape.length - p);
    for (int lane = 0; lane < positions; ++lane)
      if (targets[p + lane] >= 0) answers[lane] = logits[targets[p + lane] * stride + p + lane];
    // The largest term is 1: leaving it out keeps the digits of a loss that is almost zero.
    Floats even = {};
    Floats odd = {};
    for (int v = 0; v < vocabulary; ++v) {
      float* row = logits + v * stride + p;
      const Floats term = exp2((load<Floats>(row) - top) * kLog2E);
      if (gradient_scale != 0.0F) store(row, term);
      (v % 2 == 0 ? even : odd) += keep(term, best != best * 0 + v);
    }
    const Floats rest = even + odd;
    Floats factor = {};
    for (int lane = 0; lane < positions; ++lane) {
      if (targets[p + lane] < 0) continue;
      total.loss += __builtin_log1p(static_cast<double>(rest[lane])) + (top[lane] - answers[lane]);
      total.correct += best[lane] == targets[p + lane] ? 1 : 0;
      factor[lane] = gradient_scale / (1.0F + rest[lane]);
    }
    if (gradient_scale == 0.0F) continue;
    for (int v = 0; v < vocabulary; ++v) {
      float* row = logits + v * stride + p;
      store(row, load<Floats>(row) * factor);
    }
    for (int lane = 0; lane < positions; ++lane)
      if (targets[p + lane] >= 0) logits[targets[p + lane] * stride + p + lane] -= gradient_scale;
  }
  return total;
}

}  // namespace synergraph::SYNERGRAPH_ISA

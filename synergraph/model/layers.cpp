#include "synergraph/model/layers.h"

#include <algorithm>
#include <cmath>

#include "synergraph/model/gemm.h"
#include "synergraph/model/simd.h"

namespace synergraph {

using simd::IntLanes;
using simd::kLanes;
using simd::Lanes;

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
    std::fill(feature + shape.length, feature + shape.columns, 0.0F);
  }
}

void inverse_rms(const SequenceShape& shape, const float* x, float* r) {
  const std::ptrdiff_t stride = shape.stride;
  for (int p = 0; p < shape.columns; p += kLanes) {
    Lanes even = {};
    Lanes odd = {};
    for (int c = 0; c < shape.width; ++c) {
      const Lanes value = simd::load(x + c * stride + p);
      (c % 2 == 0 ? even : odd) += value * value;
    }
    const Lanes mean = (even + odd) / static_cast<float>(shape.width) + kNormEpsilon;
    for (int lane = 0; lane < kLanes; ++lane) r[p + lane] = 1.0F / std::sqrt(mean[lane]);
  }
}

void rms_norm(const SequenceShape& shape, const float* x, const float* gain, float* r, float* y) {
  inverse_rms(shape, x, r);
  for (int c = 0; c < shape.width; ++c) {
    const std::ptrdiff_t row = static_cast<std::ptrdiff_t>(c) * shape.stride;
    for (int p = 0; p < shape.columns; p += kLanes)
      simd::store(y + row + p, simd::load(x + row + p) * simd::load(r + p) * gain[c]);
  }
}

void add_residual(const SequenceShape& shape, const float* x, const float* y,
                  const std::uint8_t* mask, float scale, float* sum) {
  for (int c = 0; c < shape.width; ++c) {
    const std::ptrdiff_t row = static_cast<std::ptrdiff_t>(c) * shape.stride;
    for (int p = 0; p < shape.columns; p += kLanes) {
      Lanes value = simd::load(y + row + p);
      if (mask != nullptr) value = simd::keep(value, simd::expand_bits(*mask++)) * scale;
      simd::store(sum + row + p, simd::load(x + row + p) + value);
    }
  }
}

SequenceLoss cross_entropy(const SequenceShape& shape, int vocabulary, const std::int32_t* targets,
                           float gradient_scale, float* logits) {
  const std::ptrdiff_t stride = shape.stride;
  SequenceLoss total;
  for (int p = 0; p < shape.columns; p += kLanes) {
    Lanes top = simd::load(logits + p);
    IntLanes best = {};
    for (int v = 1; v < vocabulary; ++v) {
      const Lanes value = simd::load(logits + v * stride + p);
      const IntLanes larger = value > top;
      top = larger ? value : top;
      best = larger ? best * 0 + v : best;
    }
    Lanes answers = {};
    const int positions = std::min(kLanes, shape.length - p);
    for (int lane = 0; lane < positions; ++lane)
      answers[lane] = logits[targets[p + lane] * stride + p + lane];
    // The largest term is 1: leaving it out keeps the digits of a loss that is almost zero.
    Lanes even = {};
    Lanes odd = {};
    for (int v = 0; v < vocabulary; ++v) {
      float* row = logits + v * stride + p;
      const Lanes term = simd::exp2((simd::load(row) - top) * simd::kLog2E);
      if (gradient_scale != 0.0F) simd::store(row, term);
      (v % 2 == 0 ? even : odd) += simd::keep(term, best != best * 0 + v);
    }
    const Lanes rest = even + odd;
    Lanes factor = {};
    for (int lane = 0; lane < positions; ++lane) {
      total.loss += std::log1p(static_cast<double>(rest[lane])) + (top[lane] - answers[lane]);
      total.correct += best[lane] == targets[p + lane] ? 1 : 0;
      factor[lane] = gradient_scale / (1.0F + rest[lane]);
    }
    if (gradient_scale == 0.0F) continue;
    for (int v = 0; v < vocabulary; ++v) {
      float* row = logits + v * stride + p;
      simd::store(row, simd::load(row) * factor);
    }
    for (int lane = 0; lane < positions; ++lane)
      logits[targets[p + lane] * stride + p + lane] -= gradient_scale;
  }
  return total;
}

}  // namespace synergraph

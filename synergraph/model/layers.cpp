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
           const float* position_embedding, float* scratch, float* x) {
  for (int p = 0; p < shape.length; ++p) {
    const float* token = token_embedding + static_cast<std::ptrdiff_t>(tokens[p]) * shape.width;
    const float* position = position_embedding + static_cast<std::ptrdiff_t>(p) * shape.width;
    float* row = scratch + static_cast<std::ptrdiff_t>(p) * shape.width;
    for (int c = 0; c < shape.width; ++c) row[c] = token[c] + position[c];
  }
  transpose(shape.length, shape.width, scratch, shape.width, x, shape.stride);
  for (int c = 0; c < shape.width; ++c)
    std::fill(x + c * shape.stride + shape.length, x + (c + 1) * shape.stride, 0.0F);
}

void rms_norm(const SequenceShape& shape, const float* x, const float* gain, float* inverse_rms,
              float* y) {
  const std::ptrdiff_t stride = shape.stride;
  for (int p = 0; p < shape.stride; p += kLanes) {
    Lanes even = {};
    Lanes odd = {};
    for (int c = 0; c < shape.width; ++c) {
      const Lanes value = simd::load(x + c * stride + p);
      (c % 2 == 0 ? even : odd) += value * value;
    }
    const Lanes mean = (even + odd) / static_cast<float>(shape.width) + kNormEpsilon;
    Lanes inverse;
    for (int lane = 0; lane < kLanes; ++lane) inverse[lane] = 1.0F / std::sqrt(mean[lane]);
    simd::store(inverse_rms + p, inverse);
    for (int c = 0; c < shape.width; ++c)
      simd::store(y + c * stride + p, simd::load(x + c * stride + p) * inverse * gain[c]);
  }
}

void add_residual(const SequenceShape& shape, const float* x, const float* y,
                  const std::uint8_t* mask, float scale, float* sum) {
  const std::ptrdiff_t count = static_cast<std::ptrdiff_t>(shape.width) * shape.stride;
  for (std::ptrdiff_t k = 0; k < count; k += kLanes) {
    Lanes value = simd::load(y + k);
    if (mask != nullptr) value = simd::keep(value, simd::expand_bits(mask[k / kLanes])) * scale;
    simd::store(sum + k, simd::load(x + k) + value);
  }
}

SequenceLoss cross_entropy(const SequenceShape& shape, int vocabulary, const std::int32_t* targets,
                           float gradient_scale, float* logits) {
  const std::ptrdiff_t stride = shape.stride;
  SequenceLoss total;
  for (int p = 0; p < shape.stride; p += kLanes) {
    Lanes top = simd::load(logits + p);
    IntLanes best = {};
    for (int v = 1; v < vocabulary; ++v) {
      const Lanes value = simd::load(logits + v * stride + p);
      const IntLanes larger = value > top;
      top = larger ? value : top;
      best = larger ? best * 0 + v : best;
    }
    // The largest term is 1: leaving it out keeps the digits of a loss that is almost zero.
    Lanes even = {};
    Lanes odd = {};
    for (int v = 0; v < vocabulary; ++v) {
      const Lanes value = simd::load(logits + v * stride + p);
      const Lanes term = simd::exp2((value - top) * simd::kLog2E);
      (v % 2 == 0 ? even : odd) += simd::keep(term, best != best * 0 + v);
    }
    const Lanes rest = even + odd;
    const int positions = std::min(kLanes, shape.length - p);
    Lanes factor = {};
    for (int lane = 0; lane < positions; ++lane) {
      const float answer = logits[targets[p + lane] * stride + p + lane];
      total.loss += std::log1p(static_cast<double>(rest[lane])) + (top[lane] - answer);
      total.correct += best[lane] == targets[p + lane] ? 1 : 0;
      factor[lane] = gradient_scale / (1.0F + rest[lane]);
    }
    if (gradient_scale == 0.0F) continue;
    for (int v = 0; v < vocabulary; ++v) {
      float* row = logits + v * stride + p;
      simd::store(row, simd::exp2((simd::load(row) - top) * simd::kLog2E) * factor);
    }
    for (int lane = 0; lane < positions; ++lane)
      logits[targets[p + lane] * stride + p + lane] -= gradient_scale;
  }
  return total;
}

}  // namespace synergraph

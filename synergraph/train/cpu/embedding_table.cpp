#include "synergraph/train/cpu/embedding_table.h"

#include <algorithm>

#include "synergraph/core/parallel.h"
#include "synergraph/model/gemm.h"
#include "synergraph/model/simd.h"
#include "synergraph/train/cpu/layer_backward.h"

namespace synergraph {
namespace {

using simd::kLanes;
using simd::Lanes;

constexpr int kRowsPerTask = 48;

std::size_t floats(std::ptrdiff_t rows, std::ptrdiff_t cols) {
  return static_cast<std::size_t>(rows * cols);
}

/// Calls body(first, count) for blocks of rows. Results do not depend on the blocks.
template <class Body>
void for_row_blocks(int rows, int threads, const Body& body) {
  const int blocks = (rows + kRowsPerTask - 1) / kRowsPerTask;
  parallel_for(static_cast<std::size_t>(blocks), threads, [&](std::size_t block, int) {
    const int first = static_cast<int>(block) * kRowsPerTask;
    body(first, std::min(kRowsPerTask, rows - first));
  });
}

}  // namespace

EmbeddingTable::EmbeddingTable(const ModelConfig& config)
    : config_(config),
      stride_(padded(3 * config.width)),
      values_(floats(rows(), stride_)),
      scaled_(
          std::max(floats(config.width, stride_), floats(3 * config.width, padded(config.width)))),
      dembeddings_(floats(rows(), padded(config.width))),
      dscaled_(floats(3 * config.width, padded(config.width))) {}

bool EmbeddingTable::pays(const ModelConfig& config, double positions) {
  return 4.0 * (static_cast<double>(config.vocabulary) + config.length) < positions;
}

void EmbeddingTable::prepare(const ModelTensors<const float>& model,
                             const ModelTensors<const float>& transposed, int threads) {
  const int e = config_.width;
  for (int c = 0; c < e; ++c) {
    const float* from = transposed.layers[0].qkv_weight + static_cast<std::ptrdiff_t>(c) * 3 * e;
    float* to = scaled_.data() + static_cast<std::ptrdiff_t>(c) * stride_;
    for (int k = 0; k < 3 * e; ++k) to[k] = from[k] * model.layers[0].norm1[c];
  }
  for_row_blocks(rows(), threads, [&](int first, int count) {
    multiply({.rows = count,
              .cols = 3 * e,
              .depth = e,
              .a = model.token_embedding + static_cast<std::ptrdiff_t>(first) * e,
              .a_stride = e,
              .b = scaled_.data(),
              .b_stride = stride_,
              .c = values_.data() + static_cast<std::ptrdiff_t>(first) * stride_,
              .c_stride = stride_});
  });
}

void EmbeddingTable::forward(const SequenceShape& shape, const std::int32_t* tokens,
                             const LayerTensors<const float>& model, const LayerActivations& layer,
                             float* scratch) const {
  const int size = 3 * config_.width;
  inverse_rms(shape, layer.x, layer.inverse_rms1);
  embed({shape.length, size}, tokens, values_.data(), values_.data() + positions(), stride_,
        scratch, layer.qkv);
  for (int k = 0; k < size; ++k) {
    float* to = layer.qkv + static_cast<std::ptrdiff_t>(k) * shape.stride;
    for (int p = 0; p < shape.columns; p += kLanes)
      simd::store(to + p, simd::load(to + p) * simd::load(layer.inverse_rms1 + p) +
                              simd::splat(model.qkv_bias[k]));
  }
}

void EmbeddingTable::backward(const SequenceShape& shape, const std::int32_t* tokens,
                              const LayerTensors<const float>& model, const LayerActivations& layer,
                              float* dqkv, float* scratch, float* dx, float* dtable) const {
  const std::ptrdiff_t stride = shape.stride;
  const int size = 3 * config_.width;
  // With y = r u, u linear in x: dx gets -x r^2 / E (dy . y) through r. Here y = qkv - bias.
  for (int p = 0; p < shape.columns; p += kLanes) {
    const Lanes r = simd::load(layer.inverse_rms1 + p);
    Lanes even = {};
    Lanes odd = {};
    for (int k = 0; k < size; ++k) {
      float* dy = dqkv + k * stride + p;
      const Lanes y = simd::load(layer.qkv + k * stride + p) - model.qkv_bias[k];
      (k % 2 == 0 ? even : odd) += simd::load(dy) * y;
      simd::store(dy, simd::load(dy) * r);
    }
    const Lanes shrink = (even + odd) * r * r / static_cast<float>(shape.width);
    for (int c = 0; c < shape.width; ++c) {
      float* to = dx + c * stride + p;
      simd::store(to, simd::load(to) - simd::load(layer.x + c * stride + p) * shrink);
    }
  }
  embed_backward({shape.length, size}, tokens, dqkv, scratch, dtable, dtable + positions(), stride_,
                 Into::kAdd);
}

void EmbeddingTable::finish(const ModelTensors<const float>& model, const float* dtable,
                            int threads, const ModelTensors<float>& gradient) {
  const int e = config_.width;
  const int row = padded(e);
  const float* gain = model.layers[0].norm1;
  const float* weight = model.layers[0].qkv_weight;
  for (int k = 0; k < 3 * e; ++k)
    for (int c = 0; c < e; ++c)
      scaled_[floats(k, row) + static_cast<std::size_t>(c)] = weight[k * e + c] * gain[c];
  for_row_blocks(rows(), threads, [&](int first, int count) {
    float* dembeddings = dembeddings_.data() + static_cast<std::ptrdiff_t>(first) * row;
    multiply({.rows = count,
              .cols = e,
              .depth = 3 * e,
              .a = dtable + static_cast<std::ptrdiff_t>(first) * stride_,
              .a_stride = stride_,
              .b = scaled_.data(),
              .b_stride = row,
              .c = dembeddings,
              .c_stride = row});
    for (int r = 0; r < count; ++r) {
      float* to = gradient.token_embedding + static_cast<std::ptrdiff_t>(first + r) * e;
      for (int c = 0; c < e; ++c) to[c] += dembeddings[r * row + c];
    }
  });
  for_row_blocks(3 * e, threads, [&](int first, int count) {
    multiply({.rows = count,
              .cols = e,
              .depth = rows(),
              .a = dtable + first,
              .a_stride = stride_,
              .a_transposed = true,
              .b = model.token_embedding,
              .b_stride = e,
              .c = dscaled_.data() + static_cast<std::ptrdiff_t>(first) * row,
              .c_stride = row});
  });
  float* dgain = gradient.layers[0].norm1;
  float* dweight = gradient.layers[0].qkv_weight;
  std::fill_n(dgain, e, 0.0F);
  for (int k = 0; k < 3 * e; ++k) {
    const float* from = dscaled_.data() + static_cast<std::ptrdiff_t>(k) * row;
    for (int c = 0; c < e; ++c) {
      dgain[c] += weight[k * e + c] * from[c];
      dweight[k * e + c] = gain[c] * from[c];
    }
  }
}

}  // namespace synergraph

#include "synergraph/train/cpu/embedding_table.h"

#include <algorithm>
#include <limits>

#include "synergraph/core/kernels/kernels.h"
#include "synergraph/core/parallel.h"

namespace synergraph {
namespace {

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
    kernels().multiply({.rows = count,
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
  kernels().inverse_rms(shape, layer.x, layer.inverse_rms1);
  kernels().embed({shape.length, size}, tokens, values_.data(), values_.data() + positions(),
                  stride_, scratch, layer.qkv);
  kernels().scale_positions(shape, size, layer.qkv, layer.inverse_rms1, model.qkv_bias,
                            -std::numeric_limits<float>::infinity(), layer.qkv);
}

void EmbeddingTable::backward(const SequenceShape& shape, const std::int32_t* tokens,
                              const LayerTensors<const float>& model, const LayerActivations& layer,
                              float* dqkv, float* scratch, float* dx, float* dtable) const {
  const int size = 3 * config_.width;
  kernels().scale_positions_backward(shape, size, layer.x, layer.inverse_rms1, layer.qkv,
                                     model.qkv_bias, dqkv, dx);
  kernels().embed_backward({shape.length, size}, tokens, dqkv, scratch, dtable,
                           dtable + positions(), stride_, Into::kAdd);
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
    kernels().multiply({.rows = count,
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
    kernels().multiply({.rows = count,
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
  kernels().scaled_weight_backward(3 * e, e, weight, gain, dscaled_.data(), row,
                                   gradient.layers[0].qkv_weight, gradient.layers[0].norm1);
}

}  // namespace synergraph

#include "synergraph/model/sequence_pass.h"

#include <sys/mman.h>

#include <algorithm>
#include <memory>

#include "synergraph/core/kernels/kernels.h"

namespace synergraph {
namespace {

/// Weights (rows x depth) times the columns of `in`, plus a bias.
Gemm linear(const SequenceShape& shape, int rows, int depth, const float* weights, const float* in,
            float* out, const float* bias) {
  return {.rows = rows,
          .cols = shape.columns,
          .depth = depth,
          .a = weights,
          .a_stride = depth,
          .b = in,
          .b_stride = shape.stride,
          .c = out,
          .c_stride = shape.stride,
          .bias = bias};
}

std::size_t rounded(std::ptrdiff_t count) {
  return static_cast<std::size_t>((count + 15) / 16 * 16);
}

/// Zeros for `count` floats in `memory`, on large pages where the system has them: the activations
/// are more than the processor's tables of small pages hold.
float* zeros_on_large_pages(ScratchVector<float>& memory, std::size_t count) {
  constexpr std::size_t page = std::size_t{1} << 21U;
  const std::size_t bytes = (count * sizeof(float) + page - 1) / page * page;
  memory = ScratchVector<float>((bytes + page) / sizeof(float));
  void* start = memory.data();
  std::size_t space = bytes + page;
  std::align(page, bytes, start, space);
#ifdef MADV_HUGEPAGE
  madvise(start, bytes, MADV_HUGEPAGE);  // only advice: without effect, things still work
#endif
  auto* zeros = static_cast<float*>(start);
  std::fill_n(zeros, count, 0.0F);
  return zeros;
}

/// Hands out pieces of one allocation; with null memory it only counts.
struct Carver {
  float* memory = nullptr;
  std::size_t used = 0;

  float* take(std::ptrdiff_t count) {
    float* piece = memory == nullptr ? nullptr : memory + used;
    used += rounded(count);
    return piece;
  }
};

}  // namespace

SequencePass::SequencePass(const ModelConfig& config, Keep keep)
    : config_(config),
      keep_(keep),
      shape_(config.length, config.width),
      attention_(config.heads, shape_) {
  const std::ptrdiff_t stride = shape_.stride;
  const std::ptrdiff_t e = config.width;
  const auto sets =
      keep == Keep::kAllLayers ? static_cast<std::size_t>(config.layers) : std::size_t{1};
  const auto mask_bytes = static_cast<std::size_t>(attention_.mask_bytes) +
                          static_cast<std::size_t>(shape_.mask_bytes());
  masks_.resize(sets * mask_bytes);
  layers_.resize(sets);
  const auto carve = [&](Carver carver) {
    output_ = carver.take(e * stride);
    for (std::size_t set = 0; set < sets; ++set) {
      LayerActivations& layer = layers_[set];
      layer.x = keep == Keep::kAllLayers ? carver.take(e * stride) : output_;
      layer.inverse_rms1 = carver.take(stride);
      layer.normed1 = carver.take(e * stride);
      layer.qkv = carver.take(3 * e * stride);
      layer.weights = carver.take(config.heads * attention_.head_size);
      layer.inverse_sums = carver.take(config.heads * stride);
      layer.attended = carver.take(e * stride);
      layer.x2 = carver.take(e * stride);
      layer.inverse_rms2 = carver.take(stride);
      layer.normed2 = carver.take(e * stride);
      layer.hidden = carver.take(config.hidden * stride);
      layer.attention_mask = masks_.data() + set * mask_bytes;
      layer.mlp_mask = layer.attention_mask + attention_.mask_bytes;
    }
    logits_ = carver.take(config.vocabulary * stride);
    scratch_ =
        carver.take(std::max<std::ptrdiff_t>((3 * e + config.hidden) * stride, 16 * shape_.length));
    return carver.used;
  };
  carve(Carver{zeros_on_large_pages(memory_, carve(Carver{}))});
}

void SequencePass::start(const ModelTensors<const float>& model, const std::int32_t* tokens) {
  kernels().embed(shape_, tokens, model.token_embedding, model.position_embedding, config_.width,
                  scratch_, layers_[0].x);
}

void SequencePass::project(const ModelTensors<const float>& model, int layer) {
  const LayerTensors<const float>& weights = model.layers[static_cast<std::size_t>(layer)];
  const LayerActivations& a = this->layer(layer);
  const int e = config_.width;
  kernels().rms_norm(shape_, a.x, weights.norm1, a.inverse_rms1, a.normed1);
  kernels().multiply(
      linear(shape_, 3 * e, e, weights.qkv_weight, a.normed1, a.qkv, weights.qkv_bias));
}

void SequencePass::run_heads(int layer, const Dropout& dropout, int sequence) {
  const LayerActivations& a = this->layer(layer);
  const bool drop = dropout.active();
  if (drop)
    dropout.mask(layer, DropoutSite::kAttention,
                 static_cast<std::uint64_t>(sequence) * attention_.mask_bytes,
                 static_cast<std::size_t>(attention_.mask_bytes), a.attention_mask);
  kernels().attention_forward(attention_, {a.qkv, a.weights, a.inverse_sums, a.attended, scratch_,
                                           drop ? a.attention_mask : nullptr, dropout.scale()});
}

void SequencePass::add_heads(const ModelTensors<const float>& model, int layer) {
  const LayerTensors<const float>& weights = model.layers[static_cast<std::size_t>(layer)];
  const LayerActivations& a = this->layer(layer);
  const int e = config_.width;
  Gemm attended = linear(shape_, e, e, weights.attn_weight, a.attended, a.x2, weights.attn_bias);
  attended.source = a.x;
  kernels().multiply(attended);
}

void SequencePass::feed_forward(const ModelTensors<const float>& model, int layer,
                                const Dropout& dropout, int sequence) {
  const LayerTensors<const float>& weights = model.layers[static_cast<std::size_t>(layer)];
  const LayerActivations& a = this->layer(layer);
  const int e = config_.width;
  const bool drop = dropout.active();
  if (drop) {
    const auto bytes = static_cast<std::size_t>(shape_.mask_bytes());
    dropout.mask(layer, DropoutSite::kMlp, static_cast<std::uint64_t>(sequence) * bytes, bytes,
                 a.mlp_mask);
  }
  kernels().rms_norm(shape_, a.x2, weights.norm2, a.inverse_rms2, a.normed2);
  Gemm hidden =
      linear(shape_, config_.hidden, e, weights.mlp_in, a.normed2, a.hidden, weights.mlp_in_bias);
  hidden.relu = true;
  kernels().multiply(hidden);
  kernels().multiply(
      linear(shape_, e, config_.hidden, weights.mlp_out, a.hidden, scratch_, weights.mlp_out_bias));
  const auto next = static_cast<std::size_t>(layer) + 1;
  kernels().add_residual(shape_, a.x2, scratch_, drop ? a.mlp_mask : nullptr, dropout.scale(),
                         next < layers_.size() ? layers_[next].x : output_);
}

void SequencePass::finish(const ModelTensors<const float>& model) {
  kernels().multiply(linear(shape_, config_.vocabulary, config_.width, model.output_weight, output_,
                            logits_, model.output_bias));
}

}  // namespace synergraph

#include "synergraph/train/cpu/sequence_backward.h"

#include <algorithm>

namespace synergraph {
namespace {

std::size_t rows_of(int stride, int rows) {
  return static_cast<std::size_t>(stride) * static_cast<std::size_t>(rows);
}

}  // namespace

void transpose_weights(const ModelConfig& config, const ModelTensors<const float>& model,
                       const ModelTensors<float>& transposed) {
  const int e = config.width;
  const int f = config.hidden;
  for (std::size_t layer = 0; layer < model.layers.size(); ++layer) {
    const LayerTensors<const float>& from = model.layers[layer];
    const LayerTensors<float>& to = transposed.layers[layer];
    kernels().transpose(3 * e, e, from.qkv_weight, e, to.qkv_weight, 3 * e);
    kernels().transpose(e, e, from.attn_weight, e, to.attn_weight, e);
    kernels().transpose(f, e, from.mlp_in, e, to.mlp_in, f);
    kernels().transpose(e, f, from.mlp_out, f, to.mlp_out, e);
  }
  kernels().transpose(config.vocabulary, e, model.output_weight, e, transposed.output_weight,
                      config.vocabulary);
}

SequenceBackward::SequenceBackward(const ModelConfig& config, const Promotion& promotion)
    : pass_(config, SequencePass::Keep::kAllLayers),
      attention_(pass_.attention()),
      promotes_(promotion.active()),
      promotion_(promotion, pass_.attention()),
      transposed_(rows_of(config.length, spread(std::max(config.width, config.hidden)))),
      dx_(rows_of(pass_.shape().stride, config.width)),
      dy_(rows_of(pass_.shape().stride, config.width)),
      dwide_(rows_of(pass_.shape().stride, std::max(3 * config.width, config.hidden))) {}

void SequenceBackward::weight_backward(const Linear& linear, Into into) {
  const SequenceShape& shape = pass_.shape();
  const int stride = spread(linear.in);
  kernels().transpose(linear.in, shape.length, linear.x, shape.stride, transposed_.data(), stride);
  Gemm gemm{.rows = linear.rows,
            .cols = linear.in,
            .depth = shape.length,
            .a = linear.dy,
            .a_stride = shape.stride,
            .b = transposed_.data(),
            .b_stride = stride,
            .c = linear.dweight,
            .c_stride = linear.in,
            .source = into == Into::kAdd ? linear.dweight : nullptr};
  if (linear.in % 8 == 0) {
    kernels().multiply(gemm);
    return;
  }
  // Rows that are not whole vectors: the product would write beyond their ends.
  dweight_.resize(std::max(dweight_.size(), rows_of(stride, linear.rows)));
  gemm.c = dweight_.data();
  gemm.c_stride = stride;
  gemm.source = nullptr;
  kernels().multiply(gemm);
  for (int row = 0; row < linear.rows; ++row) {
    float* to = linear.dweight + static_cast<std::ptrdiff_t>(row) * linear.in;
    const float* from = dweight_.data() + static_cast<std::ptrdiff_t>(row) * stride;
    for (int c = 0; c < linear.in; ++c) to[c] = (into == Into::kAdd ? to[c] : 0.0F) + from[c];
  }
}

void SequenceBackward::linear_backward(const Linear& linear, Into into) {
  weight_backward(linear, into);
  kernels().multiply({.rows = linear.in,
                      .cols = pass_.shape().columns,
                      .depth = linear.rows,
                      .a = linear.transposed,
                      .a_stride = linear.rows,
                      .b = linear.dy,
                      .b_stride = pass_.shape().stride,
                      .c = linear.dx,
                      .c_stride = pass_.shape().stride});
}

/// dx_ holds the gradient of the layer's output on entry, of x2 on return.
void SequenceBackward::mlp_backward(const StepParameters& parameters, int layer,
                                    const Dropout& dropout, const GradientSum& sum, Into into) {
  const auto index = static_cast<std::size_t>(layer);
  const LayerTensors<const float>& model = parameters.model.layers[index];
  const LayerTensors<const float>& transposed = parameters.transposed.layers[index];
  const LayerTensors<float>& gradient = sum.tensors.layers[index];
  const LayerActivations& activations = pass_.layer(layer);
  const SequenceShape& shape = pass_.shape();
  const int e = pass_.config().width;
  const int f = pass_.config().hidden;
  const float* dy = dx_.data();
  if (dropout.active()) {
    kernels().dropout_backward(shape, dx_.data(), activations.mlp_mask, dropout.scale(), dy_.data(),
                               gradient.mlp_out_bias, into);
    dy = dy_.data();
  } else {
    kernels().bias_backward(e, shape, dy, gradient.mlp_out_bias, into);
  }
  linear_backward(
      {e, f, activations.hidden, transposed.mlp_out, dy, dwide_.data(), gradient.mlp_out}, into);
  kernels().relu_backward(f, shape, activations.hidden, dwide_.data(), gradient.mlp_in_bias, into);
  linear_backward(
      {f, e, activations.normed2, transposed.mlp_in, dwide_.data(), dy_.data(), gradient.mlp_in},
      into);
  kernels().rms_norm_backward(shape, activations.x2, model.norm2, activations.inverse_rms2,
                              dy_.data(), dx_.data(), gradient.norm2, into);
}

/// dx_ holds the gradient of x2 on entry, of x on return.
void SequenceBackward::attention_backward(const StepParameters& parameters, int layer,
                                          const SequenceTask& task, const GradientSum& sum,
                                          Into into) {
  const auto index = static_cast<std::size_t>(layer);
  const LayerTensors<const float>& model = parameters.model.layers[index];
  const LayerTensors<const float>& transposed = parameters.transposed.layers[index];
  const LayerTensors<float>& gradient = sum.tensors.layers[index];
  const LayerActivations& activations = pass_.layer(layer);
  const SequenceShape& shape = pass_.shape();
  const int e = pass_.config().width;
  kernels().bias_backward(e, shape, dx_.data(), gradient.attn_bias, into);
  linear_backward({e, e, activations.attended, transposed.attn_weight, dx_.data(), dy_.data(),
                   gradient.attn_weight},
                  into);
  const Dropout& dropout = task.dropout;
  const AttentionBuffers forward{activations.qkv,
                                 activations.weights,
                                 activations.inverse_sums,
                                 activations.attended,
                                 nullptr,
                                 dropout.active() ? activations.attention_mask : nullptr,
                                 dropout.scale()};
  attention_.run(forward, dy_.data(), dwide_.data());
  if (promotes_) promotion_.add(forward, task.promotion_scale, dwide_.data(), promoted_);
  kernels().bias_backward(e, shape, dwide_.data(), gradient.qkv_bias, into);
  kernels().bias_backward(e, shape,
                          dwide_.data() + 2 * e * static_cast<std::ptrdiff_t>(shape.stride),
                          gradient.qkv_bias + 2 * e, into);
  // A bias of the keys adds the same to all scores of a query, which the softmax does not see: its
  // gradient is zero, and rounding must not make Adam follow noise.
  std::fill(gradient.qkv_bias + e, gradient.qkv_bias + 2 * e, 0.0F);
  if (layer == 0 && parameters.table != nullptr) {
    parameters.table->backward(shape, task.tokens, model, activations, dwide_.data(),
                               pass_.scratch(), dx_.data(), sum.table);
    return;
  }
  linear_backward({3 * e, e, activations.normed1, transposed.qkv_weight, dwide_.data(), dy_.data(),
                   gradient.qkv_weight},
                  into);
  kernels().rms_norm_backward(shape, activations.x, model.norm1, activations.inverse_rms1,
                              dy_.data(), dx_.data(), gradient.norm1, into);
}

SequenceLoss SequenceBackward::run(const StepParameters& parameters, const SequenceTask& task,
                                   const GradientSum& gradient, Into into, Turn& turn) {
  const ModelConfig& config = pass_.config();
  const SequenceShape& shape = pass_.shape();
  const ModelTensors<const float>& model = parameters.model;
  promoted_ = {};
  pass_.start(model, task.tokens);
  for (int layer = 0; layer < config.layers; ++layer) {
    if (layer == 0 && parameters.table != nullptr)
      parameters.table->forward(shape, task.tokens, model.layers[0], pass_.layer(0),
                                pass_.scratch());
    else
      pass_.project(model, layer);
    pass_.attend(model, layer, task.dropout, task.place);
  }
  pass_.finish(model);
  const SequenceLoss loss = kernels().cross_entropy(shape, config.vocabulary, task.targets,
                                                    task.gradient_scale, pass_.logits());

  const ModelTensors<float>& sum = gradient.tensors;
  turn.enter();
  kernels().bias_backward(config.vocabulary, shape, pass_.logits(), sum.output_bias, into);
  linear_backward(
      {config.vocabulary, config.width, pass_.output(), parameters.transposed.output_weight,
       pass_.logits(), dx_.data(), sum.output_weight},
      into);
  turn.leave();
  for (int layer = config.layers - 1; layer >= 0; --layer) {
    turn.enter();
    mlp_backward(parameters, layer, task.dropout, gradient, into);
    turn.leave();
    turn.enter();
    attention_backward(parameters, layer, task, gradient, into);
    turn.leave();
  }
  turn.enter();
  kernels().embed_backward(shape, task.tokens, dx_.data(), transposed_.data(), sum.token_embedding,
                           sum.position_embedding, config.width, into);
  turn.leave();
  return loss;
}

}  // namespace synergraph

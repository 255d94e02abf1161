#pragma once

#include <cstdint>
#include <vector>

#include "synergraph/core/aligned_memory.h"
#include "synergraph/core/kernels/attention_shape.h"
#include "synergraph/model/dropout.h"
#include "synergraph/model/parameters.h"

#pragma GCC visibility push(default)  // for other components
namespace synergraph {

/// The results of one layer on one sequence, kept for the backward pass. All arrays are
/// feature-major.
struct LayerActivations {
  float* x;             ///< (E) input of the layer
  float* inverse_rms1;  ///< (1)
  float* normed1;       ///< (E) rms1(x)
  float* qkv;           ///< (3E) queries, keys, values
  float* weights;       ///< see AttentionBuffers
  float* inverse_sums;  ///< (H)
  float* attended;      ///< (E) the heads' outputs
  float* x2;            ///< (E) x + projection of attended
  float* inverse_rms2;  ///< (1)
  float* normed2;       ///< (E) rms2(x2)
  float* hidden;        ///< (F) after the ReLU
  std::uint8_t* attention_mask;
  std::uint8_t* mlp_mask;
};

/// The forward pass of one sequence at a time, in memory that stays in cache.
class SequencePass {
 public:
  enum class Keep { kNothing, kAllLayers };  ///< layers share one set of buffers, or not

  SequencePass(const ModelConfig& config, Keep keep);

  /// Embedding of a sequence of config.length tokens; then run_layer for every layer in order.
  void start(const ModelTensors<const float>& model, const std::int32_t* tokens);
  /// `sequence` is the place in the batch: it chooses the dropout masks.
  void run_layer(const ModelTensors<const float>& model, int layer, const Dropout& dropout,
                 int sequence) {
    project(model, layer);
    attend(model, layer, dropout, sequence);
  }
  /// The two halves of run_layer: project() computes queries, keys and values; attend() does the
  /// rest.
  void project(const ModelTensors<const float>& model, int layer);
  void attend(const ModelTensors<const float>& model, int layer, const Dropout& dropout,
              int sequence) {
    run_heads(layer, dropout, sequence);
    add_heads(model, layer);
    feed_forward(model, layer, dropout, sequence);
  }
  /// The three parts of attend: the outputs of all heads (attended), their projection added to the
  /// residual stream (x2), and the MLP.
  void run_heads(int layer, const Dropout& dropout, int sequence);
  void add_heads(const ModelTensors<const float>& model, int layer);
  void feed_forward(const ModelTensors<const float>& model, int layer, const Dropout& dropout,
                    int sequence);
  /// Fills logits() after the last layer.
  void finish(const ModelTensors<const float>& model);

  const ModelConfig& config() const { return config_; }
  const SequenceShape& shape() const { return shape_; }
  const AttentionShape& attention() const { return attention_; }
  const LayerActivations& layer(int index) const {
    return layers_[keep_ == Keep::kAllLayers ? static_cast<std::size_t>(index) : 0];
  }
  float* output() { return output_; }    ///< (E) output of the last layer
  float* logits() { return logits_; }    ///< (V)
  float* scratch() { return scratch_; }  ///< at least 3E + F rows, and 16 * length floats

 private:
  ModelConfig config_;
  Keep keep_;
  SequenceShape shape_;
  AttentionShape attention_;
  ScratchVector<float> memory_;
  std::vector<std::uint8_t> masks_;
  std::vector<LayerActivations> layers_;
  float* output_ = nullptr;
  float* logits_ = nullptr;
  float* scratch_ = nullptr;
};

}  // namespace synergraph
#pragma GCC visibility pop

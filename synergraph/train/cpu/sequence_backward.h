#pragma once

#include "synergraph/model/sequence_pass.h"
#include "synergraph/train/cpu/attention_backward.h"
#include "synergraph/train/cpu/layer_backward.h"
#include "synergraph/train/cpu/turn.h"

namespace synergraph {

/// A sequence of a batch and what to make of it.
struct SequenceTask {
  const std::int32_t* tokens;
  const std::int32_t* targets;
  int place;  ///< in the batch: chooses the dropout masks
  const Dropout& dropout;
  float gradient_scale;
};

/// Writes the transpose of every linear map's weight into a buffer of the same layout. The backward
/// pass multiplies by transposes; made once a step, their rows lie in a row for all sequences.
void transpose_weights(const ModelConfig& config, const ModelTensors<const float>& model,
                       const ModelTensors<float>& transposed);

/// Forward and backward pass of one sequence: what one thread works with.
class SequenceBackward {
 public:
  explicit SequenceBackward(const ModelConfig& config);

  /// The sequence's loss; its gradient, times gradient_scale, goes into `gradient`, each part when
  /// it is this sequence's turn. `transposed` comes from transpose_weights. With Into::kReplace the
  /// token embedding's gradient is still added: only its rows that occur are touched.
  SequenceLoss run(const ModelTensors<const float>& model,
                   const ModelTensors<const float>& transposed, const SequenceTask& task,
                   const ModelTensors<float>& gradient, Into into, Turn& turn);

 private:
  /// Gradients of y = W x, W (rows x in): dW gets dy x^T, and dx = W^T dy.
  struct Linear {
    int rows;
    int in;
    const float* x;
    const float* transposed;  ///< W^T (in x rows)
    const float* dy;
    float* dx;
    float* dweight;
  };
  void linear_backward(const Linear& linear, Into into);
  void weight_backward(const Linear& linear, Into into);
  void mlp_backward(const LayerTensors<const float>& model,
                    const LayerTensors<const float>& transposed,
                    const LayerActivations& activations, const Dropout& dropout,
                    const LayerTensors<float>& gradient, Into into);
  void attention_backward(const LayerTensors<const float>& model,
                          const LayerTensors<const float>& transposed,
                          const LayerActivations& activations, const Dropout& dropout,
                          const LayerTensors<float>& gradient, Into into);

  SequencePass pass_;
  AttentionBackward attention_;
  AlignedVector<float> transposed_;  ///< (length x max(E, F))
  AlignedVector<float> dx_;          ///< (E x stride): gradient at the current depth
  AlignedVector<float> dy_;          ///< (E x stride)
  AlignedVector<float> dwide_;       ///< (max(3E, F) x stride)
  AlignedVector<float> dweight_;     ///< one weight's gradient, rows padded to whole vectors
};

}  // namespace synergraph

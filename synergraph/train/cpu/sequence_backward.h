#pragma once

#include "synergraph/core/kernels/kernels.h"
#include "synergraph/model/sequence_pass.h"
#include "synergraph/train/cpu/attention_backward.h"
#include "synergraph/train/cpu/attention_promotion.h"
#include "synergraph/train/cpu/embedding_table.h"
#include "synergraph/train/cpu/turn.h"

namespace synergraph {

/// A sequence of a batch and what to make of it.
struct SequenceTask {
  const std::int32_t* tokens;
  const std::int32_t* targets;
  int place;  ///< in the batch: chooses the dropout masks
  const Dropout& dropout;
  float gradient_scale;
  double promotion_scale = 0.0;  ///< of the promoted metrics of a layer
};

/// The parameters of a step in all the forms that its sequences read.
struct StepParameters {
  ModelTensors<const float> model;
  ModelTensors<const float> transposed;  ///< see transpose_weights
  const EmbeddingTable* table;           ///< or null: the first layer is like the others
};

/// A sum of gradients.
struct GradientSum {
  ModelTensors<float> tensors;
  float* table;  ///< of the EmbeddingTable, if there is one
};

/// Writes the transpose of every linear map's weight into a buffer of the same layout. The backward
/// pass multiplies by transposes; made once a step, their rows lie in a row for all sequences.
void transpose_weights(const ModelConfig& config, const ModelTensors<const float>& model,
                       const ModelTensors<float>& transposed);

/// Forward and backward pass of one sequence: what one thread works with.
class SequenceBackward {
 public:
  explicit SequenceBackward(const ModelConfig& config, const Promotion& promotion = {});

  /// The sequence's loss; its gradient, times gradient_scale, goes into `gradient`, each part
  /// when it is this sequence's turn. With Into::kReplace the gradients of the token embedding and
  /// of the table are still added: only the rows that occur are touched. With a table, the
  /// gradients that its finish() sets are left as they are.
  SequenceLoss run(const StepParameters& parameters, const SequenceTask& task,
                   const GradientSum& gradient, Into into, Turn& turn);
  /// The promoted metrics of the last sequence.
  const PromotedSums& promoted() const { return promoted_; }

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
  void mlp_backward(const StepParameters& parameters, int layer, const Dropout& dropout,
                    const GradientSum& gradient, Into into);
  void attention_backward(const StepParameters& parameters, int layer, const SequenceTask& task,
                          const GradientSum& gradient, Into into);

  SequencePass pass_;
  AttentionBackward attention_;
  bool promotes_;
  AttentionPromotion promotion_;
  PromotedSums promoted_;
  AlignedVector<float> transposed_;  ///< (length x max(E, F))
  AlignedVector<float> dx_;          ///< (E x stride): gradient at the current depth
  AlignedVector<float> dy_;          ///< (E x stride)
  AlignedVector<float> dwide_;       ///< (max(3E, F) x stride)
  AlignedVector<float> dweight_;     ///< one weight's gradient, rows padded to whole vectors
};

}  // namespace synergraph

#pragma once

#include <optional>

#include "synergraph/analysis/attention_source.h"
#include "synergraph/model/evaluate.h"

namespace synergraph {

/// The attention that a model makes on given sequences, in evaluation mode.
class ModelAttention : public AttentionSource {
 public:
  /// With a task the model's answers are judged by it. InputError unless the sequences and the
  /// range fit the model. The model must outlive this object.
  ModelAttention(const Model& model, Sequences inputs, const Task* task, const TokenRange& range);

  int samples_at_once(int threads) const override;
  void for_each(int threads, const SampleVisitor& visitor) override;

  /// Loss and accuracy, once for_each() is through; nothing without a task.
  const std::optional<Evaluation>& evaluation() const { return evaluation_; }

 private:
  const Model& model_;
  Sequences inputs_;
  const Task* task_;
  int begin_;
  int end_;
  std::optional<Evaluation> evaluation_;
};

}  // namespace synergraph

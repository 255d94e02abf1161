#pragma once

#include <optional>

#include "synergraph/heads/attention_source.h"
#include "synergraph/model/loss_game.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// The attention that a model makes on given sequences, in evaluation mode.
class ModelAttention : public AttentionSource {
 public:
  /// With a task the model's answers are judged by it. InputError unless the sequences and the
  /// range fit the model. The model must outlive this object. `evaluators` run it; by default on
  /// the CPU.
  ModelAttention(const Model& model, Sequences inputs, const Task* task, const TokenRange& range,
                 EvaluatorFactory evaluators = {});

  std::vector<AttentionPiece> pieces(int begin, int end) const override;
  std::unique_ptr<AttentionReader> reader(const WorkingMemory& memory) override;

  /// Its score by the task.
  std::vector<double> knowledge_of(int sample) const override;
  void take_knowledge(int sample, const std::vector<double>& numbers) override;

  FloatType element_type(int layer) const override;
  void copy_heads(const AttentionPiece& piece, const HeadCopy& copy) override;

  /// Loss and accuracy on the samples that were visited; nothing without a task.
  std::optional<Evaluation> evaluation() const;

  /// Whether the task needs attention, on all samples; nothing without a task.
  std::optional<AttentionControl> control(const Execution& execution = {}) const;

 private:
  class Reader;

  bool whole() const { return begin_ == 0 && end_ == model_.config().length; }

  const Model& model_;
  Sequences inputs_;
  const Task* task_;
  EvaluatorFactory evaluators_;
  int begin_;
  int end_;
  Sequences answers_;
  std::vector<std::optional<SequenceScore>> scores_;  // of the samples that were visited
};

}  // namespace synergraph
#pragma GCC visibility pop

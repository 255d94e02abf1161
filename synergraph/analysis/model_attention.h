#pragma once

#include <optional>

#include "synergraph/heads/attention_source.h"
#include "synergraph/model/loss_game.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// The attention that a model makes on given sequences, in evaluation mode.
class ModelAttention : public AttentionSource {
 public:
  /// With a task the model's answers are judged by it. InputError unless the sequences, the range
  /// and the sinks fit the model. The model must outlive this object. `evaluators` run it, and
  /// `games` run it without some heads; by default on the CPU. Each sink, a token in the range,
  /// makes one sample of a sequence: the tokens up to it; empty: the range's last token.
  ModelAttention(const Model& model, Sequences inputs, const Task* task, const TokenRange& range,
                 EvaluatorFactory evaluators = {}, const TokenChoice& sinks = {},
                 LossGamesFactory games = {});

  std::vector<AttentionPiece> pieces(int begin, int end) const override;
  std::unique_ptr<AttentionReader> reader(const WorkingMemory& memory) override;

  /// Its score by the task.
  std::vector<double> knowledge_of(int sample) const override;
  void take_knowledge(int sample, const std::vector<double>& numbers) override;

  FloatType element_type(int layer) const override;
  void copy_heads(const AttentionPiece& piece, const HeadCopy& copy) override;

  /// Whether its readers know what the heads move: those of a model that runs on the CPU do.
  bool knows_moved() const;

  /// What the samples are, where sequences have several sinks; empty: the sequences in order.
  std::vector<TokenSpan> sequences() const;

  /// Loss and accuracy on the samples that were visited; nothing without a task.
  std::optional<Evaluation> evaluation() const;

  /// The loss for every subset of the heads of each layer, on all samples; InputError without a
  /// task.
  std::vector<LossGame> loss_games(const LossGameOptions& options) const;

  /// Whether the task needs attention, on all samples; nothing without a task.
  std::optional<AttentionControl> control(const Execution& execution = {}) const;

 private:
  class Reader;

  bool whole() const {
    return begin_ == 0 && ends_.size() == 1 && ends_.front() == model_.config().length;
  }
  /// The sequence that a sample is of, and where the sample ends.
  int sequence_of(int sample) const { return sample / static_cast<int>(ends_.size()); }
  int end_of(int sample) const { return ends_[static_cast<std::size_t>(sample) % ends_.size()]; }

  const Model& model_;
  Sequences inputs_;
  const Task* task_;
  EvaluatorFactory evaluators_;
  LossGamesFactory games_;
  int begin_;
  std::vector<int> ends_;  // of the samples of each sequence
  Sequences answers_;
  std::vector<std::optional<SequenceScore>> scores_;  // of the sequences that were visited
};

}  // namespace synergraph
#pragma GCC visibility pop

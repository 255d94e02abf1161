#include "synergraph/model/evaluate.h"

#include <fmt/core.h>

#include <optional>
#include <utility>

#include "synergraph/core/error.h"
#include "synergraph/core/kernels/kernels.h"
#include "synergraph/core/parallel.h"
#include "synergraph/model/sequence_pass.h"

namespace synergraph {

struct Evaluator::Workspace {
  explicit Workspace(const ModelConfig& config) : pass(config, SequencePass::Keep::kNothing) {}
  SequencePass pass;
  std::vector<float> attention;
};

Evaluator::Evaluator(const Model& model)
    : model_(model), work_(std::make_unique<Workspace>(model.config())) {}
Evaluator::~Evaluator() = default;

const SequencePass& Evaluator::pass() const {
  return work_->pass;
}

SequenceScore Evaluator::run(const std::int32_t* input, const std::int32_t* target,
                             const LayerVisitor& visitor, float* logits) {
  const ModelConfig& config = model_.config();
  const ModelTensors<const float> tensors = model_.tensors();
  SequencePass& pass = work_->pass;
  pass.start(tensors, input);
  for (int layer = 0; layer < config.layers; ++layer) {
    pass.project(tensors, layer);
    pass.run_heads(layer, Dropout(), 0);
    if (visitor) {  // before the layer's input is overwritten
      const auto n = static_cast<std::size_t>(config.length);
      work_->attention.resize(static_cast<std::size_t>(config.heads) * n * n);
      const LayerActivations& activations = pass.layer(layer);
      kernels().unpack_attention(pass.attention(), activations.weights, activations.inverse_sums,
                                 work_->attention.data());
      visitor(layer, work_->attention.data());
    }
    pass.add_heads(tensors, layer);
    pass.feed_forward(tensors, layer, Dropout(), 0);
  }
  pass.finish(tensors);
  if (logits != nullptr)
    kernels().transpose(config.vocabulary, config.length, pass.logits(), pass.shape().stride,
                        logits, config.vocabulary);
  const SequenceLoss loss =
      kernels().cross_entropy(pass.shape(), config.vocabulary, target, 0.0F, pass.logits());
  return {loss.loss, loss.correct};
}

Evaluation mean_score(const std::vector<SequenceScore>& scores, std::int64_t positions) {
  Evaluation result;
  std::int64_t correct = 0;
  for (const SequenceScore& score : scores) {
    result.loss += score.loss;
    correct += score.correct;
  }
  result.loss /= static_cast<double>(positions);
  result.accuracy = static_cast<double>(correct) / static_cast<double>(positions);
  return result;
}

namespace {

void require_fitting(const ModelConfig& config, const Sequences& sequences, const char* what,
                     std::int32_t least) {
  if (sequences.count < 1) throw InputError(fmt::format("{}: no sequences", what));
  if (sequences.length != config.length)
    throw InputError(fmt::format("{}: sequences of length {}, the model has length {}", what,
                                 sequences.length, config.length));
  const auto tokens =
      static_cast<std::size_t>(sequences.count) * static_cast<std::size_t>(sequences.length);
  if (sequences.tokens.size() != tokens)
    throw InputError(fmt::format("{}: {} tokens, but {} sequences of {}", what,
                                 sequences.tokens.size(), sequences.count, sequences.length));
  for (int s = 0; s < sequences.count; ++s) {
    for (int i = 0; i < sequences.length; ++i) {
      const std::int32_t token = sequences.row(s)[i];
      if (token < least || token >= config.vocabulary)
        throw InputError(fmt::format(
            "{}: sequence {}, position {}: token {} is outside the vocabulary 0..{}{}", what, s, i,
            token, config.vocabulary - 1,
            least == kIgnored && token < 0 ? fmt::format(" (a target of {} is ignored)", kIgnored)
                                           : ""));
    }
  }
}

}  // namespace

void require_fitting(const ModelConfig& config, const Sequences& sequences, const char* what) {
  require_fitting(config, sequences, what, 0);
}

void require_fitting_targets(const ModelConfig& config, const Sequences& targets,
                             const char* what) {
  require_fitting(config, targets, what, kIgnored);
  if (counted(targets.tokens) == 0)
    throw InputError(fmt::format(
        "{}: every target is {}, which is ignored: give at least one token", what, kIgnored));
}

Evaluation evaluate(const Model& model, const Sequences& inputs, const Sequences& targets,
                    const EvaluateOptions& options) {
  const ModelConfig& config = model.config();
  require_fitting(config, inputs, "inputs");
  require_fitting_targets(config, targets, "targets");
  if (inputs.count != targets.count)
    throw InputError(fmt::format("{} inputs, but {} targets", inputs.count, targets.count));

  const int threads = options.execution.thread_count();
  const auto count = static_cast<std::size_t>(inputs.count);
  const auto sample_logits =
      static_cast<std::size_t>(config.length) * static_cast<std::size_t>(config.vocabulary);
  std::vector<std::optional<Evaluator>> evaluators(static_cast<std::size_t>(threads));
  std::vector<SequenceScore> scores(count);
  std::vector<float> logits(options.want_logits ? count * sample_logits : 0);
  parallel_for(count, threads, [&](std::size_t index, int worker) {
    options.execution.check();
    auto& evaluator = evaluators[static_cast<std::size_t>(worker)];
    if (!evaluator) evaluator.emplace(model);
    const auto sample = static_cast<int>(index);
    Evaluator::LayerVisitor visitor;
    if (options.attention)
      visitor = [&](int layer, const float* values) {
        options.attention({sample, layer, worker, config.heads, config.length, values});
      };
    scores[index] = evaluator->run(inputs.row(sample), targets.row(sample), visitor,
                                   logits.empty() ? nullptr : &logits[index * sample_logits]);
  });
  Evaluation result = mean_score(scores, counted(targets.tokens));
  result.logits = std::move(logits);
  return result;
}

}  // namespace synergraph

#include "synergraph/model/evaluate.h"

#include <fmt/core.h>

#include <memory>

#include "synergraph/core/error.h"
#include "synergraph/core/kernels/kernels.h"
#include "synergraph/core/parallel.h"
#include "synergraph/model/sequence_pass.h"

namespace synergraph {
namespace {

/// What a thread needs of its own.
struct Workspace {
  explicit Workspace(const ModelConfig& config) : pass(config, SequencePass::Keep::kNothing) {}
  SequencePass pass;
  std::vector<float> attention;
};

void visit(const AttentionVisitor& visitor, Workspace& work, int sample, int layer, int worker) {
  const ModelConfig& config = work.pass.config();
  const auto n = static_cast<std::size_t>(config.length);
  work.attention.resize(static_cast<std::size_t>(config.heads) * n * n);
  const LayerActivations& activations = work.pass.layer(layer);
  kernels().unpack_attention(work.pass.attention(), activations.weights, activations.inverse_sums,
                             work.attention.data());
  visitor({sample, layer, worker, config.heads, config.length, work.attention.data()});
}

}  // namespace

void require_fitting(const ModelConfig& config, const Sequences& sequences, const char* what) {
  if (sequences.count < 1) throw InputError(fmt::format("{}: no sequences", what));
  if (sequences.length != config.length)
    throw InputError(fmt::format("{}: sequences of length {}, the model has length {}", what,
                                 sequences.length, config.length));
  for (int s = 0; s < sequences.count; ++s) {
    for (int i = 0; i < sequences.length; ++i) {
      const std::int32_t token = sequences.row(s)[i];
      if (token < 0 || token >= config.vocabulary)
        throw InputError(
            fmt::format("{}: sequence {}, position {}: token {} is outside the vocabulary 0..{}",
                        what, s, i, token, config.vocabulary - 1));
    }
  }
}

Evaluation evaluate(const Model& model, const Sequences& inputs, const Sequences& targets,
                    const EvaluateOptions& options) {
  const ModelConfig& config = model.config();
  require_fitting(config, inputs, "inputs");
  require_fitting(config, targets, "targets");
  if (inputs.count != targets.count)
    throw InputError(fmt::format("{} inputs, but {} targets", inputs.count, targets.count));

  const ModelTensors<const float> tensors = model.tensors();
  const int threads = options.threads > 0 ? options.threads : default_thread_count();
  const auto count = static_cast<std::size_t>(inputs.count);
  const auto sample_logits =
      static_cast<std::size_t>(config.length) * static_cast<std::size_t>(config.vocabulary);
  std::vector<std::unique_ptr<Workspace>> workspaces(static_cast<std::size_t>(threads));
  std::vector<SequenceLoss> losses(count);
  Evaluation result;
  if (options.want_logits) result.logits.resize(count * sample_logits);

  parallel_for(count, threads, [&](std::size_t index, int worker) {
    auto& work = workspaces[static_cast<std::size_t>(worker)];
    if (!work) work = std::make_unique<Workspace>(config);
    SequencePass& pass = work->pass;
    const int sample = static_cast<int>(index);
    pass.start(tensors, inputs.row(sample));
    for (int layer = 0; layer < config.layers; ++layer) {
      pass.run_layer(tensors, layer, Dropout(), sample);
      if (options.attention) visit(options.attention, *work, sample, layer, worker);
    }
    pass.finish(tensors);
    if (options.want_logits)
      kernels().transpose(config.vocabulary, config.length, pass.logits(), pass.shape().stride,
                          result.logits.data() + index * sample_logits, config.vocabulary);
    losses[index] = kernels().cross_entropy(pass.shape(), config.vocabulary, targets.row(sample),
                                            0.0F, pass.logits());
  });

  std::int64_t correct = 0;
  for (const SequenceLoss& loss : losses) {
    result.loss += loss.loss;
    correct += loss.correct;
  }
  const double positions = static_cast<double>(count) * config.length;
  result.loss /= positions;
  result.accuracy = static_cast<double>(correct) / positions;
  return result;
}

}  // namespace synergraph

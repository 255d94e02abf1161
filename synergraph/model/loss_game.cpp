#include "synergraph/model/loss_game.h"

#include <fmt/core.h>

#include <algorithm>
#include <mutex>
#include <optional>

#include "synergraph/core/error.h"
#include "synergraph/core/kernels/kernels.h"
#include "synergraph/core/parallel.h"
#include "synergraph/model/sequence_pass.h"

namespace synergraph {
namespace {

using Tensors = ModelTensors<const float>;

void check(const Model& model, const Sequences& inputs, const Sequences& targets) {
  require_fitting(model.config(), inputs, "inputs");
  require_fitting(model.config(), targets, "targets");
  if (inputs.count != targets.count)
    throw InputError(fmt::format("{} inputs, but {} targets", inputs.count, targets.count));
}

SequenceScore judge(SequencePass& pass, const Tensors& tensors, const std::int32_t* target) {
  pass.finish(tensors);
  const SequenceLoss loss =
      kernels().cross_entropy(pass.shape(), pass.config().vocabulary, target, 0.0F, pass.logits());
  return {loss.loss, loss.correct};
}

/// Calls body(index, pass) for every index, on all threads, each with a pass of its own.
template <class Body>
void for_each(std::size_t count, const ModelConfig& config, const Execution& execution,
              const Body& body) {
  const int threads = execution.thread_count();
  std::vector<std::optional<SequencePass>> passes(static_cast<std::size_t>(threads));
  parallel_for(count, threads, [&](std::size_t index, int worker) {
    execution.check();
    auto& pass = passes[static_cast<std::size_t>(worker)];
    if (!pass) pass.emplace(config, SequencePass::Keep::kNothing);
    body(index, *pass);
  });
}

/// The outputs that replace those of the heads: [layer][feature].
using Replacements = std::vector<std::vector<float>>;

Replacements replacements(const Model& model, const Sequences& inputs, Ablation ablation,
                          const Execution& execution) {
  const ModelConfig& config = model.config();
  const auto layers = static_cast<std::size_t>(config.layers);
  const auto width = static_cast<std::size_t>(config.width);
  Replacements result(layers, std::vector<float>(width, 0.0F));
  if (ablation == Ablation::kZero) return result;
  const Tensors tensors = model.tensors();
  const auto count = static_cast<std::size_t>(inputs.count);
  std::vector<std::vector<double>> sums(count);  // of each sequence: (layers x features)
  for_each(count, config, execution, [&](std::size_t s, SequencePass& pass) {
    sums[s].assign(layers * width, 0.0);
    pass.start(tensors, inputs.row(static_cast<int>(s)));
    for (std::size_t l = 0; l < layers; ++l) {
      const auto layer = static_cast<int>(l);
      pass.run_layer(tensors, layer, Dropout(), 0);
      for (std::size_t c = 0; c < width; ++c) {
        const float* row =
            pass.layer(layer).attended + c * static_cast<std::size_t>(pass.shape().stride);
        for (int p = 0; p < config.length; ++p) sums[s][l * width + c] += row[p];
      }
    }
  });
  const double tokens = static_cast<double>(inputs.count) * config.length;
  for (std::size_t k = 0; k < layers * width; ++k) {
    double sum = 0.0;
    for (const std::vector<double>& of_sequence : sums) sum += of_sequence[k];
    result[k / width][k % width] = static_cast<float>(sum / tokens);
  }
  return result;
}

/// Puts the replacements where a layer's heads put their outputs.
void replace_heads(const SequencePass& pass, int layer, const std::vector<float>& replacement) {
  const auto stride = static_cast<std::size_t>(pass.shape().stride);
  for (std::size_t c = 0; c < replacement.size(); ++c)
    std::fill_n(pass.layer(layer).attended + c * stride, stride, replacement[c]);
}

/// The subsets of one layer's heads on one sequence. A subset's state is its parent's plus the
/// contribution of one head, so heads are only ever added, in their order: every state is one sum
/// in a fixed order, whichever thread computes it.
class SubsetWalk {
 public:
  SubsetWalk(SequencePass& pass, const Tensors& tensors, int layer)
      : pass_(pass),
        tensors_(tensors),
        layer_(layer),
        size_(static_cast<std::size_t>(pass.config().width) *
              static_cast<std::size_t>(pass.shape().stride)),
        contributions_(heads() * size_),
        states_((heads() + 1) * size_) {}

  /// Runs the model up to the layer, and keeps what no head changes and what each head adds.
  void start(const std::int32_t* input, const std::vector<float>& replacement);

  /// Calls visit(subset, score) for the subsets whose first `fixed` heads are those of `begin`.
  template <class Visit>
  void visit(Subset begin, int fixed, const std::int32_t* target, const Visit& visit) {
    const float* state = states_.data();
    for (int h = 0; h < fixed; ++h)
      if ((begin >> h & 1U) != 0) state = add(state, h);
    descend(begin, fixed, state, target, visit);
  }

 private:
  std::size_t heads() const { return static_cast<std::size_t>(pass_.config().heads); }

  /// The state with head h added, in the place of that head.
  const float* add(const float* state, int h) {
    float* sum = states_.data() + static_cast<std::size_t>(h + 1) * size_;
    const float* contribution = contributions_.data() + static_cast<std::size_t>(h) * size_;
    for (std::size_t k = 0; k < size_; ++k) sum[k] = state[k] + contribution[k];
    return sum;
  }

  template <class Visit>
  void descend(Subset subset, int h, const float* state, const std::int32_t* target,
               const Visit& visit) {
    if (h == pass_.config().heads) return visit(subset, score(state, target));
    descend(subset, h + 1, state, target, visit);
    descend(subset | Subset{1} << h, h + 1, add(state, h), target, visit);
  }

  SequenceScore score(const float* state, const std::int32_t* target) {
    std::copy_n(state, size_, pass_.layer(layer_).x2);
    pass_.feed_forward(tensors_, layer_, Dropout(), 0);
    for (int next = layer_ + 1; next < pass_.config().layers; ++next)
      pass_.run_layer(tensors_, next, Dropout(), 0);
    return judge(pass_, tensors_, target);
  }

  SequencePass& pass_;
  const Tensors& tensors_;
  int layer_;
  std::size_t size_;                    // floats of a state, (width x stride)
  ScratchVector<float> contributions_;  // one state a head
  ScratchVector<float> states_;         // without heads, and with a head added last
};

void SubsetWalk::start(const std::int32_t* input, const std::vector<float>& replacement) {
  const ModelConfig& config = pass_.config();
  const SequenceShape& shape = pass_.shape();
  pass_.start(tensors_, input);
  for (int before = 0; before < layer_; ++before) pass_.run_layer(tensors_, before, Dropout(), 0);
  pass_.project(tensors_, layer_);
  pass_.run_heads(layer_, Dropout(), 0);
  const LayerActivations& a = pass_.layer(layer_);
  const auto stride = static_cast<std::size_t>(shape.stride);
  for (std::size_t c = 0; c < replacement.size(); ++c)
    for (std::size_t p = 0; p < stride; ++p) a.attended[c * stride + p] -= replacement[c];
  const float* projection = tensors_.layers[static_cast<std::size_t>(layer_)].attn_weight;
  const int head_width = config.width / config.heads;
  for (int h = 0; h < config.heads; ++h)
    kernels().multiply(
        {.rows = config.width,
         .cols = shape.columns,
         .depth = head_width,
         .a = projection + static_cast<std::ptrdiff_t>(h) * head_width,
         .a_stride = config.width,
         .b = a.attended + static_cast<std::ptrdiff_t>(h) * head_width * shape.stride,
         .b_stride = shape.stride,
         .c = contributions_.data() + static_cast<std::size_t>(h) * size_,
         .c_stride = shape.stride});
  replace_heads(pass_, layer_, replacement);
  pass_.add_heads(tensors_, layer_);
  std::copy_n(a.x2, size_, states_.data());
}

}  // namespace

std::vector<double> LossGame::loss_values() const {
  std::vector<double> values;
  for (const double of_subset : loss) values.push_back(loss.front() - of_subset);
  return values;
}

std::vector<double> LossGame::accuracy_values() const {
  std::vector<double> values;
  for (const double of_subset : accuracy) values.push_back(of_subset - accuracy.front());
  return values;
}

LossGame loss_game(const Model& model, const Sequences& inputs, const Sequences& targets, int layer,
                   const LossGameOptions& options) {
  const ModelConfig& config = model.config();
  check(model, inputs, targets);
  if (layer < 0 || layer >= config.layers)
    throw InputError(
        fmt::format("layer {}: the model has layers 0 to {}", layer, config.layers - 1));
  if (config.heads > kMaxExactHeads)
    throw InputError(fmt::format("{} heads: all subsets are measured of at most {} heads",
                                 config.heads, kMaxExactHeads));
  const Tensors tensors = model.tensors();
  const std::vector<float> replacement = replacements(
      model, inputs, options.ablation, options.execution)[static_cast<std::size_t>(layer)];

  // A task is a part of a sequence's subsets: large enough for what is done before its first subset
  // not to show, small enough for few sequences to feed many threads. Sequences are taken in groups
  // whose tables fit in memory; tables are added up in the order of the sequences.
  constexpr int kTaskHeads = 8;
  constexpr std::size_t kGroup = 16;
  const int fixed = std::max(0, config.heads - kTaskHeads);
  const std::size_t parts = std::size_t{1} << fixed;
  const std::size_t subsets = std::size_t{1} << config.heads;
  const auto count = static_cast<std::size_t>(inputs.count);
  LossGame game{config.heads, std::vector<double>(subsets), std::vector<double>(subsets)};
  std::mutex telling;
  for (std::size_t first = 0; first < count; first += kGroup) {
    const std::size_t size = std::min(kGroup, count - first);
    std::vector<SequenceScore> scores(size * subsets);
    for_each(size * parts, config, options.execution, [&](std::size_t task, SequencePass& pass) {
      const std::size_t s = task / parts;
      const auto sequence = static_cast<int>(first + s);
      SubsetWalk walk(pass, tensors, layer);
      walk.start(inputs.row(sequence), replacement);
      walk.visit(static_cast<Subset>(task % parts), fixed, targets.row(sequence),
                 [&](Subset subset, const SequenceScore& score) {
                   options.execution.check();
                   scores[s * subsets + subset] = score;
                 });
      if (!options.subsets_done) return;
      const std::lock_guard lock(telling);
      options.subsets_done(subsets / parts);
    });
    for (std::size_t s = 0; s < size; ++s)
      for (std::size_t subset = 0; subset < subsets; ++subset) {
        game.loss[subset] += scores[s * subsets + subset].loss;
        game.accuracy[subset] += scores[s * subsets + subset].correct;
      }
  }
  const double positions = static_cast<double>(inputs.count) * config.length;
  for (double& loss : game.loss) loss /= positions;
  for (double& accuracy : game.accuracy) accuracy /= positions;
  return game;
}

AttentionControl attention_control(const Model& model, const Sequences& inputs,
                                   const Sequences& targets, Ablation ablation,
                                   const Execution& execution) {
  const ModelConfig& config = model.config();
  check(model, inputs, targets);
  const Tensors tensors = model.tensors();
  const Replacements replaced = replacements(model, inputs, ablation, execution);
  const auto layers = static_cast<std::size_t>(config.layers);
  const auto count = static_cast<std::size_t>(inputs.count);
  // Runs: intact, without attention, then without each layer's.
  std::vector<std::vector<SequenceScore>> scores(2 + layers, std::vector<SequenceScore>(count));
  for_each(count * scores.size(), config, execution, [&](std::size_t task, SequencePass& pass) {
    const std::size_t run = task / count;
    const std::size_t s = task % count;
    const auto sequence = static_cast<int>(s);
    pass.start(tensors, inputs.row(sequence));
    for (std::size_t l = 0; l < layers; ++l) {
      const auto layer = static_cast<int>(l);
      if (run == 1 || run == 2 + l) {
        replace_heads(pass, layer, replaced[l]);
        pass.add_heads(tensors, layer);
        pass.feed_forward(tensors, layer, Dropout(), 0);
      } else {
        pass.run_layer(tensors, layer, Dropout(), 0);
      }
    }
    scores[run][s] = judge(pass, tensors, targets.row(sequence));
  });
  AttentionControl control;
  control.intact = mean_score(scores[0], config.length);
  control.without_attention = mean_score(scores[1], config.length);
  for (std::size_t l = 0; l < layers; ++l)
    control.without_layer.push_back(mean_score(scores[2 + l], config.length));
  return control;
}

}  // namespace synergraph

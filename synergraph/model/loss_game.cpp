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

/// The subsets of one layer's heads on one sequence. The layer's residual stream x and the inputs
/// of its hidden units but for the norm's factor, u = W diag(gain) x, are linear in what the heads
/// add. So a subset's x and u are its parent's plus the parts of one head; no subset multiplies the
/// first matrix of the MLP. Heads are only ever added, in their order: every state is one sum in a
/// fixed order, whichever thread computes it. In the last layer positions no longer meet, so those
/// that do not count are left out. The products of the second matrix and of the output limit the
/// speed.
class SubsetWalk {
 public:
  SubsetWalk(SequencePass& pass, const Tensors& tensors, int layer, const std::int32_t* target);

  /// Runs the model up to the layer, and keeps what no head changes and what each head adds.
  void start(const std::int32_t* input, const std::vector<float>& replacement);

  /// Calls visit(subset, score) for the subsets whose first `fixed` heads are those of `begin`.
  template <class Visit>
  void visit(Subset begin, int fixed, const Visit& visit) {
    const float* state = states_.data();
    for (int h = 0; h < fixed; ++h)
      if ((begin >> h & 1U) != 0) state = add(state, h);
    descend(begin, fixed, state, visit);
  }

 private:
  const ModelConfig& config() const { return pass_.config(); }
  bool last() const { return layer_ + 1 == config().layers; }
  /// Rows of a state: x, then u.
  int rows() const { return config().width + config().hidden; }
  std::size_t floats(int rows) const {
    return static_cast<std::size_t>(rows) * static_cast<std::size_t>(shape_.stride);
  }
  const LayerTensors<const float>& weights() const {
    return tensors_.layers[static_cast<std::size_t>(layer_)];
  }
  /// W times the columns of `in`, plus a bias and a source, if they are not null.
  void multiply(int rows, int depth, const float* w, std::ptrdiff_t w_stride, const float* in,
                const float* bias, const float* source, float* out) const {
    kernels().multiply({.rows = rows,
                        .cols = shape_.columns,
                        .depth = depth,
                        .a = w,
                        .a_stride = w_stride,
                        .b = in,
                        .b_stride = shape_.stride,
                        .c = out,
                        .c_stride = shape_.stride,
                        .source = source,
                        .bias = bias});
  }
  /// Fills the second part of a state from its first.
  void hidden_inputs(float* state) {
    multiply(config().hidden, config().width, scaled_.data(), config().width, state, nullptr,
             nullptr, state + floats(config().width));
  }
  /// The columns of the positions that are kept, from rows of the pass.
  void keep(int rows, const float* from, float* to) const;

  /// The state with head h added, in the place of that head.
  const float* add(const float* state, int h) {
    const std::size_t size = floats(rows());
    float* sum = states_.data() + static_cast<std::size_t>(h + 1) * size;
    SequenceShape all = shape_;
    all.width = rows();
    kernels().add_residual(all, state, contributions_.data() + static_cast<std::size_t>(h) * size,
                           nullptr, 0.0F, sum);
    return sum;
  }

  template <class Visit>
  void descend(Subset subset, int h, const float* state, const Visit& visit) {
    if (h == config().heads) return visit(subset, score(state));
    descend(subset, h + 1, state, visit);
    descend(subset | Subset{1} << h, h + 1, add(state, h), visit);
  }

  SequenceScore score(const float* state);

  SequencePass& pass_;
  const Tensors& tensors_;
  int layer_;
  std::vector<std::int32_t> kept_;      // positions, in order
  std::vector<std::int32_t> targets_;   // of these positions
  SequenceShape shape_;                 // of these positions
  std::vector<float> scaled_;           // the MLP's first matrix with the norm's gain
  ScratchVector<float> contributions_;  // one state a head
  ScratchVector<float> states_;         // without heads, and with a head added last
  ScratchVector<float> inverse_rms_;
  ScratchVector<float> hidden_;
  ScratchVector<float> logits_;
};

std::vector<std::int32_t> kept_positions(const std::int32_t* target, int length, bool all) {
  std::vector<std::int32_t> kept;
  for (int p = 0; p < length; ++p)
    if (all || target[p] != kIgnored) kept.push_back(p);
  return kept;
}

SubsetWalk::SubsetWalk(SequencePass& pass, const Tensors& tensors, int layer,
                       const std::int32_t* target)
    : pass_(pass),
      tensors_(tensors),
      layer_(layer),
      kept_(kept_positions(target, config().length, !last())),
      shape_(static_cast<int>(kept_.size()), config().width),
      scaled_(static_cast<std::size_t>(config().hidden) * static_cast<std::size_t>(config().width)),
      contributions_(static_cast<std::size_t>(config().heads) * floats(rows())),
      states_(static_cast<std::size_t>(config().heads + 1) * floats(rows())),
      inverse_rms_(floats(1)),
      hidden_(floats(config().hidden)),
      logits_(floats(last() ? config().vocabulary : 0)) {
  for (const std::int32_t p : kept_) targets_.push_back(target[p]);
  for (int k = 0; k < config().hidden; ++k)
    for (int c = 0; c < config().width; ++c) {
      const int at = k * config().width + c;
      scaled_[static_cast<std::size_t>(at)] = weights().mlp_in[at] * weights().norm2[c];
    }
}

void SubsetWalk::keep(int rows, const float* from, float* to) const {
  for (int row = 0; row < rows; ++row) {
    const float* source = from + static_cast<std::ptrdiff_t>(row) * pass_.shape().stride;
    float* target = to + floats(row);
    for (const std::int32_t p : kept_) *target++ = source[p];
    std::fill(target, to + floats(row + 1), 0.0F);
  }
}

void SubsetWalk::start(const std::int32_t* input, const std::vector<float>& replacement) {
  const int width = config().width;
  pass_.start(tensors_, input);
  for (int before = 0; before < layer_; ++before) pass_.run_layer(tensors_, before, Dropout(), 0);
  pass_.project(tensors_, layer_);
  pass_.run_heads(layer_, Dropout(), 0);
  const LayerActivations& a = pass_.layer(layer_);
  ScratchVector<float> attended(floats(width));
  keep(width, a.attended, attended.data());
  for (int c = 0; c < width; ++c)
    for (std::size_t p = 0; p < floats(1); ++p)
      attended[floats(c) + p] -= replacement[static_cast<std::size_t>(c)];
  const int head_width = width / config().heads;
  for (int h = 0; h < config().heads; ++h) {
    float* added = contributions_.data() + static_cast<std::size_t>(h) * floats(rows());
    multiply(width, head_width, weights().attn_weight + h * head_width, width,
             attended.data() + floats(h * head_width), nullptr, nullptr, added);
    hidden_inputs(added);
  }
  replace_heads(pass_, layer_, replacement);
  pass_.add_heads(tensors_, layer_);
  keep(width, a.x2, states_.data());
  hidden_inputs(states_.data());
}

SequenceScore SubsetWalk::score(const float* state) {
  kernels().inverse_rms(shape_, state, inverse_rms_.data());
  kernels().scale_positions(shape_, config().hidden, state + floats(config().width),
                            inverse_rms_.data(), weights().mlp_in_bias, 0.0F, hidden_.data());
  float* output = pass_.output();  // of all positions, so there is room
  multiply(config().width, config().hidden, weights().mlp_out, config().hidden, hidden_.data(),
           weights().mlp_out_bias, state, output);
  if (!last()) {
    for (int next = layer_ + 1; next < config().layers; ++next)
      pass_.run_layer(tensors_, next, Dropout(), 0);
    return judge(pass_, tensors_, targets_.data());
  }
  multiply(config().vocabulary, config().width, tensors_.output_weight, config().width, output,
           tensors_.output_bias, nullptr, logits_.data());
  const SequenceLoss loss =
      kernels().cross_entropy(shape_, config().vocabulary, targets_.data(), 0.0F, logits_.data());
  return {loss.loss, loss.correct};
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

void require_pairs(const ModelConfig& config, const Sequences& inputs, const Sequences& targets) {
  require_fitting(config, inputs, "inputs");
  require_fitting_targets(config, targets, "targets");
  if (inputs.count != targets.count)
    throw InputError(fmt::format("{} inputs, but {} targets", inputs.count, targets.count));
}

void require_game(const ModelConfig& config, const Sequences& inputs, const Sequences& targets,
                  int layer) {
  require_pairs(config, inputs, targets);
  if (layer < 0 || layer >= config.layers)
    throw InputError(
        fmt::format("layer {}: the model has layers 0 to {}", layer, config.layers - 1));
  if (config.heads > kMaxExactHeads)
    throw InputError(fmt::format("{} heads: all subsets are measured of at most {} heads",
                                 config.heads, kMaxExactHeads));
}

LossGame loss_game(const Model& model, const Sequences& inputs, const Sequences& targets, int layer,
                   const LossGameOptions& options) {
  const ModelConfig& config = model.config();
  require_game(config, inputs, targets, layer);
  const Tensors tensors = model.tensors();
  const std::vector<float> replacement = replacements(
      model, inputs, options.ablation, options.execution)[static_cast<std::size_t>(layer)];

  // A task is a part of a sequence's subsets: large enough for what is done before its first subset
  // not to show, small enough for few sequences to feed many threads. Sequences are taken in groups
  // whose tables fit in memory; tables are added up in the order of the sequences.
  constexpr int kTaskHeads = 9;
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
      SubsetWalk walk(pass, tensors, layer, targets.row(sequence));
      walk.start(inputs.row(sequence), replacement);
      walk.visit(static_cast<Subset>(task % parts), fixed,
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
  const auto positions = static_cast<double>(counted(targets.tokens));
  for (double& loss : game.loss) loss /= positions;
  for (double& accuracy : game.accuracy) accuracy /= positions;
  return game;
}

AttentionControl attention_control(const Model& model, const Sequences& inputs,
                                   const Sequences& targets, Ablation ablation,
                                   const Execution& execution) {
  const ModelConfig& config = model.config();
  require_pairs(config, inputs, targets);
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
  const std::int64_t positions = counted(targets.tokens);
  control.intact = mean_score(scores[0], positions);
  control.without_attention = mean_score(scores[1], positions);
  for (std::size_t l = 0; l < layers; ++l)
    control.without_layer.push_back(mean_score(scores[2 + l], positions));
  return control;
}

LossGamesFactory cpu_loss_games(const Model& model) {
  class CpuLossGames final : public LossGames {
   public:
    explicit CpuLossGames(const Model& of) : model_(of) {}
    LossGame play(const Sequences& inputs, const Sequences& targets, int layer,
                  const LossGameOptions& options) override {
      return loss_game(model_, inputs, targets, layer, options);
    }
    AttentionControl control(const Sequences& inputs, const Sequences& targets, Ablation ablation,
                             const Execution& execution) override {
      return attention_control(model_, inputs, targets, ablation, execution);
    }

   private:
    const Model& model_;
  };
  return [&model] { return std::make_unique<CpuLossGames>(model); };
}

}  // namespace synergraph

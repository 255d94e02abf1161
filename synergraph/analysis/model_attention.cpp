#include "synergraph/analysis/model_attention.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "synergraph/core/array_math.h"
#include "synergraph/core/error.h"
#include "synergraph/core/setting.h"
#include "synergraph/graph/attention_rounding.h"
#include "synergraph/heads/lower_triangle.h"
#include "synergraph/heads/sample_heads.h"
#include "synergraph/model/sequence_pass.h"

namespace synergraph {
namespace {

/// The same as cut_attention() for whole matrices that a model has just made: softmax gives no
/// negative entry, and one that is not finite shows in its row's sum. False where a sum is wrong.
bool read_softmax(View<const float> values, double tolerance, Matrix& into) {
  for (int i = 0; i < into.rows(); ++i) {
    const float* from = values.row(i);
    double* to = into.row(i);
    for (int j = 0; j <= i; ++j) to[j] = from[j];
    const double sum = total(to, i + 1);
    if (!(std::abs(sum - 1.0) <= tolerance)) return false;
    for (int j = 0; j <= i; ++j) to[j] /= sum;
  }
  return true;
}

/// The first rows of a head, as many as `into` has behind `begin`, in exact double precision.
void read_head(View<const float> attention, int begin, const std::string& name, Matrix& into) {
  const int length = begin + into.rows();
  AttentionCheck check = rounding_check(FloatType::kFloat32, attention.rows);
  if (into.rows() == attention.rows && read_softmax(attention, check.row_tolerance, into)) return;
  check.name = name;
  std::vector<double> row(static_cast<std::size_t>(length));
  const auto read_row = [&](int i) -> const double* {
    std::copy_n(attention.row(i), length, row.data());
    return row.data();
  };
  cut_attention(read_row, length, begin, check, into);
}

}  // namespace

/// Runs the model on a sample.
class ModelAttention::Reader : public AttentionReader {
 public:
  Reader(ModelAttention& source, const WorkingMemory& memory)
      : source_(source), evaluator_(source.evaluators_()), memory_(memory) {}

  void open(const AttentionPiece& piece) override {
    sample_ = piece.sample;
    const int tokens = source_.end_of(sample_) - source_.begin_;
    if (!heads_ || heads_->nodes() != tokens)
      heads_.emplace(source_.model_.config().heads, tokens, memory_);
  }

  void visit(const LayerVisitor& visitor) override {
    const int length = source_.model_.config().length;
    const int sequence = source_.sequence_of(sample_);
    const auto visit_layer = [&](int layer, const float* values) {
      layer_ = layer;
      heads_->start([&](int head, Matrix& into) {
        const std::ptrdiff_t first = std::ptrdiff_t{head} * length * length;
        read_head({values + first, length, length, length}, source_.begin_,
                  fmt::format("layer {}, sample {}, head {}", layer, sequence, head), into);
      });
      visitor(layer, *heads_);
    };
    const SequenceScore score =
        evaluator_->run(source_.inputs_.row(sequence), source_.answers_.row(sequence), visit_layer);
    // Samples of one sequence may run at once; all have its score.
    if (sample_ % static_cast<int>(source_.ends_.size()) == 0)
      source_.scores_[static_cast<std::size_t>(sequence)] = score;
  }

  std::optional<MovedValues> moved() override;

 private:
  /// Rows `first` .. first + count - 1 of activations (feature-major), of the tokens in range.
  Matrix tokens_of(const float* activations, int first, int count, std::ptrdiff_t stride) const {
    Matrix tokens(source_.end_of(sample_) - source_.begin_, count);
    for (int i = 0; i < tokens.rows(); ++i)
      for (int c = 0; c < count; ++c)
        tokens(i, c) = activations[(first + c) * stride + source_.begin_ + i];
    return tokens;
  }
  std::shared_ptr<const Matrix> projection(int layer);

  ModelAttention& source_;
  std::unique_ptr<SequenceEvaluator> evaluator_;
  WorkingMemory memory_;
  std::optional<SampleHeads> heads_;                        // of samples of one length
  std::vector<std::shared_ptr<const Matrix>> projections_;  // of layers, once they are asked for
  int sample_ = 0;
  int layer_ = 0;
};

std::shared_ptr<const Matrix> ModelAttention::Reader::projection(int layer) {
  const ModelConfig& config = source_.model_.config();
  projections_.resize(static_cast<std::size_t>(config.layers));
  auto& held = projections_[static_cast<std::size_t>(layer)];
  if (held) return held;
  const ModelTensors<const float> tensors = source_.model_.tensors();
  const float* weights = tensors.layers[static_cast<std::size_t>(layer)].attn_weight;
  Matrix matrix(config.width, config.width);
  for (int e = 0; e < config.width; ++e, weights += config.width)
    std::copy_n(weights, config.width, matrix.row(e));
  held = std::make_shared<const Matrix>(std::move(matrix));
  return held;
}

std::optional<MovedValues> ModelAttention::Reader::moved() {
  const auto* evaluator = dynamic_cast<const Evaluator*>(evaluator_.get());
  if (evaluator == nullptr)
    throw InputError("norm and contribution edges of a checkpoint run on the CPU: " +
                     option_mark("device") + " cpu");
  const ModelConfig& config = source_.model_.config();
  const SequencePass& pass = evaluator->pass();
  const LayerActivations& activations = pass.layer(layer_);
  const std::ptrdiff_t stride = pass.shape().stride;
  const int width = config.width / config.heads;
  MovedValues moved;
  for (int h = 0; h < config.heads; ++h)
    moved.values.push_back(tokens_of(activations.qkv, 2 * config.width + h * width, width, stride));
  moved.projection = projection(layer_);
  const ModelTensors<const float> tensors = source_.model_.tensors();
  const float* bias = tensors.layers[static_cast<std::size_t>(layer_)].attn_bias;
  moved.bias.assign(bias, bias + config.width);
  moved.residual = tokens_of(activations.x, 0, config.width, stride);
  return moved;
}

bool ModelAttention::knows_moved() const {
  return dynamic_cast<const Evaluator*>(evaluators_().get()) != nullptr;
}

ModelAttention::ModelAttention(const Model& model, Sequences inputs, const Task* task,
                               const TokenRange& range, EvaluatorFactory evaluators,
                               const TokenChoice& sinks, LossGamesFactory games)
    : model_(model),
      inputs_(std::move(inputs)),
      task_(task),
      evaluators_(std::move(evaluators)),
      games_(std::move(games)) {
  if (!evaluators_) evaluators_ = [this] { return std::make_unique<Evaluator>(model_); };
  if (!games_) games_ = cpu_loss_games(model_);
  const ModelConfig& config = model.config();
  require_fitting(config, inputs_, "tokens");
  const std::int64_t end = range.end.value_or(config.length);
  if (range.begin < 0 || range.begin >= end || end > config.length)
    throw InputError(fmt::format("tokens {}:{} were asked for, the model has 0:{}", range.begin,
                                 end, config.length));
  begin_ = static_cast<int>(range.begin);
  if (sinks.empty())
    ends_ = {static_cast<int>(end)};
  else
    for (const int sink : sinks.places(static_cast<int>(end), option_mark("sink"))) {
      if (sink < begin_)
        throw InputError(fmt::format("{}: token {} is before the range, which begins at {}",
                                     option_mark("sink"), sink, begin_));
      ends_.push_back(sink + 1);
    }
  const auto each = static_cast<int>(ends_.size());
  if (inputs_.count > std::numeric_limits<int>::max() / 2 / each)
    throw InputError(fmt::format("{}: {} sinks of {} sequences are too many", option_mark("sink"),
                                 each, inputs_.count));
  for (int layer = 0; layer < config.layers; ++layer) {
    layers_.push_back(
        {fmt::format("{}", layer), inputs_.count * each, config.heads, ends_.back() - begin_});
    layers_.back().same_length = each == 1;
    layers_.back().sinks = each;
  }
  answers_ = task == nullptr ? inputs_ : targets(*task, inputs_);
  scores_.resize(static_cast<std::size_t>(inputs_.count));
}

std::vector<AttentionPiece> ModelAttention::pieces(int begin, int end) const {
  std::vector<AttentionPiece> all;
  for (int sample = begin; sample < std::min(end, layers_.front().samples); ++sample)
    all.push_back({sample, AttentionPiece::kAllLayers});
  return all;
}

std::unique_ptr<AttentionReader> ModelAttention::reader(const WorkingMemory& memory) {
  return std::make_unique<Reader>(*this, memory);
}

std::vector<double> ModelAttention::knowledge_of(int sample) const {
  const auto& score = scores_[static_cast<std::size_t>(sequence_of(sample))];
  if (!score || sample % static_cast<int>(ends_.size()) != 0) return {};
  return {score->loss, static_cast<double>(score->correct)};
}

void ModelAttention::take_knowledge(int sample, const std::vector<double>& numbers) {
  if (numbers.size() != 2) throw InputError(fmt::format("no score of sample {}", sample));
  scores_[static_cast<std::size_t>(sequence_of(sample))] = {numbers[0],
                                                            static_cast<int>(numbers[1])};
}

FloatType ModelAttention::element_type(int layer) const {
  return whole() ? FloatType::kFloat32 : AttentionSource::element_type(layer);
}

void ModelAttention::copy_heads(const AttentionPiece& piece, const HeadCopy& copy) {
  if (!whole()) return AttentionSource::copy_heads(piece, copy);
  const ModelConfig& config = model_.config();
  LowerTriangle triangle(config.length, sizeof(float));
  evaluators_()->run(inputs_.row(piece.sample), answers_.row(piece.sample),
                     [&](int layer, const float* row) {
                       for (int h = 0; h < config.heads; ++h) {
                         for (int i = 0; i < config.length; ++i, row += config.length)
                           triangle.set_row(i, row);
                         copy(layer, h, triangle.bytes());
                       }
                     });
}

std::vector<TokenSpan> ModelAttention::sequences() const {
  std::vector<TokenSpan> spans;
  for (int sample = 0; ends_.size() > 1 && sample < layers_.front().samples; ++sample)
    spans.push_back({sequence_of(sample), begin_, end_of(sample)});
  return spans;
}

std::optional<Evaluation> ModelAttention::evaluation() const {
  if (task_ == nullptr) return std::nullopt;
  std::vector<SequenceScore> visited;
  std::int64_t positions = 0;
  for (int s = 0; s < inputs_.count; ++s)
    if (const auto& score = scores_[static_cast<std::size_t>(s)]) {
      visited.push_back(*score);
      positions += counted({answers_.row(s), static_cast<std::size_t>(answers_.length)});
    }
  return mean_score(visited, positions);
}

std::vector<LossGame> ModelAttention::loss_games(const LossGameOptions& options) const {
  if (task_ == nullptr) throw InputError("the loss needs a task");
  const std::unique_ptr<LossGames> player = games_();
  std::vector<LossGame> games;
  games.reserve(layers_.size());
  for (int layer = 0; layer < model_.config().layers; ++layer)
    games.push_back(player->play(inputs_, answers_, layer, options));
  return games;
}

std::optional<AttentionControl> ModelAttention::control(const Execution& execution) const {
  if (task_ == nullptr) return std::nullopt;
  return games_()->control(inputs_, answers_, Ablation::kZero, execution);
}

}  // namespace synergraph

#include "synergraph/analysis/model_attention.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "synergraph/core/array_math.h"
#include "synergraph/core/error.h"
#include "synergraph/core/parallel.h"
#include "synergraph/graph/attention_rounding.h"

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

/// One head in exact double precision.
void read_head(const SampleAttention& attention, int head, int begin, Matrix& into) {
  AttentionCheck check = rounding_check(FloatType::kFloat32, attention.length);
  if (into.rows() == attention.length &&
      read_softmax(attention.head(head), check.row_tolerance, into))
    return;
  check.name =
      fmt::format("layer {}, sample {}, head {}", attention.layer + 1, attention.sample, head);
  const View<const float> values = attention.head(head);
  std::vector<double> row(static_cast<std::size_t>(attention.length));
  const auto read_row = [&](int i) -> const double* {
    std::copy_n(values.row(i), attention.length, row.data());
    return row.data();
  };
  cut_attention(read_row, attention.length, begin, check, into);
}

}  // namespace

ModelAttention::ModelAttention(const Model& model, Sequences inputs, const Task* task,
                               const TokenRange& range)
    : model_(model), inputs_(std::move(inputs)), task_(task) {
  const ModelConfig& config = model.config();
  require_fitting(config, inputs_, "tokens");
  const std::int64_t end = range.end.value_or(config.length);
  if (range.begin < 0 || range.begin >= end || end > config.length)
    throw InputError(fmt::format("tokens {}:{} were asked for, the model has 0:{}", range.begin,
                                 end, config.length));
  begin_ = static_cast<int>(range.begin);
  end_ = static_cast<int>(end);
  for (int layer = 0; layer < config.layers; ++layer)
    layers_.push_back({fmt::format("{}", layer + 1), inputs_.count, config.heads, end_ - begin_});
}

int ModelAttention::samples_at_once(int threads) const {
  if (threads <= 0) threads = default_thread_count();
  return std::min(
      {threads, inputs_.count, problems_in_memory(model_.config().heads, model_.config().length)});
}

void ModelAttention::for_each(int threads, const SampleVisitor& visitor) {
  EvaluateOptions options;
  options.threads = samples_at_once(threads);
  std::vector<std::optional<SampleHeads>> workspaces(static_cast<std::size_t>(options.threads));
  options.attention = [&](const SampleAttention& attention) {
    auto& heads = workspaces[static_cast<std::size_t>(attention.worker)];
    if (!heads) heads.emplace(attention.heads, end_ - begin_);
    heads->start([&](int head, Matrix& into) { read_head(attention, head, begin_, into); });
    visitor(attention.layer, attention.sample, attention.worker, *heads);
  };
  const Sequences answers = task_ == nullptr ? inputs_ : targets(*task_, inputs_);
  const Evaluation evaluation = evaluate(model_, inputs_, answers, options);
  if (task_ != nullptr) evaluation_ = evaluation;
}

}  // namespace synergraph

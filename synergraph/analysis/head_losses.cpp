#include "synergraph/analysis/head_losses.h"

#include <cmath>

#include "synergraph/core/error.h"
#include "synergraph/core/progress.h"
#include "synergraph/statistics/rank_tests.h"
#include "synergraph/subsets/game.h"

namespace synergraph {
namespace {

/// Subsets on sequences that are evaluated without being asked for: some seconds.
constexpr double kQuick = 1e5;

double evaluations(const AttentionSource& source) {
  double sum = 0.0;
  for (const AttentionLayer& layer : source.layers())
    sum += std::exp2(layer.heads) * layer.samples / layer.sinks;
  return sum;
}

}  // namespace

std::optional<std::vector<LossOfHeads>> losses_of_heads(
    AttentionSource& source, const std::vector<LayerHeadValues>& structure, LossChoice choice,
    const Execution& execution) {
  const auto* model = dynamic_cast<const ModelAttention*>(&source);
  const bool judged = model != nullptr && model->evaluation();
  if (choice == LossChoice::kYes && !judged)
    throw InputError("--loss: the loss needs a checkpoint and --task");
  if (choice == LossChoice::kNo || !judged ||
      (choice == LossChoice::kAuto && evaluations(source) > kQuick))
    return std::nullopt;
  LossGameOptions options;
  options.execution = execution;
  options.execution.progress = {};
  Progress progress("subsets", static_cast<std::uint64_t>(evaluations(source)), 0,
                    execution.progress);
  options.subsets_done = [&](std::uint64_t count) { progress.add(count); };
  std::vector<LossOfHeads> losses;
  for (const LossGame& game : model->loss_games(options)) {
    LossOfHeads& loss = losses.emplace_back();
    const std::vector<double> values = game.loss_values();
    loss.won = values.back();
    loss.shapley = shapley_values(values);
    for (const ValueOfHeads& value : structure[losses.size() - 1].values) {
      std::vector<double> shapley;
      for (const ValueOfHead& head : value.heads) shapley.push_back(head.shapley.mean);
      loss.agreement.push_back(rank_correlation(shapley, loss.shapley));
    }
  }
  return losses;
}

}  // namespace synergraph

#include "synergraph/analysis/head_losses.h"

#include <fmt/core.h>

#include <cmath>
#include <span>
#include <string>
#include <utility>

#include "synergraph/analysis/game_values.h"
#include "synergraph/core/error.h"
#include "synergraph/core/progress.h"
#include "synergraph/core/setting.h"
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

/// All indices of a game, by the table of the mean over all sequences.
ValueOfHeads indices_of(const std::string& layer, const std::vector<double>& table, int heads,
                        double keep) {
  HeadValueOptions options;
  options.keep = keep;
  const GameFunction look_up = [&](int, std::span<const std::vector<int>> sets,
                                   std::span<double> values) {
    for (std::size_t k = 0; k < sets.size(); ++k) {
      Subset subset = 0;
      for (const int head : sets[k]) subset |= Subset{1} << head;
      values[k] = table[subset];
    }
  };
  AttentionLayer one;
  one.name = layer;
  one.samples = 1;
  one.heads = heads;
  return std::move(value_games({one}, look_up, options).layer_values.front().values.front());
}

bool has_losses(const AttentionSource& source) {
  const auto* model = dynamic_cast<const ModelAttention*>(&source);
  return model != nullptr && model->evaluation();
}

}  // namespace

void require_losses(const AttentionSource& source, LossChoice choice) {
  if (choice != LossChoice::kYes) return;
  const std::string loss = option_mark("loss");
  if (!has_losses(source))
    throw InputError(fmt::format("{} and {} need a checkpoint and {}", loss,
                                 option_mark("ablation"), option_mark("task")));
  for (const AttentionLayer& layer : source.layers())
    if (layer.heads > kMaxExactHeads)
      throw InputError(
          fmt::format("{}: layer {} has {} heads; all subsets of at most {} heads "
                      "are measured",
                      loss, layer.name, layer.heads, kMaxExactHeads));
}

std::optional<std::vector<LossOfHeads>> losses_of_heads(AttentionSource& source,
                                                        const HeadValues& structure,
                                                        const LossOfHeadsOptions& how,
                                                        const Execution& execution) {
  require_losses(source, how.choice);
  if (how.choice == LossChoice::kNo || !has_losses(source) ||
      (how.choice == LossChoice::kAuto && evaluations(source) > kQuick))
    return std::nullopt;
  LossGameOptions options;
  options.ablation = how.ablation;
  options.execution = execution;
  options.execution.progress = {};
  Progress progress("subsets", static_cast<std::uint64_t>(evaluations(source)), 0,
                    execution.progress);
  options.subsets_done = [&](std::uint64_t count) { progress.add(count); };
  std::vector<LossOfHeads> losses;
  for (const LossGame& game : dynamic_cast<const ModelAttention&>(source).loss_games(options)) {
    const std::size_t l = losses.size();
    LossOfHeads& loss = losses.emplace_back();
    loss.ablation = how.ablation;
    const std::vector<double> values = game.loss_values();
    loss.won = values.back();
    loss.shapley = shapley_values(values);
    loss.value = indices_of(structure.layers[l].name, values, game.heads, structure.options.keep);
    const std::vector<double> accuracies = game.accuracy_values();
    loss.accuracy_won = accuracies.back();
    loss.accuracy_shapley = shapley_values(accuracies);
    for (const ValueOfHeads& value : structure.layer_values[l].values) {
      std::vector<double> shapley;
      for (const ValueOfHead& head : value.heads) shapley.push_back(head.shapley.mean);
      loss.agreement.push_back(rank_correlation(shapley, loss.shapley));
    }
  }
  return losses;
}

}  // namespace synergraph

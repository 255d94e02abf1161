#pragma once

#include <optional>
#include <vector>

#include "synergraph/analysis/layer_head_values.h"
#include "synergraph/analysis/model_attention.h"
#include "synergraph/core/names.h"
#include "synergraph/model/loss_game.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// Whether the loss is attributed to heads, too.
enum class LossChoice {
  kAuto,  ///< where that takes a few seconds
  kYes,
  kNo,
};
template <>
inline constexpr NameTable<LossChoice, 3> kNamesOf<LossChoice>{
    {{LossChoice::kAuto, "auto"}, {LossChoice::kYes, "yes"}, {LossChoice::kNo, "no"}}};

/// What a layer's heads are worth to the model (theory: "Games on the loss"), beside what they are
/// worth in the attention graph.
struct LossOfHeads {
  Ablation ablation = Ablation::kMean;
  double won = 0.0;             ///< by all heads of the layer over none, in nats
  std::vector<double> shapley;  ///< of each head; they sum to `won`
  /// All indices of the game, on the mean loss of all sequences: no standard errors.
  ValueOfHeads value = {};
  double accuracy_won = 0.0;             ///< by all heads of the layer over none
  std::vector<double> accuracy_shapley;  ///< of each head; they sum to `accuracy_won`
  std::vector<double> agreement;         ///< rank correlation with the Shapley values of each value
};

/// Which loss is attributed to heads, and how.
struct LossOfHeadsOptions {
  LossChoice choice = LossChoice::kAuto;
  Ablation ablation = Ablation::kMean;
};

/// InputError where the choice is yes and the loss is not to be had: no checkpoint with a task, or
/// a layer of more than kMaxExactHeads heads.
void require_losses(const AttentionSource& source, LossChoice choice);

/// Attributes the loss to the heads of every layer, and compares the result with structure. Nothing
/// where the choice is no, or it is auto and the source is no checkpoint with a task, or a layer
/// takes too long. InputError as require_losses().
std::optional<std::vector<LossOfHeads>> losses_of_heads(AttentionSource& source,
                                                        const HeadValues& structure,
                                                        const LossOfHeadsOptions& options,
                                                        const Execution& execution);

}  // namespace synergraph
#pragma GCC visibility pop

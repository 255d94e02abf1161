#pragma once

#include <optional>
#include <vector>

#include "synergraph/analysis/layer_head_values.h"
#include "synergraph/analysis/model_attention.h"
#include "synergraph/core/names.h"

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
  double won = 0.0;               ///< by all heads of the layer over none, in nats
  std::vector<double> shapley;    ///< of each head; they sum to `won`
  std::vector<double> agreement;  ///< rank correlation with the Shapley values of each value
};

/// Attributes the loss to the heads of every layer, by mean ablation, and compares the result with
/// structure. Nothing where the choice is no, or it is auto and the source is no checkpoint with a
/// task, or a layer takes too long. InputError where the choice is yes and the loss is not to be
/// had: no checkpoint with a task, or a layer of more than kMaxExactHeads heads.
std::optional<std::vector<LossOfHeads>> losses_of_heads(
    AttentionSource& source, const std::vector<LayerHeadValues>& structure, LossChoice choice,
    const Execution& execution);

}  // namespace synergraph
#pragma GCC visibility pop

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "synergraph/analysis/head_losses.h"
#include "synergraph/analysis/head_values.h"
#include "synergraph/analysis/moved_shares.h"
#include "synergraph/analysis/stack_analysis.h"
#include "synergraph/report/input_report.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// The loss of a model that ran elsewhere, over samples: what values of sets of its heads are of.
struct AblatedLoss {
  Ablation kind = Ablation::kMean;
  std::string name;            ///< of the loss
  Estimate intact;             ///< of the model as it is
  Estimate without_attention;  ///< with every head of every layer off
  Estimate needed;             ///< the difference of both
};
/// What subsets of heads say, and what is needed to read it.
struct HeadsReport : InputReport {
  HeadValues head_values;
  std::optional<StackAnalysis> stack = {};  ///< where it was asked for
  /// Of each layer, where it was measured.
  std::optional<std::vector<LossOfHeads>> loss = {};
  std::optional<MovedShares> moved = {};  ///< of a model whose attention is measured
  std::optional<AblatedLoss> ablated =
      {};  ///< where the values are of value_games(), not attention
  Convention convention = Convention::kExact;
  std::vector<std::string> head_names = {};   ///< of a graph; empty: numbers from 0
  std::vector<std::string> token_names = {};  ///< likewise
  bool verbose = false;                       ///< texts have the tables of every layer
};

}  // namespace synergraph
#pragma GCC visibility pop

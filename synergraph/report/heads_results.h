#pragma once

#include <optional>
#include <string>
#include <vector>

#include "synergraph/analysis/head_losses.h"
#include "synergraph/analysis/head_values.h"
#include "synergraph/analysis/stack_analysis.h"
#include "synergraph/report/input_report.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// What subsets of heads say, and what is needed to read it.
struct HeadsReport : InputReport {
  HeadValues head_values;
  std::optional<StackAnalysis> stack = {};  ///< where it was asked for
  /// Of each layer, where it was measured.
  std::optional<std::vector<LossOfHeads>> loss = {};
  Convention convention = Convention::kExact;
  std::vector<std::string> head_names = {};   ///< of a graph; empty: numbers from 0
  std::vector<std::string> token_names = {};  ///< likewise
  bool verbose = false;                       ///< texts have the tables of every layer
};

}  // namespace synergraph
#pragma GCC visibility pop

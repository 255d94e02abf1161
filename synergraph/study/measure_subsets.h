#pragma once

#include <string>

#include "synergraph/analysis/head_values.h"
#include "synergraph/model/evaluate.h"
#include "synergraph/study/cell.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// What is kept of one value of a layer's heads on so many samples, from all subsets and with best
/// weights.
ValueSubsets subset_numbers(const ValueOfHeads& layer_value, int samples);

/// Measures every subset of the heads of every layer of a model on every given sequence, by the
/// exact convention with the learned head weights; as many as measures_subsets() allows.
/// `evaluators` run the model; by default on the CPU. `device` measures as far as it can, and the
/// CPU the rest.
std::vector<LayerSubsets> measure_subsets(const Model& model, const Sequences& sequences,
                                          const MeasureSettings& settings,
                                          const Execution& execution,
                                          const EvaluatorFactory& evaluators = {},
                                          const std::string& device = "cpu");

}  // namespace synergraph
#pragma GCC visibility pop

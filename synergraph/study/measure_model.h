#pragma once

#include <string>

#include "synergraph/core/execution.h"
#include "synergraph/model/evaluate.h"
#include "synergraph/study/cell.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// A model's layers by both conventions.
struct ModelMeasurement {
  double loss = 0.0;      ///< on the sequences, by the task
  double accuracy = 0.0;  ///< likewise
  std::vector<LayerSummary> exact;
  std::vector<LayerSummary> published;
  std::string measured_on = {};  ///< see Analysis::measured_on
};

/// Measures every layer of a model on every given sequence, with the learned head weights.
/// `settings.samples` is not used: all sequences are. `evaluators` run the model; by default on the
/// CPU. `device` measures as far as it can, and the CPU the rest.
ModelMeasurement measure_model(const Model& model, const Task& task, const Sequences& sequences,
                               const MeasureSettings& settings, const Execution& execution,
                               const EvaluatorFactory& evaluators = {},
                               const std::string& device = "cpu");

}  // namespace synergraph
#pragma GCC visibility pop

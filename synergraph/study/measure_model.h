#pragma once

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
};

/// Measures every layer of a model on every given sequence, with the learned head weights.
/// `settings.samples` is not used: all sequences are. `evaluators` run the model; by default on the
/// CPU.
ModelMeasurement measure_model(const Model& model, const Task& task, const Sequences& sequences,
                               const MeasureSettings& settings, const Execution& execution,
                               const EvaluatorFactory& evaluators = {});

}  // namespace synergraph
#pragma GCC visibility pop

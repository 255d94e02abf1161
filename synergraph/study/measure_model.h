#pragma once

#include <atomic>

#include "synergraph/core/progress.h"
#include "synergraph/model/parameters.h"
#include "synergraph/model/tasks.h"
#include "synergraph/study/cell.h"

namespace synergraph {

/// A model's layers by both conventions.
struct ModelMeasurement {
  double loss = 0.0;      ///< on the sequences, by the task
  double accuracy = 0.0;  ///< likewise
  std::vector<LayerResult> exact;
  std::vector<LayerResult> published;
};

struct MeasureModelOptions {
  int threads = 0;  ///< 0: all CPUs; results do not depend on it
  ProgressOptions progress;
  const std::atomic<bool>* stop = nullptr;  ///< as AnalysisOptions::stop
};

/// The keys of a layer's numbers: LayerResult::numbers.
std::vector<std::string> layer_keys(const MeasureSettings& settings);

/// Measures every layer of a model on every given sequence, with the learned head weights.
/// `settings.samples` is not used: all sequences are.
ModelMeasurement measure_model(const Model& model, const Task& task, const Sequences& sequences,
                               const MeasureSettings& settings, const MeasureModelOptions& options);

}  // namespace synergraph

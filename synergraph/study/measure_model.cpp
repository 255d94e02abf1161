#include "synergraph/study/measure_model.h"

#include "synergraph/analysis/analysis.h"
#include "synergraph/analysis/model_attention.h"

namespace synergraph {
namespace {

MetricsOptions metrics_options(Convention convention, const MeasureSettings& settings) {
  MetricsOptions options = convention_options(convention);
  options.walk.eps = settings.eps;
  options.walk.cutoff = settings.cutoff;
  if (convention == Convention::kPublished) options.fidelity.horizon = settings.horizon;
  options.per_head_walks = true;
  return options;
}

}  // namespace

ModelMeasurement measure_model(const Model& model, const Task& task, const Sequences& sequences,
                               const MeasureSettings& settings, const Execution& execution,
                               const EvaluatorFactory& evaluators, const std::string& device) {
  AnalysisOptions analysis_options;
  analysis_options.device = device;
  analysis_options.device_optional = true;
  analysis_options.execution = execution;
  analysis_options.conventions.clear();
  for (const Convention convention : {Convention::kExact, Convention::kPublished})
    analysis_options.conventions.push_back(metrics_options(convention, settings));
  ModelAttention source(model, sequences, &task, {}, evaluators);
  const Analysis analysis = analyse(source, weights_of_model(model), analysis_options);

  ModelMeasurement measurement;
  measurement.loss = source.evaluation()->loss;
  measurement.accuracy = source.evaluation()->accuracy;
  measurement.measured_on = analysis.measured_on;
  for (std::size_t c = 0; c < analysis.conventions.size(); ++c) {
    auto& layers = c == 0 ? measurement.exact : measurement.published;
    for (const MeasuredLayer& layer : analysis.summaries[c]) {
      layers.push_back(layer.all);
      layers.back().numbers.erase(Quantity::kEffectiveForwardProbability);  // see cell_quantities()
    }
  }
  return measurement;
}

}  // namespace synergraph

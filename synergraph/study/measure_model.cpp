#include "synergraph/study/measure_model.h"

#include "synergraph/analysis/analysis.h"
#include "synergraph/analysis/model_attention.h"
#include "synergraph/statistics/rank_tests.h"

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

LayerResult layer_result(const std::vector<HeadsMetrics>& samples, const MetricsOptions& options) {
  const LayerSummary summary = summarise_layer(samples, options);
  const std::vector<SampleColumn> columns = sample_columns(options);
  LayerResult result;
  for (std::size_t k = 0; k < columns.size(); ++k)
    result.numbers[columns[k].key] = summary.combined[k];
  result.numbers[kBestHeadKey] = summary.best_head_fidelity;
  result.numbers["synergy"] = summary.synergy;
  result.numbers["mixing_synergy"] = summary.mixing_synergy;
  result.numbers["cross_head_share"] = summary.cross_head_share;
  result.undecided = summary.synergy_undecided;
  std::vector<double> times;
  std::vector<double> fidelities;
  for (const HeadsMetrics& sample : samples) {
    times.push_back(sample.combined.walk.truncated.mean);
    fidelities.push_back(sample.combined.fidelity.minimax);
    if (sample.synergy.present().value_or(false)) ++result.with_synergy;
  }
  result.rank_correlation = rank_correlation(times, fidelities);
  return result;
}

}  // namespace

std::vector<std::string> layer_keys(const MeasureSettings& settings) {
  std::vector<std::string> keys = {kBestHeadKey, "synergy", "mixing_synergy", "cross_head_share"};
  for (const SampleColumn& column : sample_columns(metrics_options(Convention::kExact, settings)))
    keys.push_back(column.key);
  return keys;
}

ModelMeasurement measure_model(const Model& model, const Task& task, const Sequences& sequences,
                               const MeasureSettings& settings, const Execution& execution) {
  AnalysisOptions analysis_options;
  analysis_options.execution = execution;
  for (const Convention convention : {Convention::kExact, Convention::kPublished})
    analysis_options.conventions.push_back(metrics_options(convention, settings));
  ModelAttention source(model, sequences, &task, {});
  const Analysis analysis = analyse(source, weights_of_model(model), analysis_options);

  ModelMeasurement measurement;
  measurement.loss = source.evaluation()->loss;
  measurement.accuracy = source.evaluation()->accuracy;
  for (std::size_t c = 0; c < analysis.conventions.size(); ++c) {
    auto& layers = c == 0 ? measurement.exact : measurement.published;
    for (const std::vector<HeadsMetrics>& samples : analysis.samples[c])
      layers.push_back(layer_result(samples, analysis.conventions[c]));
  }
  return measurement;
}

}  // namespace synergraph

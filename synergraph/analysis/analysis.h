#pragma once

#include <functional>
#include <string>
#include <vector>

#include "synergraph/analysis/attention_source.h"
#include "synergraph/analysis/head_weights.h"
#include "synergraph/core/execution.h"
#include "synergraph/statistics/summary.h"

namespace synergraph {

struct AnalysisOptions {
  /// What to measure: one convention, or several in one pass.
  std::vector<MetricsOptions> conventions;
  Execution execution;
};

/// All that was measured: samples[convention][layer][sample].
struct Analysis {
  std::vector<AttentionLayer> layers;
  LayerWeights weights;
  std::vector<MetricsOptions> conventions;
  std::vector<std::vector<std::vector<HeadsMetrics>>> samples;
};

/// Measures every layer on every sample. Stopped if it was asked to stop before the last.
Analysis analyse(AttentionSource& source, LayerWeights weights, const AnalysisOptions& options);

/// One number of a head, or of all heads together, and how files call it.
struct SampleColumn {
  std::string key;
  std::function<double(const Metrics&)> value;
};

/// The numbers of Metrics in their order in files; the speed comes first. NaN: not measured.
std::vector<SampleColumn> sample_columns(const MetricsOptions& options);

/// A layer over its samples.
struct LayerSummary {
  std::vector<Summary> combined;            ///< one a sample_columns() entry
  std::vector<std::vector<Summary>> heads;  ///< [head][column]
  Summary best_head_fidelity;               ///< of each sample's own best head
  Summary synergy;
  Summary mixing_synergy;
  Summary cross_head_share;
  Summary effective_forward_probability;
  std::vector<double> best_share;  ///< share of the samples in which each head is the best
  int best_head = 0;               ///< the one that is most often
  double synergy_share = 0.0;      ///< share of the samples with synergy above 1
  // Samples in which fidelities that are not certified leave open
  int best_head_undecided = 0;  ///< which head is the best
  int synergy_undecided = 0;    ///< whether there is synergy
};

LayerSummary summarise_layer(const std::vector<HeadsMetrics>& samples,
                             const MetricsOptions& options);

}  // namespace synergraph

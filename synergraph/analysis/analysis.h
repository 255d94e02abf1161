#pragma once

#include <functional>
#include <string>
#include <vector>

#include "synergraph/analysis/head_weights.h"
#include "synergraph/analysis/layer_summary.h"
#include "synergraph/analysis/shared_samples.h"
#include "synergraph/core/execution.h"
#include "synergraph/heads/attention_source.h"
#include "synergraph/heads/measure_systems.h"

#pragma GCC visibility push(default)
namespace synergraph {

struct AnalysisOptions {
  /// What to measure: one convention, or several in one pass.
  std::vector<MetricsOptions> conventions = {convention_options(Convention::kExact)};
  Execution execution = {};
  bool nodes = false;  ///< keep the numbers of every node, too
  /// Name of the device that measures, see choose_measuring_device(). If it is `optional`, what it
  /// cannot do is left to the CPU without a word.
  std::string device = "cpu";
  bool device_optional = false;
  int worker = 0;  ///< of several on a machine, each with a GPU of its own
};

/// All that was measured: samples[convention][layer][sample], and layers over their samples.
struct Analysis {
  std::vector<AttentionLayer> layers;
  LayerWeights weights;
  std::vector<MetricsOptions> conventions;
  std::vector<std::vector<std::vector<HeadsMetrics>>> samples;
  std::vector<std::vector<MeasuredLayer>> summaries = {};  ///< [convention][layer]
  /// The devices that measured, with their precision: "cuda (NVIDIA H200, sm_90), float64". Empty:
  /// the CPU, in double precision.
  std::string measured_on = {};
};

/// Measures every layer on every sample. InputError where weights or conventions are wrong, before
/// any attention is read. Stopped if it was asked to stop before the last.
Analysis analyse(AttentionSource& source, LayerWeights weights, const AnalysisOptions& options);

/// The same by several workers, see share_samples(): `finish` gets what analyse() would have given.
SharedEnd analyse_shared(AttentionSource& source, LayerWeights weights,
                         const AnalysisOptions& options, const SharedSamples& how,
                         const std::function<void(Analysis)>& finish);

}  // namespace synergraph
#pragma GCC visibility pop

#pragma once

#include <limits>
#include <vector>

#include "synergraph/heads/synergy.h"
#include "synergraph/study/attention_source.h"

namespace synergraph {

/// Speed and fidelity of one head, or of all together, on one sample. Not measured: NaN.
struct SampleMetrics {
  double forward_probability = std::numeric_limits<double>::quiet_NaN();
  double truncated_mean = std::numeric_limits<double>::quiet_NaN();  ///< the paper's proxy
  double truncated_max = std::numeric_limits<double>::quiet_NaN();
  double hitting_mean = std::numeric_limits<double>::quiet_NaN();
  double hitting_max = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> mixing;  ///< T_mix for every eps; empty if not measured
  double fidelity = 0.0;       ///< minimax
  double fidelity_upper = 0.0;
  double fidelity_time = 0.0;  ///< optimal time of the node that attains the minimax
  int fidelity_node = 0;
};

/// One layer on one sample under one convention.
struct LayerSample {
  SampleMetrics combined;
  std::vector<SampleMetrics> heads;
  Synergy synergy;
  double cross_head_share = 0.0;
  double effective_forward_probability = std::numeric_limits<double>::quiet_NaN();
  /// Measured with the heads' walks; by the per-head normalisation whatever the convention.
  double mixing_synergy = std::numeric_limits<double>::quiet_NaN();
};

struct LayerMetricsOptions {
  /// One LayerSample each. Their per_head_walks must agree; their first eps is that of the mixing
  /// synergy.
  std::vector<MetricsOptions> conventions = {};
  int threads = 1;                          ///< inside this sample
  std::function<void()> head_done = [] {};  ///< called after every head
};

/// Measures a sample under all conventions: the numbers of measure_heads(), each head read at most
/// twice and at most one of them in memory at a time unless they are kept.
std::vector<LayerSample> measure_sample(SampleHeads& heads, const std::vector<double>& weights,
                                        const LayerMetricsOptions& options);

}  // namespace synergraph

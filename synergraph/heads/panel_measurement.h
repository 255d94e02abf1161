#pragma once

#include <vector>

#include "synergraph/heads/panel_operators.h"
#include "synergraph/heads/synergy.h"

namespace synergraph {

struct PanelOptions {
  std::vector<MetricsOptions> conventions = {};
  std::vector<double> weights = {};  ///< convex
  Execution execution = {.threads = 1};
};

/// Measures a system by panels of its operators. The conventions must agree in their fidelity
/// options, cutoffs and per_head_walks. What the affordable panels do not decide stays open:
/// fidelities become intervals, times become NaN with their bounds (WalkSummary).
std::vector<HeadsMetrics> measure_by_panels(PanelOperators& operators, const PanelOptions& options);

}  // namespace synergraph

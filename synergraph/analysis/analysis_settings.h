#pragma once

#include "synergraph/heads/edges.h"
#include "synergraph/heads/metrics_settings.h"

namespace synergraph {

/// How layers are measured: sg_measure() and the command analyze.
struct AnalysisSettings {
  AnalysisSettings() { metrics.convention.several = true; }

  MetricsSettings metrics;
  EdgeSettings edges;
  bool per_head = false;
  bool per_node = false;
};

/// See Setting.
template <class Visit>
void visit_settings(AnalysisSettings& settings, Visit&& visit) {
  visit_settings(settings.metrics, visit);
  visit_settings(settings.edges, visit);
  visit(Setting{.key = "per_head",
                .group = kMeasurementGroup,
                .help = "also measure each head alone, and the mixing synergy"},
        settings.per_head);
  visit(Setting{.key = "per_node",
                .group = kMeasurementGroup,
                .help = "keep the numbers of every token",
                .faces = face::kLibrary},
        settings.per_node);
}

}  // namespace synergraph

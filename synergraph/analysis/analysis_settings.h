#pragma once

#include <string>

#include "synergraph/core/execution_settings.h"
#include "synergraph/device/device_name.h"
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
  std::string device{kAutomatic};  ///< of the library's calls; commands have it with their input
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
  visit(measuring_device_setting(kMeasurementGroup, face::kLibrary), settings.device);
}

}  // namespace synergraph

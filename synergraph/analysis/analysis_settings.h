#pragma once

#include <string>

#include "synergraph/analysis/analysis.h"
#include "synergraph/core/execution_settings.h"
#include "synergraph/device/device_name.h"
#include "synergraph/heads/edges.h"
#include "synergraph/heads/metrics_settings.h"

namespace synergraph {

/// How to analyse attention by these settings. `head_walks`: with the walks of each head alone.
inline AnalysisOptions analysis_options(const MetricsSettings& metrics, bool head_walks,
                                        bool per_node = false, bool backward = false) {
  AnalysisOptions options;
  options.nodes = per_node;
  options.conventions.clear();
  for (const Convention name : metrics.convention.names) {
    options.conventions.push_back(metrics.resolve(name, convention_options));
    options.conventions.back().per_head_walks = head_walks;
    options.conventions.back().backward = backward;
    options.conventions.back().fidelity.every_node = per_node;
  }
  return options;
}

/// How layers are measured: sg_measure() and the command analyze.
struct AnalysisSettings {
  AnalysisSettings() { metrics.convention.several = true; }

  MetricsSettings metrics;
  EdgeSettings edges;
  bool per_head = false;
  bool per_node = false;
  bool backward = false;
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
  visit(kBackwardSetting, settings.backward);
  visit(Setting{.key = "per_node",
                .group = kMeasurementGroup,
                .help = "keep the numbers of every token",
                .faces = face::kLibrary},
        settings.per_node);
  visit(measuring_device_setting(kMeasurementGroup, face::kLibrary), settings.device);
}

}  // namespace synergraph

#pragma once

#include <string>
#include <vector>

#include "synergraph/heads/edges.h"
#include "synergraph/heads/metrics_settings.h"

namespace synergraph {

/// How several heads on the same nodes are measured: sg_graph_measure() and the command graph.
struct HeadsOnNodesSettings {
  MetricsSettings metrics;
  bool backward = false;
  std::vector<double> weights;
};

/// See Setting. Python takes weights as arrays.
template <class Visit>
void visit_settings(HeadsOnNodesSettings& settings, Visit&& visit) {
  visit_settings(settings.metrics, visit);
  visit(kBackwardSetting, settings.backward);
  visit(Setting{.key = "weights",
                .group = kMeasurementGroup,
                .help = "head weights, one per head; they are normalised (default: the weights of "
                        "the graph or of the attention)",
                .faces = face::kProgram | face::kC},
        settings.weights, NumberRange<double>{0.0});
}

/// How one layer on one sample is measured: sg_system_measure() and its like.
struct SystemSettings : HeadsOnNodesSettings {
  EdgeSettings edges;
  std::vector<std::string> head_names;
  std::vector<std::string> node_names;
};

/// See Setting.
template <class Visit>
void visit_settings(SystemSettings& settings, Visit&& visit) {
  visit_settings(static_cast<HeadsOnNodesSettings&>(settings), visit);
  auto in_c = only_for(face::kC, visit);
  visit_settings(settings.edges, in_c);
  visit(Setting{.key = "head_names",
                .group = kMeasurementGroup,
                .help = "names of the heads (default: the names in the graph, or numbers from 0)",
                .faces = face::kC},
        settings.head_names);
  visit(Setting{.key = "node_names",
                .group = kMeasurementGroup,
                .help = "names of the nodes (default: the names in the graph, or numbers from 0)",
                .faces = face::kC},
        settings.node_names);
}

inline constexpr NumberRange<int> kCurveSteps{0, 1000000};

/// Curves over time: sg_system_curves().
struct CurveSettings {
  int steps = 100;
  bool signal = true;
};

/// See Setting.
template <class Visit>
void visit_settings(CurveSettings& settings, Visit&& visit) {
  visit(Setting{.key = "steps",
                .group = kMeasurementGroup,
                .help = "last step of the curves",
                .faces = face::kC},
        settings.steps, kCurveSteps);
  visit(Setting{.key = "signal",
                .group = kMeasurementGroup,
                .help = "also compute the signal of every node",
                .faces = face::kC},
        settings.signal);
}

/// Matrices of a system: sg_system_steps().
struct StepSettings {
  int steps = 0;
  bool powers = false;
};

/// See Setting.
template <class Visit>
void visit_settings(StepSettings& settings, Visit&& visit) {
  visit(
      Setting{
          .key = "steps", .group = kMeasurementGroup, .help = "highest power", .faces = face::kC},
      settings.steps, kCurveSteps);
  visit(Setting{.key = "powers",
                .group = kMeasurementGroup,
                .help = "also compute the powers of both matrices",
                .faces = face::kC},
        settings.powers);
}

}  // namespace synergraph

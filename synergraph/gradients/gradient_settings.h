#pragma once

#include <memory>
#include <span>
#include <vector>

#include "synergraph/core/names.h"
#include "synergraph/core/setting.h"
#include "synergraph/diffusion/fidelity_types.h"
#include "synergraph/gradients/differentiable_metric.h"
#include "synergraph/gradients/survival_gradient.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// The metrics that have gradients.
enum class GradientMetric {
  kHittingTime,
  kTruncatedHittingTime,
  kSurvival,
  kFidelity,
  kMinimax,
  kBackwardHittingTime,
  kStackFidelity,
};

template <>
inline constexpr NameTable<GradientMetric, 7> kNamesOf<GradientMetric>{{
    {GradientMetric::kHittingTime, "hitting_time"},
    {GradientMetric::kTruncatedHittingTime, "truncated_hitting_time"},
    {GradientMetric::kSurvival, "survival"},
    {GradientMetric::kFidelity, "fidelity"},
    {GradientMetric::kMinimax, "minimax"},
    {GradientMetric::kBackwardHittingTime, "backward_hitting_time"},
    {GradientMetric::kStackFidelity, "stack_fidelity"},
}};

/// A metric and its options; see the functions that make each.
struct GradientSettings {
  GradientMetric metric = GradientMetric::kHittingTime;
  std::vector<int> sinks = {};
  bool all_sinks = false;
  bool log = false;
  int cutoff = 100;
  std::vector<int> times = {};
  std::vector<int> nodes = {};
  FidelityNodes counted = FidelityNodes::kSources;
  int horizon = 100;
  double softness = 0.0;
  double residual = 0.5;
};

/// See Setting.
template <class Visit>
void visit_settings(GradientSettings& settings, Visit&& visit) {
  constexpr NumberRange<int> kPositions{-(1 << 30), 1 << 30};
  constexpr NumberRange<int> kSteps{1, kMostGradientSteps};
  const auto described = [](std::string_view key, std::string_view help) {
    return Setting{.key = key, .group = "Gradients", .help = help, .faces = face::kC};
  };
  visit(described("metric", "metric to differentiate"), settings.metric);
  visit(described("sinks",
                  "positions of the sinks, each the last token of a shorter graph; negative "
                  "positions count from the end; the metric is the mean over them (default: the "
                  "last token)"),
        settings.sinks, kPositions);
  visit(described("all_sinks", "use every token as a sink"), settings.all_sinks);
  visit(described(
            "log",
            "return the natural logarithm of the metric (of hitting_time, backward_hitting_time, "
            "minimax, stack_fidelity)"),
        settings.log);
  visit(described("cutoff", "cutoff for truncated hitting times, in steps"), settings.cutoff,
        kSteps);
  visit(described("times",
                  "times of survival, in steps; times of the signals of fidelity, one for "
                  "each node (default: the peak of each node)"),
        settings.times, NumberRange<int>{0, kMostGradientSteps});
  visit(described("nodes",
                  "tokens whose fidelity is computed; negative positions count from the end"),
        settings.nodes, kPositions);
  visit(described("counted", "tokens that count for the minimax fidelity"), settings.counted);
  visit(described("horizon", "last step that counts for fidelities"), settings.horizon, kSteps);
  visit(described("softness",
                  "softness of minimax and stack_fidelity, 1 / beta; 0: the exact "
                  "minimum with its subgradient"),
        settings.softness, NumberRange<double>{0.0, 1.0});
  visit(described("residual",
                  "share of the signal that bypasses the heads of each layer (default: 0.5)"),
        settings.residual, NumberRange<double>{0.0, 1.0});
}

/// The metric of some layers, of one layer but for stack fidelity.
std::unique_ptr<DifferentiableMetric> make_differentiable_metric(
    std::span<const CombinedRows> layers, const GradientSettings& settings);

}  // namespace synergraph
#pragma GCC visibility pop

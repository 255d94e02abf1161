#include "synergraph/gradients/gradient_settings.h"

#include <fmt/core.h>

#include <cstddef>

#include "synergraph/core/error.h"
#include "synergraph/gradients/fidelity_gradient.h"
#include "synergraph/gradients/hitting_gradient.h"
#include "synergraph/gradients/stack_gradient.h"

namespace synergraph {
namespace {

std::unique_ptr<DifferentiableMetric> fidelity_metric(const CombinedRows& attention,
                                                      const GradientSettings& settings,
                                                      const Sinks& sinks) {
  std::vector<int> nodes = settings.nodes;
  for (int& node : nodes)
    if (node < 0) node += attention.nodes();
  if (settings.times.empty()) {
    FidelityGradientOptions options;
    options.horizon = settings.horizon;
    options.sinks = sinks;
    return peak_fidelity_gradient(attention, nodes, options);
  }
  if (settings.times.size() != nodes.size())
    throw UsageError(fmt::format("times: {} numbers for {} nodes, expected one time for each node",
                                 settings.times.size(), nodes.size()));
  std::vector<SignalPlace> places;
  for (std::size_t k = 0; k < nodes.size(); ++k) places.push_back({nodes[k], settings.times[k]});
  return signal_gradient(attention, places, sinks);
}

}  // namespace

std::unique_ptr<DifferentiableMetric> make_differentiable_metric(
    std::span<const CombinedRows> layers, const GradientSettings& settings) {
  const Sinks sinks{settings.sinks, settings.all_sinks};
  if (layers.size() != 1 && settings.metric != GradientMetric::kStackFidelity)
    throw UsageError(
        fmt::format("{}: {} layers, expected one", name_of(settings.metric), layers.size()));
  if (settings.log && (settings.metric == GradientMetric::kTruncatedHittingTime ||
                       settings.metric == GradientMetric::kSurvival ||
                       settings.metric == GradientMetric::kFidelity))
    throw UsageError(
        fmt::format("log: there is no logarithm of {}; take the logarithm of its values",
                    name_of(settings.metric)));
  switch (settings.metric) {
    case GradientMetric::kHittingTime:
      return hitting_time_gradient(layers[0], {sinks, settings.log});
    case GradientMetric::kTruncatedHittingTime:
      return truncated_hitting_time_gradient(layers[0], settings.cutoff, sinks);
    case GradientMetric::kSurvival:
      return survival_gradient(layers[0], settings.times, sinks);
    case GradientMetric::kFidelity:
      return fidelity_metric(layers[0], settings, sinks);
    case GradientMetric::kMinimax: {
      FidelityGradientOptions options;
      options.horizon = settings.horizon;
      options.nodes = settings.counted;
      options.softness = settings.softness;
      options.logarithm = settings.log;
      options.sinks = sinks;
      return minimax_fidelity_gradient(layers[0], options);
    }
    case GradientMetric::kBackwardHittingTime:
      return backward_hitting_time_gradient(layers[0], {sinks, settings.log});
    case GradientMetric::kStackFidelity:
      return stack_fidelity_gradient(layers,
                                     {settings.residual, settings.softness, settings.log, sinks});
  }
  throw UsageError("metric: there is no such metric");
}

}  // namespace synergraph

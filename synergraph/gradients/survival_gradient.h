#pragma once

#include <memory>
#include <vector>

#include "synergraph/gradients/differentiable_metric.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// The mean over all start nodes of E[min(T, cutoff)] of the pooled walk. Always finite. Its
/// gradient has rank cutoff at most. Memory: two numbers a node and step.
std::unique_ptr<DifferentiableMetric> truncated_hitting_time_gradient(const CombinedRows& attention,
                                                                      int cutoff,
                                                                      const Sinks& sinks = {});

/// The mean over all start nodes of P(T > t), for each of some times t >= 0: a value each.
std::unique_ptr<DifferentiableMetric> survival_gradient(const CombinedRows& attention,
                                                        const std::vector<int>& times,
                                                        const Sinks& sinks = {});

/// The most steps of a gradient.
inline constexpr int kMostGradientSteps = 1 << 20;

}  // namespace synergraph
#pragma GCC visibility pop

#pragma once

#include <memory>
#include <span>

#include "synergraph/gradients/differentiable_metric.h"

#pragma GCC visibility push(default)
namespace synergraph {

struct StackGradientOptions {
  double residual = 0.5;  ///< a: the share that passes every layer beside its heads
  /// 1 / beta. 0: the smallest r_j, with the gradient of the first weakest token. Otherwise
  /// (mean over j of r_j^-beta)^(-1/beta).
  double softness = 0.0;
  bool logarithm = false;  ///< of the mean over sinks
  Sinks sinks = {};
};

/// Stack fidelity: the minimum over the sources of r_j = (R_L ... R_1)(sink, j), R_l = a I + (1 -
/// a) D_l (theory: "Through the layers"). The gradient has rank one a layer. InputError where the
/// layers differ in nodes.
std::unique_ptr<DifferentiableMetric> stack_fidelity_gradient(
    std::span<const CombinedRows> layers, const StackGradientOptions& options = {});

}  // namespace synergraph
#pragma GCC visibility pop

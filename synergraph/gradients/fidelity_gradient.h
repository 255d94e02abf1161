#pragma once

#include <memory>
#include <vector>

#include "synergraph/diffusion/fidelity_types.h"
#include "synergraph/gradients/differentiable_metric.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// The signal r_t[j] = (D^t)(sink, j) of a node at a time, both from 0 on.
struct SignalPlace {
  int node = 0;
  int time = 0;
};

/// The signals at some places: a value each. The gradient has as many ranks as the latest time.
/// Of several sinks the mean; the signal at a sink of a later node is 0.
std::unique_ptr<DifferentiableMetric> signal_gradient(const CombinedRows& attention,
                                                      const std::vector<SignalPlace>& places,
                                                      const Sinks& sinks = {});

struct FidelityGradientOptions {
  int horizon = 100;  ///< the last step that counts
  /// Which nodes count for the minimax: the sources, or also the sink, from its first step on.
  FidelityNodes nodes = FidelityNodes::kSources;
  /// 1 / beta, at most 1. 0: the exact minimax, with the subgradient of the first weakest node at
  /// its first peak. Otherwise the smooth value
  ///   v = (mean over j of phi_j^-beta)^(-1/beta), phi_j = (sum over 1 <= t <= horizon of
  ///   r_t[j]^beta)^(1/beta),
  /// which tends to the exact one as beta grows: m <= v <= m (N horizon)^(1/beta).
  double softness = 0.0;
  bool logarithm = false;  ///< of the mean over sinks
  Sinks sinks = {};
};

/// phi_j = max over t of the signal, for each of some nodes: a value each. The gradient is that of
/// the signal at the first peak. `softness` and `logarithm` are not used.
std::unique_ptr<DifferentiableMetric> peak_fidelity_gradient(
    const CombinedRows& attention, const std::vector<int>& nodes,
    const FidelityGradientOptions& options = {});

/// The minimax fidelity within the horizon. A node that no signal reaches has fidelity 0; the
/// exact minimax then has the derivative of that node's signal after one step.
std::unique_ptr<DifferentiableMetric> minimax_fidelity_gradient(
    const CombinedRows& attention, const FidelityGradientOptions& options = {});

}  // namespace synergraph
#pragma GCC visibility pop

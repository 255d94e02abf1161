#pragma once

#include <memory>

#include "synergraph/gradients/differentiable_metric.h"

#pragma GCC visibility push(default)
namespace synergraph {

struct HittingGradientOptions {
  Sinks sinks = {};
  bool logarithm = false;  ///< of the mean
};

/// The mean over all start nodes of E[T], the untruncated hitting time of the pooled walk
/// P(j, i) = D(i, j) / C_j (theory: "Gradients"). Its gradient has rank two:
/// (nu_j / C_j) (h_i + 1 - h_j) towards D(i, j), with nu_j the expected visits of j from a uniform
/// start. Infinity where a start node cannot reach the sink: pull_back() then names the node.
std::unique_ptr<DifferentiableMetric> hitting_time_gradient(
    const CombinedRows& attention, const HittingGradientOptions& options = {});

/// h_bwd: the expected steps of the backward walk from the sink to node 0, a step from i going to
/// j with probability D(i, j). Rank two, too.
std::unique_ptr<DifferentiableMetric> backward_hitting_time_gradient(
    const CombinedRows& attention, const HittingGradientOptions& options = {});

}  // namespace synergraph
#pragma GCC visibility pop

#pragma once

#include <vector>

#include "synergraph/heads/head_rows.h"
#include "synergraph/heads/measure_options.h"

namespace synergraph {

/// measure() for heads that are not in memory. Weights are convex. Numbers of every node are not
/// measured. Fidelities that the affordable steps do not certify are intervals; mixing times beyond
/// them are NaN, with their bounds. InputError for what is refused, and for heads that are no
/// attention.
std::vector<HeadsMetrics> measure_streamed(HeadRows& rows, const std::vector<double>& weights,
                                           const MeasureOptions& options);

}  // namespace synergraph

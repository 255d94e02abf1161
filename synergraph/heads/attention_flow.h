#pragma once

#include <vector>

#include "synergraph/core/execution.h"
#include "synergraph/core/matrix.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// Attention flow (theory: "Through the layers"): for every token j, the maximum flow from j below
/// the first layer to the sink above the last, where layer l passes at most layers[l](i, j) from
/// token j to token i. The matrices are lower triangular and of one size, first layer first.
///
/// Dinic's algorithm in double precision, one token after the other: no way to the sink is left of
/// which all edges have capacity. Each flow therefore is the capacity of a cut, and exact but for
/// the rounding of the sums and differences on its way. Stopped if asked to stop.
std::vector<double> attention_flow(const std::vector<Matrix>& layers,
                                   const Execution& execution = {});

}  // namespace synergraph
#pragma GCC visibility pop

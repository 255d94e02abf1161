#pragma once

#include "synergraph/analysis/design_score.h"
#include "synergraph/core/execution.h"
#include "synergraph/graph/layered_design.h"

namespace synergraph {

/// Most steps of the diffusion that a search looks at.
std::int64_t search_horizon(int nodes);

/// Searches the layers and collectors of the most faithful LayeredShape within limits: from several
/// numbers of layers and collectors uphill, with sizes of layers that make all of them equally
/// loud. At least four nodes.
DesignEdges best_layers(int nodes, int heads, const DesignLimits& limits,
                        const Execution& execution);

/// Removes edges, chosen at random, until the number of edges is within `edges`. Leaves a node an
/// edge to a later node while it can.
void trim(DesignEdges& edges, std::int64_t limit, std::uint64_t seed);

/// Random edges within a number, after a line through all nodes.
DesignEdges random_edges(int nodes, int heads, std::int64_t edges, std::uint64_t seed);

}  // namespace synergraph

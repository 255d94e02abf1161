#pragma once

#include <vector>

#include "synergraph/diffusion/fidelity_types.h"

namespace synergraph {

/// The nodes that count for the minimax fidelity of a system, rising. InputError where the options
/// choose a source that is not there.
std::vector<int> minimax_nodes(const FidelityOptions& options, int nodes);

}  // namespace synergraph

#pragma once

#include <cstdint>

#include "synergraph/core/execution.h"
#include "synergraph/diffusion/fidelity_types.h"
#include "synergraph/graph/sparse_graph.h"

#pragma GCC visibility push(default)
namespace synergraph {

struct SparseFidelityOptions {
  FidelityNodes nodes = FidelityNodes::kSources;
  std::int64_t horizon = 0;  ///< number of steps; 0: as many as the certificate needs
  /// The last step that counts. A result that is not certified by then is an interval.
  std::int64_t step_limit = 1000000;
};

/// Computes the fidelity of every node of a graph and their minimum (theory: "Node fidelity",
/// "Minimax fidelity"), an edge at a time. Later signals of a node are bounded by the mass that has
/// not passed the node yet (theory: "Certified horizon"). Signals below 2^-1022 count as 0.
Fidelity fidelity(const SparseGraph& graph, const SparseFidelityOptions& options = {},
                  const Execution& execution = {});

}  // namespace synergraph
#pragma GCC visibility pop

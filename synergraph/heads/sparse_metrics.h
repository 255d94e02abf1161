#pragma once

#include <cstdint>

#include "synergraph/chain/sparse_walk.h"
#include "synergraph/diffusion/sparse_fidelity.h"
#include "synergraph/graph/sparse_graph.h"

#pragma GCC visibility push(default)
namespace synergraph {

struct SparseMetricsOptions {
  double eps = 0.25;                 ///< threshold of all mixing times
  std::int64_t cutoff = 100;         ///< cutoff for truncated hitting times, in steps
  std::int64_t step_limit = 100000;  ///< limit on the steps of each walk and of the diffusion
};

/// The numbers of one graph, forward and backward (theory: "Averages and the way back").
struct SparseMetrics {
  SparseWalkSummary walk;
  Fidelity fidelity;
  SparseWalkSummary backward;  ///< the walk from each node to the nodes it hears, ending at node 0

  /// F = n phi_min: 1 for the complete graph.
  double normalised_fidelity() const {
    return fidelity.minimax * static_cast<double>(fidelity.node.size());
  }
  /// h_bwd, the expected steps of the backward walk from the sink to node 0.
  double backward_hitting_time() const { return backward.hitting.node.front(); }
  /// h_bwd / (n - 1), which phi_min never exceeds; infinity for a single node.
  double fidelity_bound() const;
};

SparseMetrics measure(const SparseGraph& graph, const SparseMetricsOptions& options = {},
                      const Execution& execution = {});

}  // namespace synergraph
#pragma GCC visibility pop

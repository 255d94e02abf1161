#pragma once

#include <cstdint>

#include "synergraph/chain/sparse_walk.h"
#include "synergraph/diffusion/sparse_fidelity.h"
#include "synergraph/graph/sparse_graph.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// How a graph is measured. Both ways give the same numbers, to rounding.
enum class GraphEngine {
  kFastest,   ///< by edges or by matrices, where less work was counted
  kEdges,     ///< an edge at a time
  kMatrices,  ///< as heads of attention are measured; slow walks are squared
};

struct SparseMetricsOptions {
  double eps = 0.25;                 ///< threshold of all mixing times
  std::int64_t cutoff = 100;         ///< cutoff for truncated hitting times, in steps; 0: none
  std::int64_t step_limit = 100000;  ///< limit on the steps of each walk and of the diffusion
  GraphEngine engine = GraphEngine::kFastest;
};

/// The largest graph that is measured by matrices.
inline constexpr int kMostMatrixNodes = 2048;

/// Estimated work of both engines, in steps along one edge. It follows from the numbers of nodes
/// and edges and from the hitting times, which say how many steps each walk needs.
struct GraphWork {
  double edges = 0.0;
  double matrices = 0.0;
};
GraphWork graph_work(const SparseGraph& graph, const SparseMetricsOptions& options = {});

/// The numbers of one graph, forward and backward (theory: "Averages and the way back").
struct SparseMetrics {
  SparseWalkSummary walk;
  Fidelity fidelity;
  SparseWalkSummary backward;  ///< the walk from each node to the nodes it hears, ending at node 0
  GraphEngine engine = GraphEngine::kEdges;  ///< that measured the graph

  /// F = n phi_min: 1 for the complete graph.
  double normalised_fidelity() const {
    return fidelity.minimax * static_cast<double>(fidelity.node.size());
  }
  /// h_bwd, the expected steps of the backward walk from the sink to node 0.
  double backward_hitting_time() const { return backward.hitting.node.front(); }
  /// h_bwd / (n - 1), which phi_min never exceeds; infinity for a single node.
  double fidelity_bound() const;
};

/// Measures a graph. kMatrices: InputError if the graph has more than kMostMatrixNodes nodes.
SparseMetrics measure(const SparseGraph& graph, const SparseMetricsOptions& options = {},
                      const Execution& execution = {});

}  // namespace synergraph
#pragma GCC visibility pop

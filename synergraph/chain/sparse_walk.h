#pragma once

#include <cstdint>
#include <vector>

#include "synergraph/chain/hitting.h"
#include "synergraph/core/execution.h"
#include "synergraph/graph/sparse_graph.h"

#pragma GCC visibility push(default)
namespace synergraph {

struct SparseWalkOptions {
  std::vector<double> eps = {0.25};    ///< thresholds of both mixing times
  std::int64_t cutoff = 100;           ///< cutoff for truncated hitting times, in steps
  std::int64_t step_limit = 10000000;  ///< mixing times beyond are reported as above it
};

/// A number of steps, or only a lower limit where the step limit was reached first.
struct Steps {
  double least = 0.0;  ///< the number, which is infinite where the sink is out of reach
  bool exact = true;
};

/// How fast the walk along the edges of a graph reaches the sink.
struct SparseWalkSummary {
  HittingTimes hitting;    ///< untruncated
  HittingTimes truncated;  ///< truncated at SparseWalkOptions::cutoff
  /// For every eps (theory: "Mixing time", "Averages and the way back"): T_mix, and T_avg by the L1
  /// distance and by the total variation.
  std::vector<Steps> mixing, averaged_l1, averaged_tv;
  std::int64_t steps = 0;  ///< that were computed
};

/// Returns E[T_j] by back substitution from the sink, an edge at a time, without a subtraction.
HittingTimes hitting_times(const SparseGraph& graph);

/// Summarises the walk along the edges of a graph, in proportion to their weights. A node without
/// outgoing edges stays. Times are found by stepping: exact integers, with the tolerance for ties
/// of mixing_times().
SparseWalkSummary summarise_walk(const SparseGraph& graph, const SparseWalkOptions& options = {},
                                 const Execution& execution = {});

}  // namespace synergraph
#pragma GCC visibility pop

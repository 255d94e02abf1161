#pragma once

#include <cstdint>
#include <vector>

#include "synergraph/chain/walk.h"
#include "synergraph/core/execution.h"

#pragma GCC visibility push(default)
namespace synergraph {

struct MonteCarloOptions {
  int walks = 500;            ///< walks per start node
  std::int64_t cutoff = 100;  ///< steps after which a walk stops
  std::uint64_t seed = 1;
};

/// Estimates of E[min(T_j, cutoff)] per node, and of the mean over start nodes with its standard
/// error. `mean_bound` bounds the error of the mean with probability 0.95 (empirical Bernstein and
/// Hoeffding inequalities). The bound holds even if all walks took the same time because no walk
/// met a rare event.
struct MonteCarloEstimate {
  std::vector<double> node;
  double mean = 0.0;
  double mean_error = 0.0;
  double mean_bound = 0.0;
};

/// Runs the paper's sampling procedure (theory: "Algorithm 1") on a walk whose steps sum to one.
/// The estimates serve as a check of the exact numbers.
MonteCarloEstimate simulate(const Walk& walk, const MonteCarloOptions& options = {},
                            const Execution& execution = {});

/// Samples exactly as the published numbers were sampled, from un-normalised pooled attention. A
/// step takes the first i whose running column sum reaches u, or the sink.
MonteCarloEstimate simulate_published(ConstMatrixView attention,
                                      const MonteCarloOptions& options = {},
                                      const Execution& execution = {});

}  // namespace synergraph
#pragma GCC visibility pop

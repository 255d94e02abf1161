#pragma once

#include <cstdint>
#include <vector>

#include "synergraph/chain/walk.h"
#include "synergraph/core/execution.h"

#pragma GCC visibility push(default)
namespace synergraph {

struct MonteCarloOptions {
  int walks = 500;            ///< from every start node
  std::int64_t cutoff = 100;  ///< steps after which a walk is given up
  std::uint64_t seed = 1;
};

/// Estimates of E[min(T_j, cutoff)], and of their mean over start nodes with its standard error and
/// with a bound of its error that holds with probability 0.95 even where every walk took the same
/// time because none met what is rare (empirical Bernstein and Hoeffding inequalities).
struct MonteCarloEstimate {
  std::vector<double> node;
  double mean = 0.0;
  double mean_error = 0.0;
  double mean_bound = 0.0;
};

/// The paper's sampling procedure (theory: "Algorithm 1") on a walk whose steps sum to one: to
/// compare the exact numbers with.
MonteCarloEstimate simulate(const Walk& walk, const MonteCarloOptions& options = {},
                            const Execution& execution = {});

/// The same, literally as the published numbers were sampled, from un-normalised pooled attention:
/// the first i whose running column sum reaches u, or the sink.
MonteCarloEstimate simulate_published(ConstMatrixView attention,
                                      const MonteCarloOptions& options = {},
                                      const Execution& execution = {});

}  // namespace synergraph
#pragma GCC visibility pop

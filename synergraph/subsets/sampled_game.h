#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "synergraph/core/execution.h"

#pragma GCC visibility push(default)
namespace synergraph {

// These functions estimate the indices of games that have too many heads for a table of values. The
// estimates come from sampled orders of the heads (theory: "Sampled orders").

/// Computes the values of the first `begin`, begin + step, begin + 2 step, ... heads of an order,
/// up to all H heads. For each beginning, `values` receives the values of all games. `values` has
/// (H - begin) / step + 1 times the number of games entries. Several threads call the function at
/// once.
using PrefixValues =
    std::function<void(std::span<const int> order, int begin, int step, std::span<double> values)>;

struct SamplingOptions {
  std::uint64_t seed = 0;
  /// Target standard error of every Shapley value, as a share of |v(all) - v(none)|. Interactions
  /// may miss this target.
  double precision = 0.001;
  /// Number of orders in one batch; the sampler checks the precision after each batch. The sampler
  /// draws 2 H orders at a time.
  std::int64_t batch = 256;
  /// Largest number of orders. The sampler draws at least `least_batches` times 2 H orders, so that
  /// the standard error is meaningful.
  std::int64_t max_permutations = 100000;
  std::int64_t least_batches = 8;  ///< at least 2
  /// The first so many games decide when the precision is reached; 0: all games do.
  int deciding_games = 0;
  /// Also estimate interactions of pairs, from additional orders. Pairs double the number of
  /// values, or triple the number for odd H.
  bool pairs = false;
  Execution execution = {};
};

/// Unbiased estimates for one game, and their standard errors. After few orders, no error is below
/// the average of all errors.
struct SampledIndices {
  double none = 0.0;            ///< v of no head
  double all = 0.0;             ///< v of all heads
  std::vector<double> shapley;  ///< the Shapley values; they sum to all - none
  std::vector<double> shapley_error;
  /// Shapley interaction indices in the order of pair_index(); empty unless requested.
  std::vector<double> pairs;
  std::vector<double> pairs_error;
  bool reached = false;  ///< true: the estimates have the target precision
};

struct GameSample {
  std::int64_t permutations = 0;  ///< number of orders behind the Shapley values
  std::vector<SampledIndices> games;
};

/// Samples until every game reaches the precision or the sampler has used max_permutations orders.
/// The result depends on the games and the seed, but not on the number of threads.
GameSample sample_games(int heads, int games, const PrefixValues& values,
                        const SamplingOptions& options = {});

}  // namespace synergraph
#pragma GCC visibility pop

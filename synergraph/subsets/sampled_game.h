#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "synergraph/core/execution.h"

#pragma GCC visibility push(default)
namespace synergraph {

// Indices of games with more heads than a table of values has: from sampled orders of the heads
// (theory: "Sampled orders").

/// Gives the values of the first `begin`, begin + step, begin + 2 step, ... heads of an order, up
/// to all H of them: one after the other into `values`, of all games for each, (H - begin) / step +
/// 1 times the number of games. Called from several threads.
using PrefixValues =
    std::function<void(std::span<const int> order, int begin, int step, std::span<double> values)>;

struct SamplingOptions {
  std::uint64_t seed = 0;
  /// Standard error wanted of every Shapley value, as a share of |v(all) - v(none)|. Interactions
  /// need not reach it.
  double precision = 0.001;
  /// Orders of one batch; after each the precision is looked at. Orders are drawn 2 H at a time.
  std::int64_t batch = 256;
  /// But never fewer than 16 H, for a standard error that means something.
  std::int64_t max_permutations = 100000;
  /// Interactions of pairs too, from further orders: twice the values in all, three times for odd
  /// H.
  bool pairs = false;
  Execution execution = {};
};

/// Estimates for one game, without bias, and their standard errors; of few orders, no error is
/// below the average of all.
struct SampledIndices {
  double none = 0.0;            ///< v of no head
  double all = 0.0;             ///< v of all heads
  std::vector<double> shapley;  ///< sum to all - none
  std::vector<double> shapley_error;
  std::vector<double> pairs;  ///< Shapley interaction indices, see pair_index(); empty unless asked
  std::vector<double> pairs_error;
  bool reached = false;  ///< the precision
};

struct GameSample {
  std::int64_t permutations = 0;  ///< orders behind the Shapley values
  std::vector<SampledIndices> games;
};

/// Samples until every game has the precision or the permutations are used up. The result depends
/// on the games and the seed, not on the threads.
GameSample sample_games(int heads, int games, const PrefixValues& values,
                        const SamplingOptions& options = {});

}  // namespace synergraph
#pragma GCC visibility pop

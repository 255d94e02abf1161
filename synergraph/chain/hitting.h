#pragma once

#include <cstdint>
#include <vector>

#include "synergraph/chain/walk.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// Expected steps to the sink from every start node.
struct HittingTimes {
  std::vector<double> node;  ///< infinity where the sink is out of reach; 0 at the sink
  double mean = 0.0;         ///< over all n start nodes, the sink included
  double max = 0.0;
  int worst_node = 0;  ///< the first node that attains max
};

/// Mean, maximum and worst node of per-node times.
HittingTimes summarise_hitting(std::vector<double> times);

/// Survival s_t[j] = P(T_j > t): result(t, j) for 0 <= t <= steps. s_0 = 1 - e_sink, s_{t+1} = P
/// s_t.
Matrix survival(const Walk& walk, int steps);

/// max_j s_t[j] for 0 <= t <= steps: the total-variation distance to the sink's point mass from the
/// worst start node (theory: "Mixing time").
std::vector<double> total_variation_curve(const Walk& walk, int steps);

/// E[min(T_j, cutoff)] = sum of s_t[j] over t < cutoff (theory: "Mixing-time proxy").
HittingTimes truncated_hitting_times(const Walk& walk, std::int64_t cutoff);

/// E[T_j] by back substitution from the sink, without a subtraction: relative precision near
/// machine epsilon however slow the walk is.
HittingTimes hitting_times(const Walk& walk);

}  // namespace synergraph
#pragma GCC visibility pop

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

/// Computes the mean, the maximum and the worst node of per-node times.
HittingTimes summarise_hitting(std::vector<double> times);

/// Returns the survival s_t[j] = P(T_j > t) as result(t, j) for 0 <= t <= steps. The recursion is
/// s_0 = 1 - e_sink, s_{t+1} = P s_t.
Matrix survival(const Walk& walk, int steps);

/// Returns max_j s_t[j] for 0 <= t <= steps. This maximum is the total-variation distance to the
/// sink's point mass from the worst start node (theory: "Mixing time").
std::vector<double> total_variation_curve(const Walk& walk, int steps);

/// Returns E[min(T_j, cutoff)] = sum of s_t[j] over t < cutoff (theory: "Mixing-time proxy").
HittingTimes truncated_hitting_times(const Walk& walk, std::int64_t cutoff);

/// Returns E[T_j] by back substitution from the sink, without a subtraction. The relative precision
/// is near machine epsilon, even for slow walks.
HittingTimes hitting_times(const Walk& walk);

}  // namespace synergraph
#pragma GCC visibility pop

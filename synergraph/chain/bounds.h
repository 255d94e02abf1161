#pragma once

#include <vector>

#include "synergraph/chain/walk.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// Returns p = min over j < sink of the forward mass of j (theory: "Forward probability"). p is 1
/// for a single node.
double forward_probability(const Walk& walk);

/// Returns the forward probability of a combination as the theorem defines it: sum_h w_h p_h.
double combined_forward_probability(const std::vector<double>& head_probabilities,
                                    const std::vector<double>& weights);

/// The paper's bound on the mixing time: T_mix(eps) <= steps for every eps >= valid_from.
struct MixingBound {
  double steps = 0.0;       ///< ceil(2 N / p), N = n - 1; infinity for p = 0
  double valid_from = 0.0;  ///< exp(-p N)
};

/// Returns the bound for a forward probability p on n nodes (theory: "Mixing time bound").
MixingBound mixing_bound(int nodes, double forward_probability);

/// Returns the smallest bound over all weights: the bound of the head with the largest p.
MixingBound adaptive_bound(int nodes, const std::vector<double>& head_probabilities);

/// Returns P(max_h p_h >= q) = 1 - F(q)^H for H independent heads (theory: "Head diversity").
/// `below` is F(q), the probability that the p of one head is below q.
double head_diversity_probability(double below, int heads);

/// Returns this probability with F estimated from observed forward probabilities: F(q) is the share
/// of observations below q.
double head_diversity_probability(const std::vector<double>& observed, double q, int heads);

}  // namespace synergraph
#pragma GCC visibility pop

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "synergraph/chain/walk.h"

namespace synergraph {

/// A linear function of the shares b of some corners, sum_k b_k plane[k], that is never above the
/// mean of E[T] (cutoff 0) or of E[min(T, cutoff)] over all start nodes, and near it at the given
/// shares: of walks whose rows are convex sums of the corners', with those shares or (`masses`) in
/// proportion to shares times masses[k][j]. Empty where times are infinite there.
///
/// A plane a(b) = sum_k b_k a_k stays below the times if at every node a step is never below it,
///   sum over k, l of b_k b_l m_k (1 + P_k a_l - a_l)(j) >= 0,
/// which holds where it holds for every pair: with x = a(j), p_k = m_k leave_k and what the nodes
/// after j give, c_kl, that is p_k x_l + p_l x_k <= c_kl. From the last node to the first, x is the
/// plane that touches at the given shares, lowered where a pair forbids it.
std::vector<double> time_plane(std::span<const Walk> corners,
                               std::span<const std::vector<double>> masses,
                               std::span<const double> shares, std::int64_t cutoff);

}  // namespace synergraph

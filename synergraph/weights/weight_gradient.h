#pragma once

#include <cstdint>

#include "synergraph/chain/walk.h"
#include "synergraph/core/matrix.h"
#include "synergraph/core/mirrored_matrix.h"

namespace synergraph {

/// Derivatives of a number with respect to the entries of a stochastic matrix, by adjoints. Rows
/// keep their sums, so only differences within a row matter: diagonals are 0 here, and the
/// derivative of a change E whose rows sum to zero is the sum of E(i, k) adjoint(i, k) over all k
/// other than i. Nothing that a slow head keeps to itself enters.

/// Of the signal (D^time)(sink, node), as an upper triangular matrix: (k, i) for D(i, k). Infinite
/// time: of the probability that the signal's way back ends in the node.
Matrix signal_adjoint(const MirroredMatrix& diffusion, int node, double time);

/// Of the mean over all start nodes of E[min(T, cutoff)]: (j, i) for P(j, i).
Matrix truncated_adjoint(const Walk& walk, std::int64_t cutoff);

/// Of the mean over all start nodes of E[T], which must be finite; `times` are the nodes' E[T].
Matrix hitting_adjoint(const Walk& walk, const std::vector<double>& times);

}  // namespace synergraph

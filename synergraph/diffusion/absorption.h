#pragma once

#include <vector>

#include "synergraph/core/matrix.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// Returns for every node j that keeps what it gets (row j is zero below the diagonal) the supremum
/// over t of its signal at the sink. The supremum is the probability that the signal's way back
/// from the sink ends in j. The result is NaN for all other nodes. The function uses one triangular
/// solve and no subtraction.
std::vector<double> absorption_probability(ConstMatrixView diffusion);

/// Returns for every node the time at which the last signal from the sink arrives: the length of
/// the longest way. The time is infinite if the signal passes a node that keeps a part of what it
/// gets, because a rest is always under way. The time is 0 at the sink and -1 where no signal
/// arrives.
std::vector<double> last_arrival(ConstMatrixView diffusion);

/// Returns the same for row i > target alone, from the probabilities of the nodes before i.
double passing_of_row(const double* row, int i, int target, const double* passing);

/// Returns for every node i the probability that the way back from i ever passes `target`: 1 at the
/// target, 0 below the target. The function uses one triangular solve and no subtraction.
std::vector<double> passing_probability(ConstMatrixView diffusion, int target);

}  // namespace synergraph
#pragma GCC visibility pop

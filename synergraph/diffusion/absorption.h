#pragma once

#include <vector>

#include "synergraph/core/matrix.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// For every node j that keeps what it gets (nothing in row j below the diagonal): the supremum
/// over t of its signal at the sink, which is the probability that the signal's way back from the
/// sink ends in j. NaN for all other nodes. One triangular solve, no subtraction.
std::vector<double> absorption_probability(ConstMatrixView diffusion);

/// For every node: the time at which the last of the signal from the sink arrives there, which is
/// the length of the longest way; infinity where some of it is held up at a node that keeps a part
/// of what it gets, so that a rest is always under way. 0 at the sink, -1 where nothing arrives.
std::vector<double> last_arrival(ConstMatrixView diffusion);

/// passing[i]: the probability that the way back from node i ever comes through `target`. 1 at the
/// target, 0 below it. One triangular solve, no subtraction.
std::vector<double> passing_probability(ConstMatrixView diffusion, int target);

}  // namespace synergraph
#pragma GCC visibility pop

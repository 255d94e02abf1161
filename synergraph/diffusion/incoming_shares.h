#pragma once

#include "synergraph/core/matrix.h"

namespace synergraph {

/// Makes a diffusion matrix of a lower triangular matrix of weights: divides each row by its sum. A
/// node without incoming edges keeps its signal.
void to_incoming_shares(Matrix& weights);

}  // namespace synergraph

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "synergraph/core/matrix.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// What the heads of one layer move on one sample, and what they add it to: of the tokens that are
/// measured. Norm edges need the norms, or values and projection; contribution edges need values,
/// projection and residual.
struct MovedValues {
  Matrix norms;                ///< (heads, tokens): ||W_O^h v_j^h||_2; empty: from the values
  std::vector<Matrix> values;  ///< of every key head, (tokens, width); heads share them in order
  std::shared_ptr<const Matrix> projection;  ///< W_O: (E, heads * width), rows = outputs
  std::vector<double> bias;                  ///< of the projection, (E); empty: none
  Matrix residual;                           ///< x: (tokens, E); empty: not known
  std::string file;  ///< that all of it was read from, for messages; empty: none
};

}  // namespace synergraph
#pragma GCC visibility pop

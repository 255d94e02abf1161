#pragma once

#include <optional>

#include "synergraph/core/matrix.h"
#include "synergraph/diffusion/fidelity_types.h"

namespace synergraph {

/// A diffusion by its columns, in any units: D(i, j) = columns(j, i) / whole for i >= j. What is
/// below the diagonal is never read.
struct DiffusionWeights {
  ConstMatrixView columns;  ///< n x n
  const double* down;       ///< of every row of D, in these units: what it passes on
  double whole;             ///< of every row of D: its sum
};

/// The minimax fidelity, as fidelity() has it, without a diffusion matrix being made: for many
/// diffusions of moderate size. Nothing where a few hundred steps do not certify it, or more nodes
/// than the first keep what they get.
std::optional<double> quick_minimax(const DiffusionWeights& diffusion,
                                    const FidelityOptions& options);

}  // namespace synergraph

#pragma once

#include <optional>

#include "synergraph/core/matrix.h"
#include "synergraph/diffusion/fidelity_types.h"

namespace synergraph {

/// A diffusion given by columns in any units: D(i, j) = columns(j, i) / whole for i >= j. Entries
/// below the diagonal are never read.
struct DiffusionWeights {
  ConstMatrixView columns;  ///< n x n
  const double* down;       ///< what each row of D passes on, in these units
  double whole;             ///< sum of each row of D, in these units
};

/// Returns the minimax fidelity, as fidelity() does, without making a diffusion matrix.
/// quick_minimax() serves many diffusions of moderate size. The result is empty if a few hundred
/// steps do not certify the minimax, or if a node other than the first keeps what it gets.
std::optional<double> quick_minimax(const DiffusionWeights& diffusion,
                                    const FidelityOptions& options);

}  // namespace synergraph

#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "synergraph/core/matrix.h"

namespace synergraph {

/// A linear function of a step from some weights, value + slope . step, which is one of those whose
/// minimum its group is.
struct WeightPiece {
  std::size_t group = 0;
  double value = 0.0;
  std::vector<double> slope;
  int node = 0;  ///< that it belongs to, where it belongs to one
};

/// The best step of a concave model.
struct ModelStep {
  std::vector<double> step;
  double value = 0.0;              ///< of the linear pieces: mean over groups of their minima
  std::vector<double> multiplier;  ///< of every piece; those of a group sum to 1 / groups
};

/// The mean over groups of the minimum over a group's pieces, after a step.
double model_value(std::span<const WeightPiece> pieces, std::size_t groups,
                   std::span<const double> step);

/// argmax over steps d with sum 0 and d >= lower of model_value(d) - d' curvature d / 2, by a
/// primal-dual interior point method (Mehrotra's predictor and corrector). Every group has a piece,
/// the sum of `lower` is negative, and the curvature has no negative eigenvalue.
ModelStep best_step(std::span<const WeightPiece> pieces, std::size_t groups,
                    std::span<const double> lower, const Matrix& curvature);

}  // namespace synergraph

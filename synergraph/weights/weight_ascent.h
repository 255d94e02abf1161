#pragma once

#include "synergraph/weights/weight_objective.h"

namespace synergraph {

struct AscentOptions {
  int iterations = 100;
  double tolerance = 1e-9;  ///< of the height, relative; of times, of the value
};

struct Ascent {
  WeightObjective::Point point;
  int iterations = 0;
};

/// Climbs from some weights to weights that no small change improves: sequential quadratic models,
/// the least of linear functions less a curvature that is learnt on the way (damped BFGS). Ends
/// where the model promises no more than the tolerance.
Ascent ascend(const WeightObjective& objective, std::span<const double> start,
              const AscentOptions& options);

/// k |d| for the step d that is best for the model less k |d|^2 / 2, k being the steepest slope:
/// the norm of the projected gradient, of the shortest one where the weakest nodes leave a choice.
/// 0 where no small change of the weights is better.
double projected_gradient_norm(const WeightObjective& objective,
                               const WeightObjective::Point& point);

}  // namespace synergraph

#pragma once

#include <functional>

#include "synergraph/weights/weight_objective.h"

namespace synergraph {

/// What no weights can exceed: values as WeightObjective::Point::value has them.
struct WeightBound {
  double simple = 0.0;  ///< every node chooses its head at every step
  double bound = 0.0;   ///< never worse
};

/// Bounds of the goal over all weights: the simplex is cut into parts, up to so many (0: as many as
/// take about as long as ascents do), the one with
/// the worst bound first, until no part can hold more than `best` by more than the tolerance.
/// `promising` is called with weights that might be better than the best, and may improve `best`.
WeightBound bound_weights(const WeightObjective& objective, const WeightObjective::Point& best,
                          int parts, double tolerance,
                          const std::function<void(const std::vector<double>&)>& promising);

}  // namespace synergraph

#pragma once

#include "synergraph/heads/weight_objective.h"

namespace synergraph {

/// What no weights can exceed: values as WeightObjective::Point::value has them.
struct WeightBound {
  double simple = 0.0;  ///< every node chooses its head at every step
  double bound = 0.0;   ///< never worse
};

/// Bounds of the goal over all weights; `best` are the best weights known.
WeightBound bound_weights(const WeightObjective& objective, const WeightObjective::Point& best,
                          int cells, double tolerance);

}  // namespace synergraph

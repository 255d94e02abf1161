#pragma once

#include <cstdint>
#include <vector>

#include "synergraph/heads/head.h"

namespace synergraph {

/// The signal at the sink after t steps, split by the paths that carry it (theory: "Cross-head
/// pathway contribution"). All three are computed independently, from non-negative sums.
struct CrossHead {
  std::vector<double> whole;  ///< (D^t)(sink, j) of the combined diffusion
  std::vector<double> pure;   ///< sum_h w_h^t (D_h^t)(sink, j): paths that stay in one head
  std::vector<double> cross;  ///< paths that change head at least once

  /// The share of node j's signal that changes head; NaN where there is no signal.
  double share(int j) const;
};

/// The split after `steps` >= 0 steps.
CrossHead cross_head(const std::vector<Head>& heads, const std::vector<double>& weights,
                     std::int64_t steps);

}  // namespace synergraph

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "synergraph/core/execution.h"
#include "synergraph/core/mirrored_matrix.h"
#include "synergraph/heads/head.h"

#pragma GCC visibility push(default)
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

/// The split of all nodes' signals after `steps` >= 0 steps, one step after the other.
CrossHead cross_head(const std::vector<Head>& heads, const std::vector<double>& weights,
                     std::int64_t steps);

/// Gives the diffusion of head h, valid until the next call.
using MirroredHeads = std::function<const MirroredMatrix&(int h)>;

/// The cross-head share of one node's signal after any number of steps, from heads that come one at
/// a time: add() each of them, then share(). Nothing cancels: where most of the signal stays in one
/// head, the paths that change head are summed themselves.
class CrossHeadShare {
 public:
  /// `whole` is the combined signal of the node at that time, which may be infinity. `weights` and
  /// `execution` must outlive this object.
  CrossHeadShare(const std::vector<double>& weights, int node, double time, double whole,
                 const Execution& execution);

  void add(int h, const MirroredMatrix& diffusion);

  /// NaN where there is no signal. `heads` is asked only where the heads are needed again.
  double share(const MirroredHeads& heads) const;

 private:
  const std::vector<double>& weights_;
  int node_;
  double time_;
  double whole_;
  const Execution& execution_;
  std::optional<double> share_;  // where no head need be looked at
  double pure_ = 0.0;            // paths that stay in one head, of the heads so far
};

}  // namespace synergraph
#pragma GCC visibility pop

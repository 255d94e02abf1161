#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "synergraph/core/execution.h"
#include "synergraph/core/mirrored_matrix.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// Gives the diffusion of head h, valid until the next call.
using MirroredHeads = std::function<const MirroredMatrix&(int h)>;

/// The cross-head share (theory: "Cross-head pathway contribution") of one node's signal after any
/// number of steps, from heads that come one at a time: add() each of them, then share(). Nothing
/// cancels: where most of the signal stays in one head, the paths that change head are summed
/// themselves.
class CrossHeadShare {
 public:
  /// `whole` is the combined signal of the node at that time, which may be infinity. `by_row` has
  /// the weights where they depend on the row, see weights_by_row(); otherwise it is empty. The
  /// references must outlive this object.
  CrossHeadShare(const std::vector<double>& weights, const Matrix& by_row, int node, double time,
                 double whole, const Execution& execution);

  void add(int h, const MirroredMatrix& diffusion);

  /// The same where another engine has the signal of head h at the node and the time, and weights
  /// do not depend on the row. It matters only if wants(h) is true.
  bool wants(int h) const { return stays(h).has_value(); }
  void add_signal(int h, double signal);
  /// share() without the heads, if the paths that stay in one head are at most this part of the
  /// signal: it loses the digits of 1 - part.
  std::optional<double> share_within(double part) const;

  /// NaN where there is no signal. `heads` is asked only where the heads are needed again.
  double share(const MirroredHeads& heads) const;

 private:
  void add_by_row(int h, const MirroredMatrix& diffusion);
  std::optional<double> stays(int h) const;

  const std::vector<double>& weights_;
  const Matrix& by_row_;
  int node_;
  double time_;
  double whole_;
  const Execution& execution_;
  std::optional<double> share_;  // where no head need be looked at
  double pure_ = 0.0;            // paths that stay in one head, of the heads so far
};

}  // namespace synergraph
#pragma GCC visibility pop

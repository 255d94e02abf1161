#pragma once

#include "synergraph/core/matrix.h"
#include "synergraph/gradients/attention_rows.h"

namespace synergraph {

/// States of all nodes at steps 0 .. steps, a row a node. All steps of a block of nodes are made
/// while the block's rows of attention are in the cache, so that attention is read once for all
/// steps, by rows, whichever way signals go.
class StepPanel {
 public:
  /// Zeros.
  StepPanel(int nodes, int steps);

  int nodes() const { return values_.rows(); }
  int steps() const { return steps_; }
  double* row(int node) { return values_.row(node); }
  const double* row(int node) const { return values_.row(node); }
  /// Steps first .. first + count - 1.
  ConstMatrixView view(int first, int count) const {
    return {values_.row(0) + first, values_.rows(), count, values_.stride()};
  }

  /// x_{s+1}[j] = scale[j] (x_{s+1}[j] + sum over i >= j of D(i, j) x_s[i]): entries on the right
  /// are what the panel holds, so that sources can be put there before. Step 0 stays. No scale:
  /// ones. A node of scale 0 keeps its state.
  void advance_down(const CombinedRows& rows, const double* scale = nullptr);
  /// x_{s+1}[i] = scale[i] (x_{s+1}[i] + sum over k <= i of D(i, k) x_s[k]).
  void advance_up(const CombinedRows& rows, const double* scale = nullptr);
  /// Turns the steps round: step s becomes step steps() - s.
  void reverse();

 private:
  void recur(int node, double scale, double stay);
  int padded_steps() const { return (steps_ + 7) / 8 * 8; }

  int steps_;
  Matrix values_;
};

}  // namespace synergraph

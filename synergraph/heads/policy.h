#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "synergraph/chain/walk.h"
#include "synergraph/core/matrix.h"
#include "synergraph/diffusion/fidelity_types.h"

namespace synergraph {

/// What heads could do if every node chose its head anew at every step (theory: "Best weights").
/// Any weighting of the heads does no better.

/// Bounds of the signal of a node at the sink over all times, by the head that the sink takes
/// first: with weights w no signal exceeds sum_h w_h first[h].
struct SignalBound {
  std::vector<double> first;
  double most() const;
};

/// U_0 = e_node, U_t(i) = max_h (D_h U_{t-1})(i): first[h] = max_t (D_h U_{t-1})(sink). Later times
/// than are stepped through are bounded by Y_t: the same recursion from V(i), the largest chance
/// that a way back from i ever comes through the node. Gives up, with infinity, once `most()` would
/// exceed `enough`. Heads are mirrored matrices.
SignalBound signal_bound(std::span<const ConstMatrixView> heads, int node,
                         const FidelityOptions& options,
                         double enough = std::numeric_limits<double>::infinity());

/// The heads of a walk's rows: how much longer it takes at least if the next row may be chosen.
class RowChoice {
 public:
  virtual ~RowChoice() = default;
  RowChoice() = default;
  RowChoice(const RowChoice&) = delete;
  RowChoice& operator=(const RowChoice&) = delete;

  virtual int nodes() const = 0;
  /// At most the least sum over i >= j of P(j, i) x(i) over all weightings; x >= 0, 0 at the sink.
  virtual double least(int j, const double* x) const = 0;
};

/// Rows of walks that are convex sums, by node, of those of the heads: per-head and pooled walks.
class WalkRows : public RowChoice {
 public:
  explicit WalkRows(std::span<const Walk* const> walks) : walks_(walks.begin(), walks.end()) {}
  int nodes() const override { return walks_.front()->nodes(); }
  double least(int j, const double* x) const override;

 private:
  std::vector<const Walk*> walks_;
};

/// Rows of the published walk: running sums of attention, cut at one. Heads are mirrored matrices.
class PublishedRows : public RowChoice {
 public:
  explicit PublishedRows(std::span<const ConstMatrixView> heads);
  int nodes() const override { return heads_.front().rows; }
  double least(int j, const double* x) const override;

 private:
  std::vector<ConstMatrixView> heads_;
};

/// E[min(T_j, steps)] is at least this, whatever the weights.
std::vector<double> least_truncated_times(const RowChoice& rows, std::int64_t steps);

/// E[T_j] is at least this; infinity where no weights lead to the sink.
std::vector<double> least_hitting_times(std::span<const Walk* const> walks);

}  // namespace synergraph

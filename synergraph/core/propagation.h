#pragma once

#include <cstdint>

#include "synergraph/core/matrix.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// Repeated application of an upper triangular matrix, x_{t+1} = U x_t, many steps at a time.
///
/// Since x_{t+1}[j] needs only x_t[i] with i >= j, a whole panel of steps is finished for the last
/// nodes before the first ones are begun: U is read once a panel instead of once a step, and the
/// time axis fills the vector registers. Every entry is a sum of products in a fixed order; where U
/// and x_0 are non-negative nothing cancels.
class Propagation {
 public:
  /// Most steps in one panel: some vector registers, as wide as this CPU's are.
  static int panel();

  /// `upper` must outlive this object; entries below its diagonal are never read.
  Propagation(ConstMatrixView upper, const double* start);

  /// The same of a matrix that is not at hand itself: U(j, i) = scale[j] rows(j, i) for i > j, and
  /// U(j, j) = stay[j]. All three must outlive this object.
  Propagation(ConstMatrixView rows, const double* scale, const double* stay, const double* start);

  /// From now on states below 2^-1022 are zero, where the CPU can do that: states that die out pass
  /// through there, each step a hundred times as long. As long as no row of U sums to more than
  /// one, or no column does, states lose less than 2^-1022 a node and step: nothing that shows in a
  /// number from kBeyondFlushing on.
  void flush_tiny() { flush_ = true; }
  static constexpr double kBeyondFlushing = 0x1.0p-900;
  /// Has any state been lost so?
  bool flushed() const { return flushed_; }

  /// Computes the next panel, the states x_t for time() <= t < time() + length() of the old time().
  /// Its length is `steps` rounded up to full registers, at most panel().
  void advance(std::int64_t steps);
  void advance() { advance(panel_); }

  /// Steps finished so far: current() is x_{time()}.
  std::int64_t time() const { return time_; }

  /// Steps in the newest panel, which holds x_{time() - length()} .. x_{time() - 1}.
  int length() const { return length_; }

  /// x_{time() - length() + k}[j] for 0 <= k <= length().
  double at(int j, int k) const {
    const double* state = states_.data() + offset(j);
    return k == length_ ? state[panel_] : state[k % runs_ * lanes_ + k / runs_];
  }

  /// Calls visit(at(j, k)) for k = first .. last - 1, in order, until it returns true; returns that
  /// k, or `last`. 0 <= first, last <= length().
  template <class Visit>
  int find(int j, int first, int last, Visit visit) const {
    const double* state = states_.data() + offset(j);
    int k = first;
    for (int lane = first / runs_, v = first % runs_; lane < lanes_; ++lane, v = 0)
      for (; v < runs_; ++v, ++k)
        if (k >= last || visit(state[v * lanes_ + lane])) return k;
    return last;
  }

  /// The newest state, x_{time()}[j].
  double current(int j) const { return states_[static_cast<std::size_t>(offset(j) + panel_)]; }

  /// The states of node j in the newest panel, length() of them, in no particular order.
  const double* unordered(int j) const { return states_.data() + offset(j); }

  /// into[j] = the largest of itself and of the newest panel's states of node j < count.
  void raise_to_panel(int count, double* into) const;
  /// The sum of all states of the newest panel.
  double panel_total() const;

  /// Takes nodes from `count` on as zero from now on: for states that have died out.
  void restrict_to(int count) { active_ = count; }
  int active() const { return active_; }

 private:
  void advance_panel();

  // Node j's row: the panel, then the state after it; padded to keep rows on cache lines. Step k of
  // the panel is in lane k / runs_ of register k % runs_, so that steps that follow each other are
  // in registers that follow each other: the recurrence along time needs no shuffles.
  std::ptrdiff_t offset(int j) const { return static_cast<std::ptrdiff_t>(j) * pitch_; }

  ConstMatrixView upper_;
  const double* scale_ = nullptr;  // null: there is nothing but the matrix
  const double* stay_ = nullptr;
  int lanes_;  // of a register
  int panel_;
  int pitch_;
  ScratchVector<double> states_;
  std::int64_t time_ = 0;
  int length_ = 0;
  int runs_ = 1;  // registers in the newest panel
  int active_;
  bool flush_ = false;
  bool flushed_ = false;
};

}  // namespace synergraph
#pragma GCC visibility pop

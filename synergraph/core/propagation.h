#pragma once

#include <cstdint>

#include "synergraph/core/matrix.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// Repeated application of an upper triangular matrix, x_{t+1} = U x_t, many steps at a time.
///
/// x_{t+1}[j] needs only x_t[i] with i >= j. So Propagation finishes a whole panel of steps for the
/// last nodes before the first nodes begin. U is read once per panel instead of once per step, and
/// the time axis fills the vector registers. Every entry is a sum of products in a fixed order. If
/// U and x_0 are non-negative, no cancellation occurs.
class Propagation {
 public:
  /// Returns the largest number of steps in one panel: several vector registers of this CPU.
  static int panel();

  /// `upper` must outlive this object. Propagation never reads entries below the diagonal of
  /// `upper`.
  Propagation(ConstMatrixView upper, const double* start);

  /// Propagates a matrix that is given by factors: U(j, i) = scale[j] rows(j, i) for i > j, and
  /// U(j, j) = stay[j]. `rows`, `scale` and `stay` must outlive this object.
  Propagation(ConstMatrixView rows, const double* scale, const double* stay, const double* start);

  /// Sets states below 2^-1022 to zero from now on, where the CPU supports flushing. States that
  /// die out pass through this range, where each step takes a hundred times as long. Assume that no
  /// row of U, or no column of U, sums to more than one. Then a state loses less than 2^-1022 per
  /// node and step. Such a loss changes no number from kBeyondFlushing on.
  void flush_tiny() { flush_ = true; }
  static constexpr double kBeyondFlushing = 0x1.0p-900;
  /// Returns true if any state was set to zero by flushing.
  bool flushed() const { return flushed_; }

  /// Computes the next panel: the states x_t for time() <= t < time() + length(), with time()
  /// before the call. The length is `steps` rounded up to full registers, at most panel().
  void advance(std::int64_t steps);
  void advance() { advance(panel_); }

  /// Returns the number of finished steps: current() is x_{time()}.
  std::int64_t time() const { return time_; }

  /// Returns the number of steps in the newest panel, which holds x_{time() - length()} ..
  /// x_{time() - 1}.
  int length() const { return length_; }

  /// Returns x_{time() - length() + k}[j] for 0 <= k <= length().
  double at(int j, int k) const {
    const double* state = states_.data() + offset(j);
    return k == length_ ? state[panel_] : state[k % runs_ * lanes_ + k / runs_];
  }

  /// Calls visit(at(j, k)) for k = first .. last - 1, in order, until visit returns true. Returns
  /// the k of that call, or `last` if every call returned false. The arguments satisfy 0 <= first
  /// and last <= length().
  template <class Visit>
  int find(int j, int first, int last, Visit visit) const {
    const double* state = states_.data() + offset(j);
    int k = first;
    for (int lane = first / runs_, v = first % runs_; lane < lanes_; ++lane, v = 0)
      for (; v < runs_; ++v, ++k)
        if (k >= last || visit(state[v * lanes_ + lane])) return k;
    return last;
  }

  /// Returns the newest state, x_{time()}[j].
  double current(int j) const { return states_[static_cast<std::size_t>(offset(j) + panel_)]; }

  /// Returns the length() states of node j in the newest panel, in no particular order.
  const double* unordered(int j) const { return states_.data() + offset(j); }

  /// Raises into[j] to the largest state of node j in the newest panel, for every j < count.
  void raise_to_panel(int count, double* into) const;
  /// Returns the sum of all states of the newest panel.
  double panel_total() const;

  /// Treats the states of nodes j >= count as zero from now on. Callers use restrict_to() for
  /// states that have died out.
  void restrict_to(int count) { active_ = count; }
  int active() const { return active_; }

 private:
  void advance_panel();

  // Returns the start of row j in states_. Row j holds the panel of node j, then the state after
  // the panel. Padding keeps rows on cache lines. Step k of the panel lies in lane k / runs_ of
  // register k % runs_. So consecutive steps lie in consecutive registers, and the recurrence along
  // time needs no shuffles.
  std::ptrdiff_t offset(int j) const { return static_cast<std::ptrdiff_t>(j) * pitch_; }

  ConstMatrixView upper_;
  const double* scale_ = nullptr;  // null: U is upper_ itself
  const double* stay_ = nullptr;
  int lanes_;  // numbers per register
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

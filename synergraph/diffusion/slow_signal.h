#pragma once

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <vector>

#include "synergraph/chain/walk.h"
#include "synergraph/chain/walk_powers.h"
#include "synergraph/core/matrix.h"

namespace synergraph {

/// The largest signal of a node so far, and an upper bound.
struct Peak {
  double value = 0.0;
  double time = 0.0;  ///< first time of this value
  double upper = 1.0;

  /// Raises the peak to a found value. A value that is larger only by `rounding` (relative) does
  /// not move the time.
  void raise(double found, double when, double rounding) {
    if (found > value * (1.0 + rounding)) time = when;
    value = std::max(value, found);
  }
};

/// Returns the way of the signal back from the sink as a walk on the nodes in reverse order. Node j
/// of the diffusion is node n - 1 - j of the walk, and P^t(0, n - 1 - j) is j's signal.
Walk way_back(ConstMatrixView diffusion);

/// The signal at the sink at times that are too late for stepping, from the powers D^(2^k): 10^12
/// steps take forty squarings.
///
/// The powers are WalkPowers of the way back and have their precision. A node that keeps all but
/// 1e-13 of what it gets loses no digits.
class SlowSignal {
 public:
  /// The relative precision at which values are final.
  static constexpr double kPrecision = 1e-12;

  /// The probability of ever being passed on to a node, from every node: see
  /// passing_probability().
  using Passing = std::function<std::vector<double>(int node)>;

  /// `diffusion` and `execution` must outlive this object.
  SlowSignal(ConstMatrixView diffusion, const Execution& execution);

  /// The same from the powers of the way back, wherever they lie.
  SlowSignal(std::unique_ptr<WalkPowers> powers, Passing passing, const Execution& execution);

  /// Returns the largest signal of a node over all times. `so_far` is the peak of times up to
  /// `begin`. The search ends early once the value exceeds `enough`. If `upper` stays above
  /// `value`, memory or patience did not suffice.
  Peak peak(int node, double begin, const Peak& so_far, double enough);

  /// Calls visit(time, signal) for every power of two up to latest(). signal[j] is the signal of
  /// node j.
  template <class Visit>
  void for_each_power(Visit visit) const {
    std::vector<double> signal(static_cast<std::size_t>(nodes()));
    for (int level = 0; level <= powers_->top_level(); ++level)
      if (read_signal(level, signal)) visit(power_of_two(level), signal);
  }

  /// Returns a bound of every node's signal at all times from the power of two before `begin` on.
  std::vector<double> bounds(double begin) const;

  /// Returns the latest time that was searched.
  double latest() const { return power_of_two(powers_->top_level()); }

 private:
  using Vector = std::vector<double>;

  /// Times from `begin` on within one octave, which begins at 2^o. With A = 2^(o-1), the signal of
  /// the node after begin + s steps is r_(A+s) c.
  struct Span {
    double begin;
    Vector column;          ///< c = D^(begin - A) e_node, reversed
    double value = 0.0;     ///< signal at `begin`
    double change = 0.0;    ///< change of the signal in the step after `begin`
    double bending = 0.0;   ///< largest growth of `change` per step
    double rounding = 0.0;  ///< rounding error of `change`

    /// Returns an upper bound of the signal in the times begin .. begin + length, length <= A.
    double bound(double length) const {
      return value + length * std::max(0.0, change + rounding + length * bending);
    }
  };

  int nodes() const { return powers_->nodes(); }
  PowerStore& store() const { return powers_->store(); }
  void begin();
  static double power_of_two(int level);
  bool read_signal(int level, Vector& signal) const;
  bool climb();
  Vector changes(const Vector& signal) const;
  bool tighten(int level);
  bool multiply_row(const Vector& in, int level, Vector& out) const;
  bool multiply_column(const Vector& in, int level, Vector& out) const;
  void look_at(Span& span, int octave, Peak& peak) const;
  bool search_octave(int octave, int target, Peak& peak, double enough) const;
  bool search(int node, double begin, Peak& peak, double enough) const;
  void polish(int node, double begin, Peak& peak) const;

  const Execution& execution_;
  Walk walk_;  // way back of the signal, unless its powers were given; node j is here n - 1 - j
  std::unique_ptr<WalkPowers> powers_;
  Passing passing_;
  bool exhausted_ = false;  // no memory for a further power
  // Upper bounds of every node's signal at the times 2^k .. 2^(k+1), reversed. The last bound is
  // not tightened yet.
  std::vector<Vector> most_;
  std::vector<Vector> fastest_;  // largest change of a signal in any step of these times
};

/// Follows the smallest signal so far to its peak, until the smallest has been followed or is
/// known: then it is the minimax. `follow(j, enough)` gives the peak of node j, or infinity where
/// it is not final; `look_at(j, signal, time)` is told what powers say of every node, at times
/// after `begin`.
template <class Smallest, class IsKnown, class Follow, class LookAt>
void follow_smallest(const SlowSignal& slow, double begin, int nodes, Smallest smallest,
                     IsKnown is_known, Follow follow, LookAt look_at) {
  double least = std::numeric_limits<double>::infinity();  // of the peaks that are final
  std::vector<bool> followed(static_cast<std::size_t>(nodes), false);
  for (;;) {
    const int j = smallest();
    if (followed[static_cast<std::size_t>(j)] || is_known(j)) return;
    followed[static_cast<std::size_t>(j)] = true;
    least = std::min(least, follow(j, least));
    slow.for_each_power([&](double time, const std::vector<double>& signal) {
      if (!(time > begin)) return;
      for (int k = 0; k < nodes; ++k) look_at(k, signal[static_cast<std::size_t>(k)], time);
    });
  }
}

}  // namespace synergraph

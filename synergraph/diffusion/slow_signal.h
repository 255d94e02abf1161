#pragma once

#include <algorithm>
#include <vector>

#include "synergraph/chain/walk.h"
#include "synergraph/chain/walk_powers.h"
#include "synergraph/core/matrix.h"

namespace synergraph {

/// The largest signal of a node found so far, and what it cannot exceed.
struct Peak {
  double value = 0.0;
  double time = 0.0;  ///< the first at which it was found
  double upper = 1.0;

  /// Takes in a value; one that is larger only by `rounding` (relative) does not move the time.
  void raise(double found, double when, double rounding) {
    if (found > value * (1.0 + rounding)) time = when;
    value = std::max(value, found);
  }
};

/// The way of the signal back from the sink as a walk: on the nodes in reverse order, so that node
/// j of the diffusion is node n - 1 - j of the walk, and P^t(0, n - 1 - j) is j's signal.
Walk way_back(ConstMatrixView diffusion);

/// The signal at the sink at times far beyond those that can be stepped through, from the powers
/// D^(2^k): a million million steps are forty squarings.
///
/// These are WalkPowers of the way back, with their precision: a node that keeps all but 1e-13 of
/// what it gets loses no digits.
class SlowSignal {
 public:
  /// Values are final when they are known to this relative precision.
  static constexpr double kPrecision = 1e-12;

  /// Both must outlive this object.
  SlowSignal(ConstMatrixView diffusion, const Execution& execution);

  /// The largest signal of a node over all times: `so_far` is what times up to `begin` gave. Ends
  /// early once the value exceeds `enough`. Where `upper` stays above `value`, memory or patience
  /// did not suffice.
  Peak peak(int node, double begin, const Peak& so_far, double enough);

  /// Calls visit(time, signal) for every power of two up to latest(), signal[j] being node j's.
  template <class Visit>
  void for_each_power(Visit visit) const {
    std::vector<double> signal(static_cast<std::size_t>(nodes()));
    for (int level = 0; level <= powers_.top_level(); ++level)
      if (read_signal(level, signal)) visit(power_of_two(level), signal);
  }

  /// A bound of every node's signal at all times from the power of two before `begin` on.
  std::vector<double> bounds(double begin) const;

  /// The latest time looked at.
  double latest() const { return power_of_two(powers_.top_level()); }

 private:
  using Vector = std::vector<double>;

  /// The times from `begin` on, in one octave, seen from its beginning 2^o: with A = 2^(o-1) the
  /// signal of the node is r_(A+s) c after begin + s steps.
  struct Span {
    double begin;
    Vector column;          ///< c = D^(begin - A) e_node, reversed
    double value = 0.0;     ///< at `begin`
    double change = 0.0;    ///< in the step after it
    double bending = 0.0;   ///< by which that may grow with every step
    double rounding = 0.0;  ///< of `change`

    /// What the signal is at most in the times begin .. begin + length, length <= A.
    double bound(double length) const {
      return value + length * std::max(0.0, change + rounding + length * bending);
    }
  };

  int nodes() const { return walk_.nodes(); }
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

  ConstMatrixView diffusion_;
  const Execution& execution_;
  Walk walk_;  // of the signal's way back; node j is here n - 1 - j
  WalkPowers powers_;
  bool exhausted_ = false;  // there is no room for a further power
  // What every node's signal is at most at the times 2^k .. 2^(k+1), reversed. The last of these
  // bounds is not tightened yet.
  std::vector<Vector> most_;
  std::vector<Vector> fastest_;  // by how much a signal changes at most in any step between them
};

}  // namespace synergraph

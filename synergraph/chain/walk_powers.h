#pragma once

#include <map>
#include <vector>

#include "synergraph/chain/walk.h"
#include "synergraph/core/execution.h"

namespace synergraph {

/// The powers P^(2^k) of a walk, by repeated squaring.
///
/// WalkPowers carries the chance to leave, g <- g (2 - g), instead of the chance to stay. Every
/// row's forward entries are rescaled to sum to g, so row sums cannot drift. A walk that leaves
/// with probability 1e-13 keeps its digits through 50 squarings.
class WalkPowers {
 public:
  /// The powers that are kept in addition to the newest power and the next power. kOne keeps one
  /// lower power. kAll keeps all powers that fit in memory.
  enum class Keep { kOne, kAll };

  /// Walk and execution must outlive this object. A squaring may throw Stopped after a stop
  /// request.
  WalkPowers(const Walk& walk, Keep keep, const Execution& execution);

  int top_level() const { return level_; }

  /// Squares the highest power: top_level() grows by one.
  void climb();

  /// Returns the survival at time 2^top_level() from every node, which is 0 at the sink.
  std::vector<double> survival() const;

  /// Returns 1 - survival(): the chance to have reached the sink by that time, which is 1 at the
  /// sink.
  std::vector<double> arrival() const;

  /// Computes out = P^(2^level) in. Powers that were not kept are squared again, and powers above
  /// `level` are dropped. Callers should therefore go from the highest level down.
  void multiply(int level, const double* in, double* out);

  /// Returns row j of P^(2^level) from the diagonal on, or nullptr if that power is not in memory.
  const double* row(int level, int j) const;

  /// Returns the number of squarings so far.
  int squarings() const { return squarings_; }

 private:
  struct Power {
    Matrix step;
    std::vector<double> leave;
  };
  /// A power without the empty triangle: the entries of row j from the diagonal on follow those of
  /// row j-1.
  struct Packed {
    ScratchVector<double> entries;
    std::vector<double> leave;
  };
  const Matrix& step() const { return level_ == 0 ? walk_.step : newest_.step; }
  const std::vector<double>& leave() const { return level_ == 0 ? walk_.leave : newest_.leave; }
  void square();
  void keep();
  void load(int level);
  void raise_to(int level);

  const Walk& walk_;  // level 0
  Power newest_;      // level_, unless that is 0
  Power spare_;
  int level_ = 0;
  std::map<int, Packed> kept_;
  std::size_t capacity_ = 1;  // largest size of kept_
  int stride_ = 1;            // distance between two kept levels
  const Execution& execution_;
  WorkingMemory::Lease memory_;
  int squarings_ = 0;
};

/// Returns P^steps v for any whole number of steps, by repeated squaring.
std::vector<double> multiply_power(const Walk& walk, double steps, std::vector<double> v,
                                   const Execution& execution);

}  // namespace synergraph

#pragma once

#include <map>
#include <vector>

#include "synergraph/chain/walk.h"
#include "synergraph/core/execution.h"

namespace synergraph {

/// The powers P^(2^k) of a walk, by repeated squaring.
///
/// The chance to stay is carried as its complement, g <- g (2 - g), and every row's forward entries
/// are rescaled to sum to g: row sums cannot drift, and a walk that leaves with probability 1e-13
/// keeps its digits through 50 squarings.
class WalkPowers {
 public:
  /// What is kept beside the newest power and the next one: one lower power, or all of them as far
  /// as the memory allows.
  enum class Keep { kOne, kAll };

  /// Walk and execution must outlive this object. A squaring may be the place to stop.
  WalkPowers(const Walk& walk, Keep keep, const Execution& execution);

  int top_level() const { return level_; }

  /// Squares the highest power: top_level() grows by one.
  void climb();

  /// Survival at time 2^top_level() from every node; 0 at the sink.
  std::vector<double> survival() const;

  /// Its complement: the chance to have arrived at the sink by then; 1 at the sink.
  std::vector<double> arrival() const;

  /// out = P^(2^level) in. Powers that were not kept are squared up again, and those above `level`
  /// are given up: ask from the highest level down.
  void multiply(int level, const double* in, double* out);

  /// Row j of P^(2^level) from its diagonal on; nullptr where that power is not in memory.
  const double* row(int level, int j) const;

  /// Squarings done so far.
  int squarings() const { return squarings_; }

 private:
  struct Power {
    Matrix step;
    std::vector<double> leave;
  };
  /// A power without the empty triangle: row j's entries from the diagonal on follow row j-1's.
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
  std::size_t capacity_ = 1;  // of kept_
  int stride_ = 1;            // levels between two kept ones
  const Execution& execution_;
  WorkingMemory::Lease memory_;
  int squarings_ = 0;
};

/// P^steps v for a whole number of steps, however large, by repeated squaring.
std::vector<double> multiply_power(const Walk& walk, double steps, std::vector<double> v,
                                   const Execution& execution);

}  // namespace synergraph

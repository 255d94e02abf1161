#pragma once

#include <cstddef>
#include <memory>
#include <set>
#include <vector>

#include "synergraph/chain/power_store.h"
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

  /// Powers that lie elsewhere, of which at most `capacity` are kept beside the newest.
  WalkPowers(std::unique_ptr<PowerStore> store, std::size_t capacity, const Execution& execution);

  int nodes() const { return store_->nodes(); }
  int top_level() const { return store_->level(); }

  /// Squares the highest power: top_level() grows by one.
  void climb();

  /// Returns the survival at time 2^top_level() from every node, which is 0 at the sink.
  std::vector<double> survival() const { return store_->survival(); }

  /// Returns 1 - survival(): the chance to have reached the sink by that time, which is 1 at the
  /// sink.
  std::vector<double> arrival() const { return store_->arrival(); }

  /// Computes out = P^(2^level) in. Powers that were not kept are squared again, and powers above
  /// `level` are dropped. Callers should therefore go from the highest level down.
  void multiply(int level, const double* in, double* out);

  /// Whether P^(2^level) is in memory, as the functions of store() need it.
  bool holds(int level) const;
  PowerStore& store() const { return *store_; }

  /// Returns the number of squarings so far.
  int squarings() const { return squarings_; }

 private:
  void square();
  void keep();
  void drop(int level);
  void raise_to(int level);

  std::unique_ptr<PowerStore> store_;
  std::set<int> kept_;
  std::size_t capacity_ = 1;  // largest size of kept_
  int stride_ = 1;            // distance between two kept levels
  const Execution& execution_;
  WorkingMemory::Lease memory_;
  int squarings_ = 0;
};

/// T_mix for every eps by squaring alone, of a walk whose sink is within reach of every node: see
/// mixing_times(). The powers begin at the walk itself.
std::vector<double> mixing_times_by_squaring(WalkPowers& powers, const std::vector<double>& eps);

/// Returns P^steps v for any whole number of steps, by repeated squaring.
std::vector<double> multiply_power(const Walk& walk, double steps, std::vector<double> v,
                                   const Execution& execution);

/// The same from powers that begin at the walk itself.
std::vector<double> multiply_power(WalkPowers& powers, double steps, std::vector<double> v);

}  // namespace synergraph

#pragma once

#include <optional>
#include <vector>

#include "synergraph/chain/walk.h"

namespace synergraph {

/// The powers P^(2^k) of a walk, by repeated squaring.
///
/// The chance to stay is carried as its complement, g <- g (2 - g), and every row's forward entries
/// are rescaled to sum to g: row sums cannot drift, and a walk that leaves with probability 1e-13
/// keeps its digits through 50 squarings.
class WalkPowers {
 public:
  explicit WalkPowers(const Walk& walk, int threads = 0);

  int top_level() const { return static_cast<int>(levels_.size()) - 1; }

  /// Squares the highest power: top_level() grows by one.
  void climb();

  /// Survival at time 2^top_level() from every node; 0 at the sink.
  std::vector<double> survival() const;

  /// P^(2^level). When memory is short only some levels are kept: the others are squared up again,
  /// and levels above `level` are given up, so ask from the highest level down.
  const Matrix& at(int level);

 private:
  struct Power {
    Matrix step;
    std::vector<double> leave;
  };
  Power squared(const Power& power) const;
  void thin_out();

  std::vector<std::optional<Power>> levels_;
  std::size_t capacity_;  // powers kept at a time
  int stride_ = 1;        // levels between two kept ones
  int threads_;
};

}  // namespace synergraph

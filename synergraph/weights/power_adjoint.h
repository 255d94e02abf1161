#pragma once

#include <span>
#include <vector>

#include "synergraph/core/matrix.h"

namespace synergraph {

/// The powers U^(2^k) of an upper triangular matrix by squaring, and the way back: from the
/// derivatives of a number with respect to each of them, that with respect to U.
class PowerAdjoint {
 public:
  /// Powers up to 2^(levels - 1).
  PowerAdjoint(ConstMatrixView upper, int levels);

  int nodes() const { return powers_.front().rows(); }
  /// left * U^(2^level), a row vector, and U^(2^level) * right.
  std::vector<double> times_left(std::span<const double> left, int level) const;
  std::vector<double> times_right(int level, std::span<const double> right) const;

  /// The number depends on this power as left * U^(2^level) * right does.
  void add(int level, std::span<const double> left, std::span<const double> right);

  /// The derivative with respect to every entry of U. Nothing can be added afterwards.
  Matrix take();

 private:
  std::vector<Matrix> powers_;
  std::vector<Matrix> adjoints_;
};

}  // namespace synergraph

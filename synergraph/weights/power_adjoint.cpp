#include "synergraph/weights/power_adjoint.h"

#include <algorithm>
#include <utility>

#include "synergraph/core/array_math.h"
#include "synergraph/core/triangular.h"

namespace synergraph {

PowerAdjoint::PowerAdjoint(ConstMatrixView upper, int levels) {
  const int n = upper.rows;
  for (int level = 0; level < levels; ++level) {
    Matrix power(n, n);
    if (level == 0)
      for (int i = 0; i < n; ++i) std::copy(upper.row(i) + i, upper.row(i) + n, power.row(i) + i);
    else
      square_upper(powers_.back(), power.view(), {.threads = 1});
    powers_.push_back(std::move(power));
    adjoints_.emplace_back(n, n);
  }
}

std::vector<double> PowerAdjoint::times_left(std::span<const double> left, int level) const {
  const Matrix& power = powers_[static_cast<std::size_t>(level)];
  std::vector<double> out(left.size(), 0.0);
  for (int i = 0; i < nodes(); ++i)
    add_scaled(power.row(i) + i, left[static_cast<std::size_t>(i)], nodes() - i, out.data() + i);
  return out;
}

std::vector<double> PowerAdjoint::times_right(int level, std::span<const double> right) const {
  std::vector<double> out(right.size());
  multiply_upper(powers_[static_cast<std::size_t>(level)], right.data(), out.data(), 1);
  return out;
}

void PowerAdjoint::add(int level, std::span<const double> left, std::span<const double> right) {
  Matrix& adjoint = adjoints_[static_cast<std::size_t>(level)];
  for (int i = 0; i < nodes(); ++i)
    add_scaled(right.data() + i, left[static_cast<std::size_t>(i)], nodes() - i,
               adjoint.row(i) + i);
}

Matrix PowerAdjoint::take() {
  const int n = nodes();
  for (std::size_t level = powers_.size() - 1; level > 0; --level) {
    // d(M M) = dM M + M dM.
    const Matrix& above = adjoints_[level];
    const Matrix& power = powers_[level - 1];
    Matrix& into = adjoints_[level - 1];
    for (int i = 0; i < n; ++i) {
      for (int k = i; k < n; ++k) into(i, k) += dot(above.row(i) + k, power.row(k) + k, n - k);
      for (int k = 0; k <= i; ++k)
        add_scaled(above.row(k) + i, power(k, i), n - i, into.row(i) + i);
    }
  }
  return std::move(adjoints_.front());
}

}  // namespace synergraph

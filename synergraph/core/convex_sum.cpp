#include "synergraph/core/convex_sum.h"

#include <cmath>
#include <utility>

// This file is compiled with -ffp-contract=off: what is written here as two roundings must be two.

namespace synergraph {
namespace {

/// A sum with its rounding: value + rest is exactly a + b (Knuth).
struct ExactSum {
  double value;
  double rest;
};

inline ExactSum exact_sum(double a, double b) {
  const double sum = a + b;
  const double from_b = sum - a;
  return {sum, (a - (sum - from_b)) + (b - from_b)};
}

}  // namespace

ConvexSum::ConvexSum(int rows, int cols, Part part)
    : part_(part), sum_(rows, cols), rest_(rows, cols) {}

void ConvexSum::add(ConstMatrixView matrix, double weight) {
  if (!(weight > 0.0)) return;
  for (int i = 0; i < sum_.rows(); ++i) {
    const double* from = matrix.row(i);
    double* sum = sum_.row(i);
    double* rest = rest_.row(i);
    const int last = end(i);
#pragma omp simd
    for (int j = begin(i); j < last; ++j) {
      const double product = weight * from[j];
      const double product_rest = std::fma(weight, from[j], -product);
      const ExactSum next = exact_sum(sum[j], product);
      sum[j] = next.value;
      rest[j] += next.rest + product_rest;
    }
  }
  const ExactSum total = exact_sum(weight_, weight);
  weight_ = total.value;
  weight_rest_ += total.rest;
}

Matrix ConvexSum::take() {
  const double inverse = 1.0 / weight_;
  for (int i = 0; i < sum_.rows(); ++i) {
    double* sum = sum_.row(i);
    const double* rest = rest_.row(i);
    const int last = end(i);
#pragma omp simd
    for (int j = begin(i); j < last; ++j) {
      // A quotient, then the quotient of what it leaves of the dividend.
      const double first = sum[j] * inverse;
      const double left = (std::fma(-first, weight_, sum[j]) + rest[j]) - first * weight_rest_;
      sum[j] = first + left * inverse;
    }
  }
  return std::move(sum_);
}

}  // namespace synergraph

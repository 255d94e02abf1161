#pragma once

#include <cmath>

#include "synergraph/core/host_device.h"

namespace synergraph::small {

// Each operation is rounded on its own: a compiler must not contract two of them.
#ifdef __CUDA_ARCH__
SYNERGRAPH_HD inline double times(double a, double b) {
  return __dmul_rn(a, b);
}
SYNERGRAPH_HD inline double plus(double a, double b) {
  return __dadd_rn(a, b);
}
#else
SYNERGRAPH_HD inline double times(double a, double b) {
  volatile double product = a * b;
  return product;
}
SYNERGRAPH_HD inline double plus(double a, double b) {
  volatile double sum = a + b;
  return sum;
}
#endif

/// A sum of products with its rounding errors, as ConvexSum has it: the mean of copies of one
/// number is that number, to the last bit.
struct ExactSum {
  double sum = 0.0;
  double rest = 0.0;

  SYNERGRAPH_HD void add(double number, double weight) {
    const double product = times(weight, number);
    const double next = plus(sum, product);
    const double added = plus(next, -sum);
    const double lost = plus(plus(sum, -plus(next, -added)), plus(product, -added));  // Knuth
    rest = plus(rest, plus(lost, fma(weight, number, -product)));
    sum = next;
  }
  /// The sum over that of the weights, rounded once.
  SYNERGRAPH_HD double over(const ExactSum& weights) const {
    const double inverse = 1.0 / weights.sum;
    const double first = times(sum, inverse);
    const double product = times(first, weights.sum);
    const double left =
        plus(plus(plus(plus(sum, -product), -fma(first, weights.sum, -product)), rest),
             -times(first, weights.rest));
    return plus(first, times(left, inverse));
  }
};

}  // namespace synergraph::small

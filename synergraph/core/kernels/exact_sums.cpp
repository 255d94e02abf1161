#include "synergraph/core/kernels/simd.h"

// Sums of products with their rounding errors, for convex combinations that must be rounded only
// once. Each product and each addition is split into its rounded value and its exact rest; the
// rests are added up beside the sum. About a dozen operations an element limit it in cache,
// memory bandwidth beyond.

// This file is compiled with -ffp-contract=off: what is written here as two roundings must be two.

namespace synergraph::SYNERGRAPH_ISA {
namespace {

/// a * b - product, exactly; product is a * b rounded.
[[gnu::always_inline]] inline double product_rest(double a, double b, double product) {
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
  return __builtin_fma(a, b, -product);
#else
  // Halves of 26 bits, whose products are exact (Dekker).
  constexpr double kSplit = 0x1.0p27 + 1.0;
  const double a_high = a * kSplit - (a * kSplit - a);
  const double b_high = b * kSplit - (b * kSplit - b);
  const double a_low = a - a_high;
  const double b_low = b - b_high;
  return ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low;
#endif
}

}  // namespace

void add_exactly(const double* from, double weight, int count, double* sum, double* rest) {
#pragma omp simd
  for (int k = 0; k < count; ++k) {
    const double product = weight * from[k];
    const double next = sum[k] + product;
    const double added = next - sum[k];
    const double sum_rest = (sum[k] - (next - added)) + (product - added);  // Knuth
    rest[k] += sum_rest + product_rest(weight, from[k], product);
    sum[k] = next;
  }
}

void divide_exactly(double divisor, double divisor_rest, int count, const double* rest,
                    double* sum) {
  const double inverse = 1.0 / divisor;
#pragma omp simd
  for (int k = 0; k < count; ++k) {
    // A quotient, then the quotient of what it leaves of the dividend.
    const double first = sum[k] * inverse;
    const double product = first * divisor;
    const double left = ((sum[k] - product) - product_rest(first, divisor, product) + rest[k]) -
                        first * divisor_rest;
    sum[k] = first + left * inverse;
  }
}

}  // namespace synergraph::SYNERGRAPH_ISA

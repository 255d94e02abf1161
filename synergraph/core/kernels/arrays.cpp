#include "synergraph/core/kernels/simd.h"

// Sums, inner products and comparisons of arrays of doubles, and the triangular products and
// solves that are rows of inner products. Several accumulators hide the latency of additions;
// their number and order are fixed, so that a result depends on the instruction set alone. Short
// arrays are limited by that latency, long ones by memory bandwidth.

namespace synergraph::SYNERGRAPH_ISA {

double total(const double* a, int count) {
  Doubles s0{};
  Doubles s1{};
  int k = 0;
  for (; k + 2 * kDoubles <= count; k += 2 * kDoubles) {
    s0 += load<Doubles>(a + k);
    s1 += load<Doubles>(a + k + kDoubles);
  }
  for (; k + kDoubles <= count; k += kDoubles) s0 += load<Doubles>(a + k);
  double tail = 0.0;
  for (; k < count; ++k) tail += a[k];
  return sum(s0 + s1) + tail;
}

double dot(const double* a, const double* b, int count) {
  const auto product = [&](int k) __attribute__((always_inline)) {
    return load<Doubles>(a + k) * load<Doubles>(b + k);
  };
  Doubles s0{};
  Doubles s1{};
  Doubles s2{};
  Doubles s3{};
  int k = 0;
  for (; k + 4 * kDoubles <= count; k += 4 * kDoubles) {
    s0 += product(k);
    s1 += product(k + kDoubles);
    s2 += product(k + 2 * kDoubles);
    s3 += product(k + 3 * kDoubles);
  }
  for (; k + kDoubles <= count; k += kDoubles) s0 += product(k);
  double tail = 0.0;
  for (; k < count; ++k) tail += a[k] * b[k];
  return sum((s0 + s1) + (s2 + s3)) + tail;
}

double largest(const double* a, int count, double least) {
  auto m = splat<Doubles>(least);
  int k = 0;
  for (; k + kDoubles <= count; k += kDoubles) {
    const auto x = load<Doubles>(a + k);
    m = x > m ? x : m;
  }
  for (int lane = 0; lane < kDoubles; ++lane) least = larger(least, m[lane]);
  for (; k < count; ++k) least = larger(least, a[k]);
  return least;
}

bool within(const double* a, int count, double low, double high) {
  const auto lowest = splat<Doubles>(low);
  const auto highest = splat<Doubles>(high);
  auto good = lowest <= highest;
  int k = 0;
  for (; k + kDoubles <= count; k += kDoubles) {
    const auto x = load<Doubles>(a + k);
    good &= (x >= lowest) & (x <= highest);
  }
  bool all = true;
  for (int lane = 0; lane < kDoubles; ++lane) all = all && good[lane] != 0;
  for (; k < count; ++k) all = all && a[k] >= low && a[k] <= high;
  return all;
}

void add_scaled(const double* from, double factor, int count, double* to) {
#pragma omp simd
  for (int k = 0; k < count; ++k) to[k] += factor * from[k];
}

void multiply_rows(ConstMatrixView upper, const double* in, double* out, int begin, int end) {
  for (int j = begin; j < end; ++j) out[j] = dot(upper.row(j) + j, in + j, upper.cols - j);
}

void multiply_packed(const double* entries, int n, const double* in, double* out) {
  for (int j = 0; j < n; entries += n - j, ++j) out[j] = dot(entries, in + j, n - j);
}

void back_substitute(ConstMatrixView upper, const double* right, const double* pivot, int begin,
                     int end, double* x) {
  for (int j = end - 1; j >= begin; --j) {
    const double sum = dot(upper.row(j) + j + 1, x + j + 1, upper.cols - j - 1);
    x[j] = ((right == nullptr ? 1.0 : right[j]) + sum) / pivot[j];
  }
}

}  // namespace synergraph::SYNERGRAPH_ISA

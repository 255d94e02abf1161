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

namespace {

/// A tile of add_products(): every inner product has a register of its own, and one order of sums,
/// whichever tile it is in.
template <int kRows, int kCols>
[[gnu::always_inline]] inline void add_product_tile(ConstMatrixView a, ConstMatrixView b, int i,
                                                    int j, MatrixView out) {
  Doubles sums[kRows][kCols]{};
  double tails[kRows][kCols]{};
  int k = 0;
  for (; k + kDoubles <= a.cols; k += kDoubles) {
    Doubles right[kCols];
    for (int c = 0; c < kCols; ++c) right[c] = load<Doubles>(b.row(j + c) + k);
    for (int r = 0; r < kRows; ++r) {
      const auto left = load<Doubles>(a.row(i + r) + k);
      for (int c = 0; c < kCols; ++c) sums[r][c] += left * right[c];
    }
  }
  for (; k < a.cols; ++k)
    for (int r = 0; r < kRows; ++r)
      for (int c = 0; c < kCols; ++c) tails[r][c] += a(i + r, k) * b(j + c, k);
  for (int r = 0; r < kRows; ++r)
    for (int c = 0; c < kCols; ++c) out(i + r, j + c) += sum(sums[r][c]) + tails[r][c];
}

template <int kCols>
[[gnu::always_inline]] inline void add_product_columns(ConstMatrixView a, ConstMatrixView b, int j,
                                                       MatrixView out) {
  int i = 0;
  for (; i + 4 <= a.rows; i += 4) add_product_tile<4, kCols>(a, b, i, j, out);
  for (; i < a.rows; ++i) add_product_tile<1, kCols>(a, b, i, j, out);
}

/// |value| in every lane: without the bit of the sign.
[[gnu::always_inline]] inline Doubles magnitude(Doubles value) {
  using Bits = Vector<std::int64_t, kDoubles>;
  return reinterpret_cast<Doubles>(reinterpret_cast<Bits>(value) & INT64_MAX);
}

/// kRows contributions at a time, so that b is loaded once for all of them.
template <int kRows>
[[gnu::always_inline]] inline void l1_contribution_rows(ConstMatrixView a, const double* b,
                                                        const double* factors, int i, double* out) {
  using Bits = Vector<std::int64_t, kDoubles>;
  Doubles sums[kRows]{};
  double tails[kRows]{};
  int k = 0;
  for (; k + kDoubles <= a.cols; k += kDoubles) {
    const auto right = load<Doubles>(b + k);
    for (int r = 0; r < kRows; ++r) {
      const auto entry = load<Doubles>(a.row(i + r) + k);
      const Bits sign = reinterpret_cast<Bits>(entry) & INT64_MIN;
      const Doubles moved = factors[i + r] * right;
      const auto along = reinterpret_cast<Doubles>(reinterpret_cast<Bits>(moved) ^ sign);
      const Doubles size = magnitude(entry);
      const Doubles beyond = size - (along - size);
      sums[r] += along < beyond ? along : beyond;
    }
  }
  for (; k < a.cols; ++k)
    for (int r = 0; r < kRows; ++r) {
      const double entry = a(i + r, k);
      const double moved = factors[i + r] * b[k];
      const double along = entry < 0.0 ? -moved : moved;
      const double size = entry < 0.0 ? -entry : entry;
      const double beyond = size - (along - size);
      tails[r] += along < beyond ? along : beyond;
    }
  for (int r = 0; r < kRows; ++r) out[i + r] = sum(sums[r]) + tails[r];
}

}  // namespace

// A tile of 4 x 4 registers, or 4 x 2 where there are only 16 of them: four multiply-adds for two
// loads. The rows of b that a tile needs stay in the first cache while those of a pass.
void add_products(ConstMatrixView a, ConstMatrixView b, MatrixView out) {
  constexpr int kCols = kRegisterBytes == 64 ? 4 : 2;
  int j = 0;
  for (; j + kCols <= b.rows; j += kCols) add_product_columns<kCols>(a, b, j, out);
  for (; j < b.rows; ++j) add_product_columns<1>(a, b, j, out);
}

// Of one entry y and what moves there, f, with g = f sign(y): |y| - |y - f| is g up to g = |y|, and
// |y| - (g - |y|) beyond. The smaller of both is exact to the rounding of f, however large y is.
void l1_contributions(ConstMatrixView a, const double* b, const double* factors, double* out) {
  int i = 0;
  for (; i + 4 <= a.rows; i += 4) l1_contribution_rows<4>(a, b, factors, i, out);
  for (; i < a.rows; ++i) l1_contribution_rows<1>(a, b, factors, i, out);
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

#include "synergraph/core/kernels/simd.h"

// Single-precision products of matrices that fit in cache, as one sequence of the model needs
// them. A tile of C stays in registers over the whole depth; A is broadcast element by element
// and B is read in vectors. There is no packing, since the matrices are small and already in
// cache. The fused multiply-add units limit it.

namespace synergraph::SYNERGRAPH_ISA {
namespace {

using Narrow = Vector<float, 4>;
using Wide = Vector<float, kRegisterBytes / 4>;
constexpr int kWideRows = kRegisterBytes == 64 ? 12 : 6;  // two registers a row, of 32 or of 16
constexpr int kColumnRows = 12;                           // rows of a tile that is one vector wide

/// One tile of C, kRows x (kVectors vectors), held in registers over the whole depth.
template <class Vector, int kRows, int kVectors, bool kTransposed>
[[gnu::always_inline]] inline void tile(const Gemm& g, int row, int col) {
  constexpr int width = sizeof(Vector) / sizeof(float);
  const float* a = kTransposed ? g.a + row : g.a + row * g.a_stride;
  const float* b = g.b + col;
  float* c = g.c + row * g.c_stride + col;
  Vector sums[kRows][kVectors];
  for (int r = 0; r < kRows; ++r) {
    const float start = g.bias != nullptr ? g.bias[row + r] : 0.0F;
    for (int v = 0; v < kVectors; ++v) sums[r][v] = splat<Vector>(start);
  }
  if (g.source != nullptr) {
    const float* source = g.source + row * g.c_stride + col;
    for (int r = 0; r < kRows; ++r)
      for (int v = 0; v < kVectors; ++v)
        sums[r][v] += load<Vector>(source + r * g.c_stride + v * width);
    // The next tile begins with a wait for these otherwise.
    for (int r = 0; r < kRows; ++r) __builtin_prefetch(source + (kRows + r) * g.c_stride);
  }
  // Unrolled, a step of the product is little else than its loads and multiply-adds.
#pragma GCC unroll 4
  for (int k = 0; k < g.depth; ++k) {
    Vector right[kVectors];
    for (int v = 0; v < kVectors; ++v) right[v] = load<Vector>(b + k * g.b_stride + v * width);
    // In small tiles the compiler would load these again for every row.
    if constexpr (kRows <= 4 && kVectors > 1)
      for (int v = 0; v < kVectors; ++v) pin(right[v]);
    for (int r = 0; r < kRows; ++r) {
      const Vector left =
          splat<Vector>(kTransposed ? a[k * g.a_stride + r] : a[r * g.a_stride + k]);
      for (int v = 0; v < kVectors; ++v) sums[r][v] += left * right[v];
    }
  }
  if (g.relu) {
    for (int r = 0; r < kRows; ++r)
      for (int v = 0; v < kVectors; ++v) sums[r][v] = sums[r][v] > Vector{} ? sums[r][v] : Vector{};
  }
  for (int r = 0; r < kRows; ++r)
    for (int v = 0; v < kVectors; ++v) store(c + r * g.c_stride + v * width, sums[r][v]);
}

/// The last rows of a panel, fewer than kRows + 1.
template <class Vector, int kRows, int kVectors, bool kTransposed>
[[gnu::always_inline]] inline void last_rows(const Gemm& g, int row, int col) {
  if constexpr (kRows > 0) {
    if (g.rows - row == kRows)
      tile<Vector, kRows, kVectors, kTransposed>(g, row, col);
    else
      last_rows<Vector, kRows - 1, kVectors, kTransposed>(g, row, col);
  }
}

/// All rows of a panel of columns. Aligned, because its loops are up to a tenth slower or faster
/// depending on where they lie.
template <class Vector, int kRows, int kVectors, bool kTransposed>
[[gnu::noinline, gnu::aligned(64)]] void panel(const Gemm& g, int col) {
  // Tiles of too few rows cannot hide the latency of the additions: rather than kRows and a small
  // rest, take two tiles of two thirds.
  constexpr int part = kRows * 2 / 3;
  int row = 0;
  while (g.rows - row >= 2 * part + 1 || g.rows - row == kRows) {
    tile<Vector, kRows, kVectors, kTransposed>(g, row, col);
    row += kRows;
  }
  if (g.rows - row > kRows) {
    tile<Vector, part, kVectors, kTransposed>(g, row, col);
    row += part;
  }
  last_rows<Vector, kRows - 1, kVectors, kTransposed>(g, row, col);
}

template <bool kTransposed>
void run(const Gemm& g) {
  constexpr int wide = sizeof(Wide) / sizeof(float);
  int col = 0;
  if (g.cols <= 4) {
    panel<Narrow, kColumnRows, 1, kTransposed>(g, col);
    return;
  }
  // Two registers a row, as far as the padding to whole vectors of eight lets them reach.
  constexpr int reach = 2 * wide - kFloats;
  for (; col + reach < g.cols; col += 2 * wide) panel<Wide, kWideRows, 2, kTransposed>(g, col);
  if constexpr (wide > kFloats)
    for (; col + wide <= g.cols; col += wide) panel<Wide, kColumnRows, 1, kTransposed>(g, col);
  if constexpr (wide >= kFloats)
    for (; col < g.cols; col += kFloats) panel<Floats, kColumnRows, 1, kTransposed>(g, col);
}

/// An 8 x 8 block.
[[gnu::always_inline]] inline void transpose_block(const float* source,
                                                   std::ptrdiff_t source_stride, float* target,
                                                   std::ptrdiff_t target_stride) {
  Floats r[8];
  Floats t[8];
  for (int i = 0; i < 8; ++i) r[i] = load<Floats>(source + i * source_stride);
  for (int i = 0; i < 8; i += 2) {
    t[i] = __builtin_shufflevector(r[i], r[i + 1], 0, 8, 1, 9, 4, 12, 5, 13);
    t[i + 1] = __builtin_shufflevector(r[i], r[i + 1], 2, 10, 3, 11, 6, 14, 7, 15);
  }
  for (int i = 0; i < 8; i += 4) {
    r[i] = __builtin_shufflevector(t[i], t[i + 2], 0, 1, 8, 9, 4, 5, 12, 13);
    r[i + 1] = __builtin_shufflevector(t[i], t[i + 2], 2, 3, 10, 11, 6, 7, 14, 15);
    r[i + 2] = __builtin_shufflevector(t[i + 1], t[i + 3], 0, 1, 8, 9, 4, 5, 12, 13);
    r[i + 3] = __builtin_shufflevector(t[i + 1], t[i + 3], 2, 3, 10, 11, 6, 7, 14, 15);
  }
  for (int i = 0; i < 4; ++i) {
    store(target + i * target_stride,
          __builtin_shufflevector(r[i], r[i + 4], 0, 1, 2, 3, 8, 9, 10, 11));
    store(target + (i + 4) * target_stride,
          __builtin_shufflevector(r[i], r[i + 4], 4, 5, 6, 7, 12, 13, 14, 15));
  }
}

/// A 4 x 4 block.
[[gnu::always_inline]] inline void transpose_small_block(const float* source,
                                                         std::ptrdiff_t source_stride,
                                                         float* target,
                                                         std::ptrdiff_t target_stride) {
  Narrow r[4];
  Narrow t[4];
  for (int i = 0; i < 4; ++i) r[i] = load<Narrow>(source + i * source_stride);
  for (int i = 0; i < 2; ++i) {
    t[i] = __builtin_shufflevector(r[2 * i], r[2 * i + 1], 0, 4, 1, 5);
    t[i + 2] = __builtin_shufflevector(r[2 * i], r[2 * i + 1], 2, 6, 3, 7);
  }
  for (int i = 0; i < 2; ++i) {
    store(target + 2 * i * target_stride,
          __builtin_shufflevector(t[2 * i], t[2 * i + 1], 0, 1, 4, 5));
    store(target + (2 * i + 1) * target_stride,
          __builtin_shufflevector(t[2 * i], t[2 * i + 1], 2, 3, 6, 7));
  }
}

}  // namespace

void multiply(const Gemm& gemm) {
  if (gemm.a_transposed)
    run<true>(gemm);
  else
    run<false>(gemm);
}

void transpose(int rows, int cols, const float* source, std::ptrdiff_t source_stride, float* target,
               std::ptrdiff_t target_stride) {
  const auto at = [&](int row, int col) { return source + row * source_stride + col; };
  const auto to = [&](int row, int col) { return target + col * target_stride + row; };
  const int full_rows = rows / 8 * 8;
  const int full_cols = cols / 8 * 8;
  for (int row = 0; row < full_rows; row += 8)
    for (int col = 0; col < full_cols; col += 8)
      transpose_block(at(row, col), source_stride, to(row, col), target_stride);
  // What is left at the right and below: blocks of four, then single entries.
  const int some_rows = rows / 4 * 4;
  const int some_cols = cols / 4 * 4;
  for (int row = 0; row < some_rows; row += 4)
    for (int col = row < full_rows ? full_cols : 0; col < some_cols; col += 4)
      transpose_small_block(at(row, col), source_stride, to(row, col), target_stride);
  for (int row = 0; row < rows; ++row)
    for (int col = row < some_rows ? some_cols : 0; col < cols; ++col)
      *to(row, col) = *at(row, col);
}

}  // namespace synergraph::SYNERGRAPH_ISA

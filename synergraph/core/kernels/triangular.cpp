#include "synergraph/core/triangular.h"

#include "synergraph/core/kernels/simd.h"

namespace synergraph::SYNERGRAPH_ISA {
namespace {

// A register tile of the product: kTileRows x kTileCols accumulators.
constexpr int kTileRows = kDoubles == 8 ? 8 : 4;
constexpr int kTileVectors = kSquareRegisters;
constexpr int kTileCols = kTileVectors * kDoubles;
static_assert(kTileCols <= kZeroBand && kTileRows <= kZeroBand);

/// tile(r, c) += sum over k in [0, depth) of left[r][k] * packed[k][c].
template <int kRows>
inline void multiply_tile(const double* left, std::ptrdiff_t stride, const double* packed,
                          int depth, Doubles (*tile)[kTileVectors]) {
  for (int k = 0; k < depth; ++k) {
    const double* right = packed + static_cast<std::ptrdiff_t>(k) * kTileCols;
    Doubles b[kTileVectors];
    for (int v = 0; v < kTileVectors; ++v) {
      b[v] = load<Doubles>(right + v * kDoubles);
      pin(b[v]);
    }
    for (int r = 0; r < kRows; ++r) {
      const Doubles a = splat<Doubles>(left[r * stride + k]);
      for (int v = 0; v < kTileVectors; ++v) tile[r][v] += a * b[v];
    }
  }
}

/// Adds one depth's part to rows [row, row + kRows) of the tile at column `col`.
template <int kRows>
inline void update_rows(ConstMatrixView upper, MatrixView result, const double* packed, int row,
                        int col, int first, int depth, bool fresh) {
  Doubles tile[kRows][kTileVectors] = {};
  multiply_tile<kRows>(upper.row(row) + first, upper.stride, packed, depth, tile);
  const bool whole = row + kRows - 1 <= col && col + kTileCols <= result.cols;
  for (int r = 0; r < kRows; ++r) {
    double* out = result.row(row + r) + col;
    if (whole) {
      for (int v = 0; v < kTileVectors; ++v) {
        double* to = out + v * kDoubles;
        store(to, fresh ? tile[r][v] : load<Doubles>(to) + tile[r][v]);
      }
      continue;
    }
    double values[kTileCols];
    for (int v = 0; v < kTileVectors; ++v) store(values + v * kDoubles, tile[r][v]);
    const int begin = larger(0, row + r - col);  // nothing is written below the diagonal
    const int end = smaller(kTileCols, result.cols - col);
    for (int c = begin; c < end; ++c) out[c] = fresh ? values[c] : out[c] + values[c];
  }
}

/// packed[k][.] = upper(first + k, col ..), zeros beyond the last column.
void pack_tile(ConstMatrixView upper, int first, int depth, int col, double* packed) {
  const int width = smaller(kTileCols, upper.cols - col);
  for (int k = 0; k < depth; ++k, packed += kTileCols) {
    const double* from = upper.row(first + k) + col;
    if (width == kTileCols) {
      for (int v = 0; v < kTileVectors; ++v)
        store(packed + v * kDoubles, load<Doubles>(from + v * kDoubles));
    } else {
      for (int c = 0; c < kTileCols; ++c) packed[c] = c < width ? from[c] : 0.0;
    }
  }
}

/// to = transpose of from, 4 x 4.
inline void transpose_tile(const double* from, std::ptrdiff_t from_stride, double* to,
                           std::ptrdiff_t to_stride) {
  using Four = Vector<double, 4>;
  Four row[4];
  for (int r = 0; r < 4; ++r) __builtin_memcpy(&row[r], from + r * from_stride, sizeof row[r]);
  const Four low01 = __builtin_shufflevector(row[0], row[1], 0, 4, 2, 6);
  const Four high01 = __builtin_shufflevector(row[0], row[1], 1, 5, 3, 7);
  const Four low23 = __builtin_shufflevector(row[2], row[3], 0, 4, 2, 6);
  const Four high23 = __builtin_shufflevector(row[2], row[3], 1, 5, 3, 7);
  const Four column[4] = {__builtin_shufflevector(low01, low23, 0, 1, 4, 5),
                          __builtin_shufflevector(high01, high23, 0, 1, 4, 5),
                          __builtin_shufflevector(low01, low23, 2, 3, 6, 7),
                          __builtin_shufflevector(high01, high23, 2, 3, 6, 7)};
  for (int r = 0; r < 4; ++r) __builtin_memcpy(to + r * to_stride, &column[r], sizeof column[r]);
}

}  // namespace

void square_strip(ConstMatrixView upper, MatrixView result, int tile_begin, int tile_end,
                  double* packed) {
  const int strip_end = smaller(upper.rows, tile_end * kTileCols);
  const auto depth_size = static_cast<std::ptrdiff_t>(smaller(kSquareDepth, strip_end)) * kTileCols;
  for (int first = 0; first < strip_end; first += kSquareDepth) {
    const int depth_end = smaller(first + kSquareDepth, strip_end);
    for (int tile = tile_begin; tile < tile_end; ++tile) {
      const int depth = smaller(depth_end, (tile + 1) * kTileCols) - first;
      pack_tile(upper, first, depth, tile * kTileCols, packed + (tile - tile_begin) * depth_size);
    }
    for (int row = 0; row < depth_end;) {
      const int rows = row + kTileRows <= depth_end ? kTileRows : 1;
      const int start = larger(first, row);
      const bool fresh = start == row;  // the sum of row j begins at k = j
      for (int tile = larger(tile_begin, row / kTileCols); tile < tile_end; ++tile) {
        const int col = tile * kTileCols;
        const int depth = smaller(depth_end, col + kTileCols) - start;
        if (depth <= 0) continue;
        const double* right = packed + (tile - tile_begin) * depth_size +
                              static_cast<std::ptrdiff_t>(start - first) * kTileCols;
        if (rows == kTileRows)
          update_rows<kTileRows>(upper, result, right, row, col, start, depth, fresh);
        else
          update_rows<1>(upper, result, right, row, col, start, depth, fresh);
      }
      row += rows;
    }
  }
}

void add_upper(ConstMatrixView a, double weight, ConstMatrixView b, MatrixView out) {
  constexpr int kLine = 64 / static_cast<int>(sizeof(double));
  const auto end = static_cast<int>(out.stride);
  for (int j = 0; j < out.rows; ++j) {
    const double* a_row = a.row(j);
    const double* b_row = b.row(j);
    double* row = out.row(j);
    for (int i = j < out.cols ? j - j % kLine : 0; i < end; i += kLine)
      for (int k = i; k < i + kLine; k += kDoubles)
        store(row + k, load<Doubles>(a_row + k) + weight * load<Doubles>(b_row + k));
  }
}

void solve_upper(ConstMatrixView upper, const double* factor, int begin, int end, double* x) {
  // Blocks of rows end on whole registers of x: what is finished is never loaded together with what
  // is still on its way to memory.
  constexpr int kBlock = 8;
  const auto solve = [&]<int kRows>(int first) __attribute__((always_inline)) {
    const int last = first + kRows;
    const double* rows[kRows];
    Doubles sums[kRows] = {};
    double tails[kRows] = {};
    for (int r = 0; r < kRows; ++r) rows[r] = upper.row(first + r);
    int i = last;
    for (; i + kDoubles <= end; i += kDoubles) {
      Doubles value = load<Doubles>(x + i);
      pin(value);
      for (int r = 0; r < kRows; ++r) sums[r] += value * load<Doubles>(rows[r] + i);
    }
    for (; i < end; ++i)
      for (int r = 0; r < kRows; ++r) tails[r] += rows[r][i] * x[i];
    double solved[kRows];
#pragma GCC unroll 8
    for (int r = kRows - 1; r >= 0; --r) {
      double value = x[first + r] + (sum(sums[r]) + tails[r]);
#pragma GCC unroll 8
      for (int k = kRows - 1; k > r; --k) value += rows[r][first + k] * solved[k];
      x[first + r] = solved[r] = value * factor[first + r];
    }
  };
  int last = end;
  for (; last > begin && last % kBlock != 0; --last) solve.template operator()<1>(last - 1);
  for (; last - kBlock >= begin; last -= kBlock) solve.template operator()<kBlock>(last - kBlock);
  for (; last > begin; --last) solve.template operator()<1>(last - 1);
}

void forward_substitute(ConstMatrixView upper, const double* factor, int begin, double* x) {
  const int n = upper.cols;
  fill(x + begin + 1, x + n, 0.0);
  for (int k = begin; k < n; ++k) {
    if (k > begin) x[k] *= factor[k];
    add_scaled(upper.row(k) + k + 1, x[k], n - k - 1, x + k + 1);
  }
}

void transpose_lower(ConstMatrixView from, MatrixView to) {
  constexpr int kTile = 4;
  const int n = from.rows;
  const int whole = n - n % kTile;
  // Of a large matrix, the rows that are written at a time are few enough to stay in the cache.
  const int block = n > 256 ? 16 : larger(n, 1);
  for (int first = 0; first < whole; first += block) {
    for (int i0 = first; i0 < whole; i0 += kTile)
      for (int j0 = first; j0 < smaller(i0, first + block); j0 += kTile)
        transpose_tile(&from(i0, j0), from.stride, &to(j0, i0), to.stride);
  }
  for (int i = 0; i < n; ++i)
    for (int j = i < whole ? i - i % kTile : 0; j <= i; ++j) to(j, i) = from(i, j);
}

}  // namespace synergraph::SYNERGRAPH_ISA

#include "synergraph/core/triangular.h"

#include "synergraph/core/kernels/simd.h"

// Products and solves with triangular matrices of doubles. Squaring packs a strip of the right
// factor, keeps a tile of the result in registers and leaves out the blocks that are zero in
// either factor: n^3 / 6 multiply-adds. Fused multiply-adds limit it: 87 % of the peak at n =
// 4096 and 55 % at n = 100, where partly empty tiles weigh more.

namespace synergraph::SYNERGRAPH_ISA {
namespace {

// A register tile of the product: kTileRows x kTileCols accumulators.
constexpr int kTileRows = kDoubles == 8 ? 8 : 4;
constexpr int kTileVectors = kSquareRegisters;
constexpr int kTileCols = kTileVectors * kDoubles;
// Rows that a tile of the right factor serves one after the other while it is near.
constexpr int kBlockRows = (kDoubles == 8 ? 1 : 4) * kTileRows;
// Small registers waste little: the code of all widths is left out, which pages have to load.
constexpr bool kSkipZeros = kDoubles > 2;
static_assert(kTileCols <= kZeroBand && kTileRows <= kZeroBand);
static_assert(kTileVectors == 3);  // update_tile() knows them

/// tile(r, c) += sum over k in [begin, end) of left[r][k] * packed[k][c], in the registers from
/// kFirst on.
template <int kRows, int kFirst, int kVectors>
inline void multiply_tile(const double* left, std::ptrdiff_t stride, const double* packed,
                          int begin, int end, Doubles (*tile)[kVectors]) {
  for (int k = begin; k < end; ++k) {
    const double* right = packed + static_cast<std::ptrdiff_t>(k) * kTileCols;
    Doubles b[kVectors];
    for (int v = kFirst; v < kVectors; ++v) {
      b[v] = load<Doubles>(right + v * kDoubles);
      pin(b[v]);
    }
    for (int r = 0; r < kRows; ++r) {
      const Doubles a = splat<Doubles>(left[r * stride + k]);
      for (int v = kFirst; v < kVectors; ++v) tile[r][v] += a * b[v];
    }
  }
}

/// The same over all of [begin, depth), without the zeros of the right factor: column c of a tile
/// that has its diagonal in row `diagonal` ends in row diagonal + c.
template <int kRows, int kVectors, int kFirst = 0>
inline void multiply_wedge(const double* left, std::ptrdiff_t stride, const double* packed,
                           int begin, int depth, int diagonal, Doubles (*tile)[kVectors]) {
  const int end = kSkipZeros ? smaller(depth, diagonal + (kFirst + 1) * kDoubles) : depth;
  multiply_tile<kRows, kFirst>(left, stride, packed, begin, end, tile);
  if constexpr (kSkipZeros && kFirst + 1 < kVectors)
    multiply_wedge<kRows, kVectors, kFirst + 1>(left, stride, packed, larger(begin, end), depth,
                                                diagonal, tile);
}

/// Adds one depth's part to rows [row, row + kRows) of the tile at column `col`, of which kVectors
/// registers hold columns of the matrix.
template <int kRows, int kVectors>
inline void update_rows(ConstMatrixView upper, MatrixView result, const double* packed, int row,
                        int col, int first, int depth, bool fresh) {
  if (!fresh)
    for (int r = 0; r < kRows; ++r)
      for (int v = 0; v < kVectors; ++v)
        __builtin_prefetch(result.row(row + r) + col + v * kDoubles);
  Doubles tile[kRows][kVectors] = {};
  multiply_wedge<kRows, kVectors>(upper.row(row) + first, upper.stride, packed, 0, depth,
                                  col - first, tile);
  for (int r = 0; r < kRows; ++r) {
    double* out = result.row(row + r) + col;
    if (col + kVectors * kDoubles <= result.cols) {
      for (int v = 0; v < kVectors; ++v) {
        double* to = out + v * kDoubles;
        store(to, fresh ? tile[r][v] : load<Doubles>(to) + tile[r][v]);
      }
      continue;
    }
    double values[kVectors * kDoubles];
    for (int v = 0; v < kVectors; ++v) store(values + v * kDoubles, tile[r][v]);
    for (int c = 0; c < result.cols - col; ++c) out[c] = fresh ? values[c] : out[c] + values[c];
  }
}

/// The same for the tile at column `col`, whatever part of it lies in the matrix.
template <int kRows>
inline void update_tile(ConstMatrixView upper, MatrixView result, const double* packed, int row,
                        int col, int first, int depth, bool fresh) {
  const int columns = result.cols - col;
  if (!kSkipZeros || columns > 2 * kDoubles)
    update_rows<kRows, 3>(upper, result, packed, row, col, first, depth, fresh);
  else if (columns > kDoubles)
    update_rows<kRows, 2>(upper, result, packed, row, col, first, depth, fresh);
  else
    update_rows<kRows, 1>(upper, result, packed, row, col, first, depth, fresh);
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
    for (int block = 0; block < depth_end; block += kBlockRows) {
      const int block_end = smaller(block + kBlockRows, depth_end);
      for (int tile = larger(tile_begin, block / kTileCols); tile < tile_end; ++tile) {
        const int col = tile * kTileCols;
        const double* right = packed + (tile - tile_begin) * depth_size;
        for (int row = block; row < smaller(block_end, col + kTileCols);) {
          const int start = larger(first, row);
          const int depth = smaller(depth_end, col + kTileCols) - start;
          const double* from = right + static_cast<std::ptrdiff_t>(start - first) * kTileCols;
          const bool fresh = start == row;  // the sum of row j begins at k = j
          if (row + kTileRows <= depth_end) {
            update_tile<kTileRows>(upper, result, from, row, col, start, depth, fresh);
            row += kTileRows;
          } else {
            update_tile<1>(upper, result, from, row, col, start, depth, fresh);
            ++row;
          }
        }
      }
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

void transpose_lower(ConstMatrixView from, MatrixView to, int begin, int end) {
  constexpr int kTile = 4;
  const int n = from.rows;
  const int whole = n - n % kTile;
  for (int i0 = begin; i0 < whole; i0 += kTile)
    for (int j0 = begin; j0 < smaller(i0, end); j0 += kTile)
      transpose_tile(&from(i0, j0), from.stride, &to(j0, i0), to.stride);
  for (int j = begin; j < end; ++j) {  // the tile on the diagonal, and what is less than a tile
    int i = j;
    for (; i < smaller(whole, j - j % kTile + kTile); ++i) to(j, i) = from(i, j);
    for (i = larger(i, whole); i < n; ++i) to(j, i) = from(i, j);
  }
}

}  // namespace synergraph::SYNERGRAPH_ISA

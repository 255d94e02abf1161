#include "synergraph/core/triangular.h"

#include <algorithm>
#include <cstring>

#include "synergraph/core/parallel.h"
#include "synergraph/core/simd.h"

namespace synergraph {
namespace {

// A register tile of the product: kTileRows x kTileCols accumulators.
constexpr int kTileRows = kLanes == 8 ? 8 : 4;
constexpr int kTileVectors = 3;
constexpr int kTileCols = kTileVectors * kLanes;
static_assert(kTileCols <= kZeroBand && kTileRows <= kZeroBand);
// One task: a strip of columns. Its right factor is packed depth by depth, so that it stays in L2.
constexpr int kStripTiles = 8;
constexpr int kDepth = 256;
// Below this size threads cost more than they bring.
constexpr int kParallelSize = 256;

/// tile(r, c) += sum over k in [0, depth) of left[r][k] * packed[k][c].
template <int kRows>
inline void multiply_tile(const double* left, std::ptrdiff_t stride, const double* packed,
                          int depth, Vec (*tile)[kTileVectors]) {
  for (int k = 0; k < depth; ++k) {
    const double* right = packed + static_cast<std::ptrdiff_t>(k) * kTileCols;
    Vec b[kTileVectors];
    for (int v = 0; v < kTileVectors; ++v) {
      b[v] = load(right + v * kLanes);
      pin(b[v]);
    }
    for (int r = 0; r < kRows; ++r) {
      const Vec a = broadcast(left[r * stride + k]);
      for (int v = 0; v < kTileVectors; ++v) tile[r][v] += a * b[v];
    }
  }
}

/// Adds one depth's part to rows [row, row + kRows) of the tile at column `col`.
template <int kRows>
inline void update_rows(ConstMatrixView upper, MatrixView result, const double* packed, int row,
                        int col, int first, int depth, bool fresh) {
  Vec tile[kRows][kTileVectors] = {};
  multiply_tile<kRows>(upper.row(row) + first, upper.stride, packed, depth, tile);
  const bool whole = row + kRows - 1 <= col && col + kTileCols <= result.cols;
  for (int r = 0; r < kRows; ++r) {
    double* out = result.row(row + r) + col;
    if (whole) {
      for (int v = 0; v < kTileVectors; ++v) {
        double* to = out + v * kLanes;
        store(to, fresh ? tile[r][v] : load(to) + tile[r][v]);
      }
      continue;
    }
    double values[kTileCols];
    for (int v = 0; v < kTileVectors; ++v) store(values + v * kLanes, tile[r][v]);
    const int begin = std::max(0, row + r - col);  // nothing is written below the diagonal
    const int end = std::min(kTileCols, result.cols - col);
    for (int c = begin; c < end; ++c) out[c] = fresh ? values[c] : out[c] + values[c];
  }
}

/// packed[k][.] = upper(first + k, col ..), zeros beyond the last column.
void pack_tile(ConstMatrixView upper, int first, int depth, int col, double* packed) {
  const int width = std::min(kTileCols, upper.cols - col);
  for (int k = 0; k < depth; ++k, packed += kTileCols) {
    const double* from = upper.row(first + k) + col;
    if (width == kTileCols) {
      for (int v = 0; v < kTileVectors; ++v) store(packed + v * kLanes, load(from + v * kLanes));
    } else {
      for (int c = 0; c < kTileCols; ++c) packed[c] = c < width ? from[c] : 0.0;
    }
  }
}

/// All rows of the product in the columns of tiles [tile_begin, tile_end).
void square_strip(ConstMatrixView upper, MatrixView result, int tile_begin, int tile_end,
                  ScratchVector<double>& packed) {
  const int strip_end = std::min(upper.rows, tile_end * kTileCols);
  const auto depth_size = static_cast<std::ptrdiff_t>(std::min(kDepth, strip_end)) * kTileCols;
  packed.resize(static_cast<std::size_t>(depth_size * (tile_end - tile_begin)));
  for (int first = 0; first < strip_end; first += kDepth) {
    const int depth_end = std::min(first + kDepth, strip_end);
    for (int tile = tile_begin; tile < tile_end; ++tile) {
      const int depth = std::min(depth_end, (tile + 1) * kTileCols) - first;
      pack_tile(upper, first, depth, tile * kTileCols,
                packed.data() + (tile - tile_begin) * depth_size);
    }
    for (int row = 0; row < depth_end;) {
      const int rows = row + kTileRows <= depth_end ? kTileRows : 1;
      const int start = std::max(first, row);
      const bool fresh = start == row;  // the sum of row j begins at k = j
      for (int tile = std::max(tile_begin, row / kTileCols); tile < tile_end; ++tile) {
        const int col = tile * kTileCols;
        const int depth = std::min(depth_end, col + kTileCols) - start;
        if (depth <= 0) continue;
        const double* right = packed.data() + (tile - tile_begin) * depth_size +
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

/// to = transpose of from, 4 x 4.
inline void transpose_tile(const double* from, std::ptrdiff_t from_stride, double* to,
                           std::ptrdiff_t to_stride) {
  using Four [[gnu::vector_size(4 * sizeof(double))]] = double;
  Four row[4];
  for (int r = 0; r < 4; ++r) std::memcpy(&row[r], from + r * from_stride, sizeof row[r]);
  const Four low01 = __builtin_shufflevector(row[0], row[1], 0, 4, 2, 6);
  const Four high01 = __builtin_shufflevector(row[0], row[1], 1, 5, 3, 7);
  const Four low23 = __builtin_shufflevector(row[2], row[3], 0, 4, 2, 6);
  const Four high23 = __builtin_shufflevector(row[2], row[3], 1, 5, 3, 7);
  const Four column[4] = {__builtin_shufflevector(low01, low23, 0, 1, 4, 5),
                          __builtin_shufflevector(high01, high23, 0, 1, 4, 5),
                          __builtin_shufflevector(low01, low23, 2, 3, 6, 7),
                          __builtin_shufflevector(high01, high23, 2, 3, 6, 7)};
  for (int r = 0; r < 4; ++r) std::memcpy(to + r * to_stride, &column[r], sizeof column[r]);
}

}  // namespace

void square_upper(ConstMatrixView upper, MatrixView result, int threads) {
  const int tiles = (upper.rows + kTileCols - 1) / kTileCols;
  const int strips = (tiles + kStripTiles - 1) / kStripTiles;
  if (threads <= 0) threads = default_thread_count();
  if (upper.rows < kParallelSize) threads = 1;
  std::vector<ScratchVector<double>> packed(static_cast<std::size_t>(threads));
  // The longest strips, on the right, go first: the others then fill the gaps.
  parallel_for(static_cast<std::size_t>(strips), threads, [&](std::size_t index, int worker) {
    const int tile_begin = (strips - 1 - static_cast<int>(index)) * kStripTiles;
    square_strip(upper, result, tile_begin, std::min(tiles, tile_begin + kStripTiles),
                 packed[static_cast<std::size_t>(worker)]);
  });
}

void multiply_upper(ConstMatrixView upper, const double* in, double* out, int threads) {
  const int n = upper.rows;
  constexpr int kRowsPerTask = 64;
  const auto tasks = static_cast<std::size_t>((n + kRowsPerTask - 1) / kRowsPerTask);
  parallel_for(tasks, n < 1024 ? 1 : threads, [&](std::size_t task, int) {
    const int begin = static_cast<int>(task) * kRowsPerTask;
    for (int j = begin; j < std::min(n, begin + kRowsPerTask); ++j)
      out[j] = dot(upper.row(j) + j, in + j, n - j);
  });
}

void transpose_lower(ConstMatrixView from, MatrixView to) {
  constexpr int kTile = 4;
  const int n = from.rows;
  int i0 = 0;
  for (; i0 + kTile <= n; i0 += kTile) {
    for (int j0 = 0; j0 < i0; j0 += kTile)
      transpose_tile(&from(i0, j0), from.stride, &to(j0, i0), to.stride);
    for (int i = i0; i < i0 + kTile; ++i)
      for (int j = i0; j <= i; ++j) to(j, i) = from(i, j);
  }
  for (int i = i0; i < n; ++i)
    for (int j = 0; j <= i; ++j) to(j, i) = from(i, j);
}

}  // namespace synergraph

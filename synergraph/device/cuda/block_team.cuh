#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "synergraph/device/small/layout.h"

// A block of threads that measures one small matrix; see device/small/measure_matrix.h.
//
// For the steps the matrix is copied from shared memory to registers, a tile of 8 rows by 4 columns
// for each thread. A step reads only the states from shared memory: each read serves 4 columns, and
// 8 sums grow side by side. Each thread writes one partial sum for each of its columns; the node's
// own thread adds these in the order of the rows. The number of warps follows from the number of
// nodes alone, so that no sum depends on what else is measured. FP64 multiply-adds and the shared
// memory's bandwidth limit a step alike; its two barriers leave room for the other blocks of the
// multiprocessor.

namespace synergraph::small {

inline constexpr int kLanes = 32;
inline constexpr int kMostWarps = 9;
inline constexpr int kColumnGroups = kMostNodes / kLanes;
inline constexpr int kTileRows = 8;
inline constexpr int kTileColumns = 4;
// The triangle is squared in chunks of this many rows by 32 columns.
inline constexpr int kChunkRows = 8;

/// Tiles before the tiles of rows [8 block, 8 block + 8), which begin in column 0.
constexpr int tiles_before(int block) {
  return block * (block + 1) * kTileRows / kTileColumns / 2;
}
constexpr int row_blocks(int nodes) {
  return (nodes + kTileRows - 1) / kTileRows;
}
/// Warps of a block for matrices of `nodes` nodes: a thread for each tile, and for each node.
constexpr int warps_for(int nodes) {
  const int tiles = tiles_before(row_blocks(nodes));
  return ((tiles > nodes ? tiles : nodes) + kLanes - 1) / kLanes;
}
static_assert(warps_for(kMostNodes) == kMostWarps);

/// Chunks of columns [32 group, 32 group + 32), which begin at their first row.
constexpr int chunks_of_group(int group, int nodes) {
  const int rows = nodes - kLanes * group;
  return rows <= 0 ? 0 : (rows + kChunkRows - 1) / kChunkRows;
}
/// Chunks of all groups before `group`.
constexpr int chunks_before(int group, int nodes) {
  int chunks = 0;
  for (int g = 0; g < group; ++g) chunks += chunks_of_group(g, nodes);
  return chunks;
}

/// Shared memory of a block beside small::Memory.
struct alignas(16) BlockMemory {
  /// Partial sums of every thread. Threads of neighbouring columns read from different banks.
  static constexpr int kStride = kMostWarps * kLanes + 2;
  static_assert(kStride % 8 == 2);
  Pair partial[kTileColumns][kStride];
  double reduced[2][kMostWarps];
};

class BlockTeam {
 public:
  static constexpr int kNodes = 1;
  static constexpr int kEntries = kColumnGroups;

  __device__ __forceinline__ explicit BlockTeam(BlockMemory& memory) : memory_(memory) {}

  __device__ __forceinline__ int rank() const { return static_cast<int>(threadIdx.x); }
  __device__ __forceinline__ int size() const { return static_cast<int>(blockDim.x); }
  __device__ __forceinline__ int lane() const { return rank() % kLanes; }
  __device__ __forceinline__ static constexpr int lanes() { return kLanes; }
  __device__ __forceinline__ int group() const { return rank() / kLanes; }
  __device__ __forceinline__ int groups() const { return size() / kLanes; }
  __device__ __forceinline__ void sync() const { __syncthreads(); }

  __device__ __forceinline__ static double lane_sum(double x) {
    for (int step = kLanes / 2; step > 0; step /= 2) x += __shfl_xor_sync(~0U, x, step);
    return x;
  }
  __device__ __forceinline__ static double lane_max(double x) {
    for (int step = kLanes / 2; step > 0; step /= 2) {
      const double other = __shfl_xor_sync(~0U, x, step);
      x = other > x ? other : x;
    }
    return x;
  }
  __device__ __forceinline__ static int lane_least(int x) { return __reduce_min_sync(~0U, x); }
  __device__ __forceinline__ static bool lane_any(bool x) { return __any_sync(~0U, x); }
  __device__ __forceinline__ static double lane_broadcast(double x, int lane) {
    return __shfl_sync(~0U, x, lane);
  }

  __device__ __forceinline__ double sum(double x) {
    const double* of_warps = reduce(lane_sum(x));
    double all = 0.0;
    for (int w = 0; w < groups(); ++w) all += of_warps[w];
    return all;
  }
  __device__ __forceinline__ double max(double x) {
    const double* of_warps = reduce(lane_max(x));
    double all = of_warps[0];
    for (int w = 1; w < groups(); ++w) all = of_warps[w] > all ? of_warps[w] : all;
    return all;
  }
  __device__ __forceinline__ bool any(bool x) const { return __syncthreads_or(x) != 0; }
  __device__ __forceinline__ int either(int bits) const {
    int all = 0;
    for (int bit = 1; bit <= kSlowWalk; bit *= 2)
      if (__syncthreads_or(bits & bit) != 0) all |= bit;
    return all;
  }

  template <class T>
  __device__ __forceinline__ static double load(const void* at) {
    return number(*static_cast<const T*>(at));
  }

  __device__ __forceinline__ void take_matrix(const double* matrix, int nodes) {
    nodes_ = nodes;
    const bool any = rank() < tiles_before(row_blocks(nodes));  // otherwise zeros
    row_block_ = 0;
    while (any && tiles_before(row_block_ + 1) <= rank()) ++row_block_;
    const int first = any ? kTileColumns * (rank() - tiles_before(row_block_)) : 0;
#pragma unroll
    for (int k = 0; k < kTileRows; ++k) {
      const int i = row(k);
#pragma unroll
      for (int c = 0; c < kTileColumns; ++c) {
        const int j = first + c;
        entry_[k][c] = any && i < nodes && j <= i ? matrix[triangle_of(i) + j] : 0.0;
      }
    }
  }

  template <bool kSignal, bool kSurvival>
  __device__ __forceinline__ void multiply(const double* /*matrix*/, const Pair* state,
                                           int /*nodes*/) {
    Pair sum[kTileColumns];
#pragma unroll
    for (int k = 0; k < kTileRows; ++k) {
      const Pair x = state[row(k)];
#pragma unroll
      for (int c = 0; c < kTileColumns; ++c) {
        if (kSignal) sum[c].signal += entry_[k][c] * x.signal;
        if (kSurvival) sum[c].survival += entry_[k][c] * x.survival;
      }
    }
#pragma unroll
    for (int c = 0; c < kTileColumns; ++c) memory_.partial[c][rank()] = sum[c];
    __syncthreads();
  }

  __device__ __forceinline__ Pair product(int j) const {
    int block = j / kTileRows;
    const Pair* part = memory_.partial[j % kTileColumns] + tiles_before(block) + j / kTileColumns;
    Pair sum;
#pragma unroll 4
    for (; block * kTileRows < nodes_; ++block) {
      sum.signal += part->signal;
      sum.survival += part->survival;
      part += tiles_before(block + 1) - tiles_before(block);
    }
    return sum;
  }

  /// square = matrix * matrix, both packed. A warp has chunks of 8 rows by 32 columns.
  __device__ void square(const double* matrix, double* square, int nodes) const {
    const int chunks = chunks_before(kColumnGroups, nodes);
    int columns = 0;
    int before = 0;
    for (int place = group(); place < chunks; place += groups()) {
      while (place >= before + chunks_of_group(columns, nodes))
        before += chunks_of_group(columns++, nodes);
      const int i = kLanes * columns + kChunkRows * (place - before);
      const int j = kLanes * columns + lane();
      const double* rows[kChunkRows];
      double sum[kChunkRows] = {};
#pragma unroll
      for (int r = 0; r < kChunkRows; ++r) rows[r] = matrix + triangle_of(min(i + r, nodes - 1));
      for (int k = kLanes * columns; k < min(i + kChunkRows, nodes); ++k) {
        const double x = j <= k ? matrix[triangle_of(k) + j] : 0.0;
#pragma unroll
        for (int r = 0; r < kChunkRows; ++r)
          if (k <= i + r) sum[r] += rows[r][k] * x;
      }
#pragma unroll
      for (int r = 0; r < kChunkRows; ++r)
        if (j <= i + r && i + r < nodes) square[triangle_of(i + r) + j] = sum[r];
    }
  }

 private:
  __device__ __forceinline__ static double number(Float16 x) {
    return __half2float(__ushort_as_half(x.bits));
  }
  __device__ __forceinline__ static double number(BFloat16 x) {
    return __bfloat162float(__ushort_as_bfloat16(x.bits));
  }
  __device__ __forceinline__ static double number(float x) {
    return x;
  }
  __device__ __forceinline__ static double number(double x) {
    return x;
  }
  /// Row k of this thread's tile. Tiles of other rows begin elsewhere, so that a warp reads the
  /// states of all its tiles from different banks.
  __device__ __forceinline__ int row(int k) const {
    return kTileRows * row_block_ + (k + row_block_) % kTileRows;
  }

  /// What every warp has; the buffers take turns, so that one barrier a reduction is enough.
  __device__ __forceinline__ const double* reduce(double of_warp) {
    turn_ ^= 1;
    if (lane() == 0) memory_.reduced[turn_][group()] = of_warp;
    __syncthreads();
    return memory_.reduced[turn_];
  }

  BlockMemory& memory_;
  int turn_ = 0;
  int nodes_ = 0;
  int row_block_ = 0;
  double entry_[kTileRows][kTileColumns];
};

}  // namespace synergraph::small

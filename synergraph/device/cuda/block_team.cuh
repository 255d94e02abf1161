#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "synergraph/device/small/layout.h"

// A block of threads that measures one small matrix; see device/small/measure_matrix.h.
//
// For the steps the matrix is copied from shared memory to registers, in chunks of 8 rows by 32
// columns: a lane has 8 entries of its column, a warp up to kChunks chunks. A step then reads only
// the states from shared memory, the same for all lanes of a warp. Each warp adds up its chunks of
// a group of columns and writes one partial sum for each column; the node's own thread adds these
// in the order of the warps. The number of warps follows from the number of nodes alone, so that no
// sum depends on what else is measured. FP64 multiply-adds and reads of the states limit a step;
// the two barriers of each step leave room for the other blocks of the multiprocessor.

namespace synergraph::small {

inline constexpr int kChunkRows = 8;
inline constexpr int kLanes = 32;
inline constexpr int kChunks = 4;  // of a warp
inline constexpr int kMostWarps = 10;
inline constexpr int kColumnGroups = kMostNodes / kLanes;

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
/// Warps of a block for matrices of `nodes` nodes.
constexpr int warps_for(int nodes) {
  return (chunks_before(kColumnGroups, nodes) + kChunks - 1) / kChunks;
}
static_assert(warps_for(kMostNodes) == kMostWarps);

/// Shared memory of a block beside small::Memory.
struct alignas(16) BlockMemory {
  /// Warps go through the groups in order: warp + group is different for every partial sum.
  Pair partial[kMostWarps + kColumnGroups - 1][kLanes];
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
    const int chunks = chunks_before(kColumnGroups, nodes);
    places_ = 0;
    int columns = 0;
    int before = 0;
#pragma unroll
    for (int c = 0; c < kChunks; ++c) {
      const int place = group() * kChunks + c;
      const bool any = place < chunks;  // otherwise zeros, in the columns of the chunk before
      while (any && place >= before + chunks_of_group(columns, nodes))
        before += chunks_of_group(columns++, nodes);
      const int first = any ? kLanes * columns + kChunkRows * (place - before) : 0;
      places_ |= (columns | first / kChunkRows << 4) << (8 * c);
      const int j = kLanes * columns + lane();
#pragma unroll
      for (int k = 0; k < kChunkRows; ++k) {
        const int i = first + k;
        entry_[c][k] = any && i < nodes && j <= i ? matrix[triangle_of(i) + j] : 0.0;
      }
    }
  }

  template <bool kSignal, bool kSurvival>
  __device__ __forceinline__ void multiply(const double* /*matrix*/, const Pair* state, int nodes) {
    nodes_ = nodes;
    Pair sum;
#pragma unroll
    for (int c = 0; c < kChunks; ++c) {
      if (c > 0 && columns(c) != columns(c - 1)) {
        memory_.partial[group() + columns(c - 1)][lane()] = sum;
        sum = Pair{};
      }
      const Pair* x_of_chunk = state + first(c);
#pragma unroll
      for (int k = 0; k < kChunkRows; ++k) {
        const Pair x = x_of_chunk[k];
        if (kSignal) sum.signal += entry_[c][k] * x.signal;
        if (kSurvival) sum.survival += entry_[c][k] * x.survival;
      }
    }
    memory_.partial[group() + columns(kChunks - 1)][lane()] = sum;
    __syncthreads();
  }

  __device__ __forceinline__ Pair product(int j) const {
    const int columns = j / kLanes;
    const int begin = chunks_before(columns, nodes_);
    const int last = begin + chunks_of_group(columns, nodes_) - 1;
    Pair sum;
    for (int warp = begin / kChunks; warp <= last / kChunks; ++warp) {
      const Pair part = memory_.partial[warp + columns][j % kLanes];
      sum.signal += part.signal;
      sum.survival += part.survival;
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
  /// Group of columns of a chunk of this warp, and its first row: four bits each.
  __device__ __forceinline__ int columns(int chunk) const {
    return (places_ >> (8 * chunk)) & 15;
  }
  __device__ __forceinline__ int first(int chunk) const {
    return ((places_ >> (8 * chunk + 4)) & 15) * kChunkRows;
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
  int places_ = 0;  // of the chunks
  double entry_[kChunks][kChunkRows];
};

}  // namespace synergraph::small

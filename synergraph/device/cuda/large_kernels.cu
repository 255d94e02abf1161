#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <cstdint>

#include "synergraph/device/cuda/large_kernels.h"
#include "synergraph/diffusion/peak_rules.h"

// A triangular matrix in the device's memory and vectors of doubles. A sweep goes through strips of
// kStrip columns from the last to the first. For each strip, `gather` kernels add the products with
// all later rows: for a panel of steps a matrix product on the FP64 tensor cores, which use every
// entry for kSteps steps. Then one block of threads a flow solves the strip's own triangle. Entries
// are converted to double and scaled when they are read, so that float16 attention stays float16 in
// memory. What limits a sweep: the tensor cores in `gather_panel` for large matrices, the chain of
// kBlock-wide triangles in `solve_panel` for small ones.

namespace synergraph::cuda {
namespace {

constexpr int kGatherRows = 32;     // of a tile in shared memory
constexpr int kPitch = kBlock + 4;  // doubles: fragments of a warp lie in different banks
constexpr double kTie =
    peak_rules::kRounding;  // maxima closer than this are one: see FidelityTracker
constexpr int kSolveThreads = 256;

__device__ double number(double x) {
  return x;
}
__device__ double number(float x) {
  return x;
}
__device__ double number(__half x) {
  return __half2float(x);
}
__device__ double number(__nv_bfloat16 x) {
  return __bfloat162float(x);
}

/// Four consecutive elements.
template <class T>
struct alignas(4 * sizeof(T)) Four {
  T x[4];
};
template <>
struct alignas(16) Four<double> {
  double x[4];
};

/// Elements j .. j + 3 of a row; `aligned`: they lie on a boundary of four elements.
template <class T>
__device__ void load_four(const T* row, int j, bool aligned, double (&to)[4]) {
  if (aligned) {
    const Four<T> four = *reinterpret_cast<const Four<T>*>(row + j);
#pragma unroll
    for (int k = 0; k < 4; ++k) to[k] = number(four.x[k]);
  } else {
#pragma unroll
    for (int k = 0; k < 4; ++k) to[k] = number(row[j + k]);
  }
}

/// Row i, such that element j is column j of the matrix.
template <class T>
__device__ const T* row_of(const Entries& entries, int i, int first) {
  const T* data = static_cast<const T*>(entries.data);
  switch (entries.held) {
    case Held::kOneStrip:
      return data + (i - first) * entries.stride - first;
    case Held::kRows:
      return data + (i - first) * entries.stride;
    default:
      return data + i * entries.stride;
  }
}

template <class T>
__device__ bool in_fours(const Entries& entries) {
  return entries.stride % 4 == 0 && reinterpret_cast<std::uintptr_t>(entries.data) %
                                            (sizeof(T) * 4 > 16 ? 16 : sizeof(T) * 4) ==
                                        0;
}

__device__ double scale_of(const Entries& entries, int i) {
  return entries.row_scale == nullptr ? 1.0 : entries.row_scale[i];
}

/// c += a b for a 16 x 8 tile of a and an 8 x 8 tile of b. Lane 4 g + t has a(g, t), a(g + 8, t),
/// a(g, t + 4), a(g + 8, t + 4); b(t, g), b(t + 4, g); c(g, 2t), c(g, 2t + 1), c(g + 8, 2t),
/// c(g + 8, 2t + 1).
__device__ void multiply_add(double (&c)[4], const double (&a)[4], const double (&b)[2]) {
#if __CUDA_ARCH__ >= 900
  asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
      : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
#else
  for (int k = 0; k < 2; ++k)
    for (int half = 0; half < 2; ++half)
      asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
          : "+d"(c[2 * half]), "+d"(c[2 * half + 1])
          : "d"(a[2 * k + half]), "d"(b[k]));
#endif
}

/// c += (tile of a)^T (tile of x), `rows` of both in shared memory, kPitch doubles apart. A warp
/// has kM x 16 columns of a from `m0` on, and kN x 8 steps of x from `n0` on.
template <int kM, int kN>
__device__ void multiply_tiles(double (&c)[kM][kN][4], const double* a, const double* x, int rows,
                               int m0, int n0) {
  const int g = (threadIdx.x % 32) / 4;
  const int t = threadIdx.x % 4;
  for (int k = 0; k < rows; k += 8) {
    double left[kM][4];
    double right[kN][2];
    const double* low = a + (k + t) * kPitch + m0 + g;
    const double* high = low + 4 * kPitch;
#pragma unroll
    for (int m = 0; m < kM; ++m) {
      left[m][0] = low[16 * m];
      left[m][1] = low[16 * m + 8];
      left[m][2] = high[16 * m];
      left[m][3] = high[16 * m + 8];
    }
    const double* at = x + (k + t) * kPitch + n0 + g;
#pragma unroll
    for (int n = 0; n < kN; ++n) {
      right[n][0] = at[8 * n];
      right[n][1] = at[8 * n + 4 * kPitch];
    }
#pragma unroll
    for (int m = 0; m < kM; ++m)
#pragma unroll
      for (int n = 0; n < kN; ++n) multiply_add(c[m][n], left[m], right[n]);
  }
}

/// Calls visit(row, column, value) for every number of a warp's part of a product.
template <int kM, int kN, class Visit>
__device__ void visit_product(double (&c)[kM][kN][4], int m0, int n0, Visit visit) {
  const int g = (threadIdx.x % 32) / 4;
  const int t = threadIdx.x % 4;
#pragma unroll
  for (int m = 0; m < kM; ++m)
#pragma unroll
    for (int n = 0; n < kN; ++n)
#pragma unroll
      for (int k = 0; k < 4; ++k)
        visit(m0 + 16 * m + g + 8 * (k / 2), n0 + 8 * n + 2 * t + k % 2, c[m][n][k]);
}

// Sums of rows and columns.

/// A warp a row: the sum of the attention as given, of the kept keys, below the diagonal.
template <class T>
__global__ void sum_rows(const SumsJob* jobs) {
  const SumsJob& job = jobs[blockIdx.y];
  const int lane = threadIdx.x % 32;
  const int i = static_cast<int>(blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32);
  if (i >= job.nodes) return;
  const T* row = row_of<T>(job.entries, i, 0);
  double before = 0.0;  // padding
  double down = 0.0;
  bool bad = false;
  for (int j = -job.begin + lane; j < i; j += 32) {
    const double x = number(row[j]);
    if (j < 0) {
      // Padding may hold anything: what is no share of a row counts as zero.
      if (x >= 0.0 && x < 2.0) before += x;
    } else {
      bad |= !(x >= 0.0 && x <= 1e300);
      down += x;
    }
  }
  for (int j = i + 1 + lane; j < job.nodes + job.after; j += 32) {
    const double x = number(row[j]);
    bad |= j < job.nodes ? x != 0.0 : x > 0.0 && x < 2.0;
  }
  for (int step = 16; step > 0; step /= 2) {
    before += __shfl_xor_sync(~0U, before, step);
    down += __shfl_xor_sync(~0U, down, step);
  }
  bad = __any_sync(~0U, bad);
  if (lane != 0) return;
  const double own = number(row[i]);
  bad |= !(own >= 0.0 && own <= 1e300);
  const double kept = down + own;
  job.sums.whole[i] = before + kept;
  job.sums.scale[i] = 1.0 / kept;
  job.sums.down[i] = down;
  job.sums.diagonal[i] = own / kept;
  if (bad) atomicAdd(job.sums.bad_rows, 1);
  if (i > 0 && !(down > 0.0)) atomicAdd(job.sums.rows_that_keep_all, 1);
}

/// Columns [first + 256 x, ..) of a chunk of rows; `partial` gets forward sums and diagonals.
template <class T>
__global__ void sum_columns(const SumsJob* jobs, int first, int last, double* partial) {
  const SumsJob& job = jobs[blockIdx.z];
  const int j = first + static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int begin = static_cast<int>(blockIdx.y) * kChunk;
  const int end = min(begin + kChunk, job.nodes);
  double sum = 0.0;
  if (j < job.nodes && j < last) {
    for (int i = max(begin, j + 1); i < end; ++i)
      sum += number(row_of<T>(job.entries, i, first)[j]) * scale_of(job.entries, i);
  }
  const int chunks = static_cast<int>(gridDim.y);
  if (j < last)
    partial[(static_cast<std::int64_t>(blockIdx.z) * chunks + blockIdx.y) * (last - first) + j -
            first] = sum;
}

__global__ void finish_columns(const SumsJob* jobs, int chunks, int first, int last,
                               const double* partial) {
  const SumsJob& job = jobs[blockIdx.y];
  const int j = first + static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (j >= job.nodes || j >= last) return;
  double forward = 0.0;
  for (int chunk = chunks - 1; chunk >= 0; --chunk)
    forward += partial[(static_cast<std::int64_t>(blockIdx.y) * chunks + chunk) * (last - first) +
                       j - first];
  job.sums.forward[j] = forward;
  job.sums.column[j] = forward + job.sums.diagonal[j];
}

// A panel of steps.

/// partial[chunk][column of the strip][step] = sum over a chunk of later rows of a(i, j) x_t[i].
/// kBlock columns a block of threads.
template <class T>
__global__ __launch_bounds__(128) void gather_panel(const PanelFlow* flows, int first) {
  extern __shared__ double shared[];
  const PanelFlow& flow = flows[blockIdx.z];
  const int j0 = first + static_cast<int>(blockIdx.x) * kBlock;
  const int begin = first + kStrip + static_cast<int>(blockIdx.y) * kChunk;
  const int end = min(begin + kChunk, flow.nodes);
  if (begin >= end) return;
  double* tile = shared;  // [2][kGatherRows][kPitch]
  double* panel = shared + 2 * kGatherRows * kPitch;
  const bool aligned = in_fours<T>(flow.entries) && j0 % 4 == 0;
  const int r = static_cast<int>(threadIdx.x) / 4;  // the row of a tile that this thread loads
  const int q = static_cast<int>(threadIdx.x) % 4;
  double entries[4][4];
  double states[4][4];
  const auto fetch = [&](int i) {
    const int row = i + r;
    if (row < end) {
      const double scale = scale_of(flow.entries, row);
      const T* from = row_of<T>(flow.entries, row, first);
      const double* x = flow.states + static_cast<std::int64_t>(row) * kSteps;
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        load_four(from, j0 + 16 * k + 4 * q, aligned, entries[k]);
        load_four(x, 16 * k + 4 * q, true, states[k]);
#pragma unroll
        for (double& entry : entries[k]) entry *= scale;
      }
    } else {
#pragma unroll
      for (int k = 0; k < 4; ++k)
#pragma unroll
        for (int e = 0; e < 4; ++e) entries[k][e] = states[k][e] = 0.0;
    }
  };
  const auto put = [&](int stage) {
    double* a = tile + (stage * kGatherRows + r) * kPitch + 4 * q;
    double* x = panel + (stage * kGatherRows + r) * kPitch + 4 * q;
#pragma unroll
    for (int k = 0; k < 4; ++k)
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        a[16 * k + e] = entries[k][e];
        x[16 * k + e] = states[k][e];
      }
  };
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int m0 = 32 * (warp % 2);
  const int n0 = 32 * (warp / 2);
  double sums[2][4][4] = {};
  fetch(begin);
  put(0);
  __syncthreads();
  int stage = 0;
  for (int i = begin; i < end; i += kGatherRows, stage ^= 1) {
    const bool more = i + kGatherRows < end;
    if (more) fetch(i + kGatherRows);
    multiply_tiles(sums, tile + stage * kGatherRows * kPitch, panel + stage * kGatherRows * kPitch,
                   kGatherRows, m0, n0);
    if (more) put(stage ^ 1);
    __syncthreads();
  }
  double* to = flow.partial +
               (static_cast<std::int64_t>(blockIdx.y) * kStrip + blockIdx.x * kBlock) * kSteps;
  visit_product(sums, m0, n0, [&](int m, int n, double sum) { to[m * kSteps + n] = sum; });
}

/// What the steps of kBlock nodes came to: peaks, sums, largest states. `states` are in shared
/// memory, `after` those after the panel. Four threads a node.
__device__ void reduce_block(const PanelFlow& flow, int j0, const double* states,
                             const double* after) {
  const int node = static_cast<int>(threadIdx.x) / 4;
  const int q = static_cast<int>(threadIdx.x) % 4;
  const int j = j0 + node;
  const double* x = states + node * kPitch;
  if (flow.peak != nullptr) {
    const int first = j == flow.nodes - 1 ? flow.first : 0;
    double most = 0.0;
    for (int t = q; t < kSteps; t += 4)
      if (t >= first) most = fmax(most, x[t]);
    most = fmax(most, __shfl_xor_sync(~0U, most, 1));
    most = fmax(most, __shfl_xor_sync(~0U, most, 2));
    const double whole = fmax(most, after[node]);
    const double tie = whole * (1.0 - kTie);
    int place = kSteps;
    for (int t = q; t < kSteps; t += 4)
      if (t >= first && x[t] >= tie) place = min(place, t);
    place = min(place, __shfl_xor_sync(~0U, place, 1));
    place = min(place, __shfl_xor_sync(~0U, place, 2));
    if (q == 0 && j < flow.nodes) {
      flow.peak[j] = whole;
      flow.place[j] = place;
    }
  }
  if (flow.sum != nullptr) {
    double sum = 0.0;
    for (int t = q; t < flow.count; t += 4) sum += x[t];
    sum += __shfl_xor_sync(~0U, sum, 1);
    sum += __shfl_xor_sync(~0U, sum, 2);
    if (q == 0 && j < flow.nodes) {
      flow.sum[j] = sum;
      flow.previous[j] = x[kSteps - 1];
    }
  }
  if (flow.worst != nullptr) {
    // States are not negative: as integers they have the order of their bits.
    const int t = static_cast<int>(threadIdx.x) % kSteps;
    double most = 0.0;
    for (int k = static_cast<int>(threadIdx.x) / kSteps; k < kBlock; k += kSolveThreads / kSteps)
      if (j0 + k < flow.nodes) most = fmax(most, states[k * kPitch + t]);
    atomicMax(reinterpret_cast<unsigned long long*>(flow.worst + t),
              static_cast<unsigned long long>(__double_as_longlong(most)));
    if (threadIdx.x < kBlock && j0 + static_cast<int>(threadIdx.x) < flow.nodes)
      atomicMax(reinterpret_cast<unsigned long long*>(flow.worst + kSteps),
                static_cast<unsigned long long>(__double_as_longlong(after[threadIdx.x])));
  }
}

/// The nodes of one strip, kBlock at a time from the last. Shared memory holds the states of the
/// strip, a tile of the matrix, and the inflow of the block.
template <class T>
__global__ __launch_bounds__(kSolveThreads) void solve_panel(const PanelFlow* flows, int first) {
  extern __shared__ double shared[];
  const PanelFlow& flow = flows[blockIdx.x];
  if (first >= flow.nodes) return;
  double* states = shared;                  // [kStrip][kPitch]
  double* tile = states + kStrip * kPitch;  // [kBlock][kPitch]
  double* inflow = tile + kBlock * kPitch;  // [kBlock][kPitch]
  double* now = inflow + kBlock * kPitch;   // [2][kBlock]
  const int thread = static_cast<int>(threadIdx.x);
  const int warp = thread / 32;
  const int later = flow.nodes - (first + kStrip);  // rows behind the strip
  const int chunks = later > 0 ? (later + kChunk - 1) / kChunk : 0;
  const int m0 = 32 * (warp % 2);
  const int n0 = 16 * (warp / 2);
  const bool aligned = in_fours<T>(flow.entries);
  // Row i of the tile, columns from j0 on; zero where there is no such entry.
  const auto load_tile = [&](int i0, int j0) {
    const int r = thread / 4;
    const int i = i0 + r;
    const double scale = i < flow.nodes ? scale_of(flow.entries, i) : 0.0;
    for (int k = 0; k < 4; ++k) {
      const int j = j0 + 16 * k + 4 * (thread % 4);
      double entries[4] = {};
      if (i < flow.nodes && j + 3 < flow.nodes) {
        load_four(row_of<T>(flow.entries, i, first), j, aligned, entries);
      } else if (i < flow.nodes) {
        for (int e = 0; e < 4; ++e)
          if (j + e < flow.nodes) entries[e] = number(row_of<T>(flow.entries, i, first)[j + e]);
      }
      for (int e = 0; e < 4; ++e)
        tile[r * kPitch + j - j0 + e] = i > j + e ? entries[e] * scale : 0.0;
    }
  };
  for (int block = kStrip / kBlock - 1; block >= 0; --block) {
    const int j0 = first + block * kBlock;
    if (j0 >= flow.nodes) continue;
    double sums[2][2][4] = {};
#pragma unroll 4
    for (int chunk = chunks - 1; chunk >= 0; --chunk) {
      const double* from =
          flow.partial + (static_cast<std::int64_t>(chunk) * kStrip + block * kBlock) * kSteps;
      visit_product(sums, m0, n0, [&](int m, int n, double& sum) { sum += from[m * kSteps + n]; });
    }
    for (int other = block + 1; other < kStrip / kBlock && first + other * kBlock < flow.nodes;
         ++other) {
      load_tile(first + other * kBlock, j0);
      __syncthreads();
      multiply_tiles(sums, tile, states + other * kBlock * kPitch, kBlock, m0, n0);
      __syncthreads();
    }
    load_tile(j0, j0);
    visit_product(sums, m0, n0, [&](int m, int n, double sum) {
      const double factor =
          flow.factor == nullptr || j0 + m >= flow.nodes ? 1.0 : flow.factor[j0 + m];
      inflow[m * kPitch + n] = sum * factor;
    });
    const int node = thread / 4;
    const int q = thread % 4;
    const int j = j0 + node;
    const bool there = j < flow.nodes;
    const double factor = flow.factor == nullptr || !there ? 1.0 : flow.factor[j];
    const double stay = there ? flow.stay[j] : 0.0;
    double x = there ? flow.now[j] : 0.0;
    if (q == 0) now[node] = x;
    __syncthreads();
    double own[16];  // a(i, j) of rows i = 8 k + 2 q, 8 k + 2 q + 1 of the block
#pragma unroll
    for (int k = 0; k < 8; ++k)
#pragma unroll
      for (int e = 0; e < 2; ++e)
        own[2 * k + e] = tile[(8 * k + 2 * q + e) * kPitch + node] * factor;
    double* mine = states + (block * kBlock + node) * kPitch;
    for (int t = 0; t < kSteps; ++t) {
      const double* before = now + (t % 2) * kBlock;
      double even = 0.0;
      double odd = 0.0;
#pragma unroll
      for (int k = 0; k < 8; ++k) {
        const double2 pair = *reinterpret_cast<const double2*>(before + 8 * k + 2 * q);
        even += own[2 * k] * pair.x;
        odd += own[2 * k + 1] * pair.y;
      }
      double sum = even + odd;
      sum += __shfl_xor_sync(~0U, sum, 1);
      sum += __shfl_xor_sync(~0U, sum, 2);
      if (q == 0) mine[t] = x;
      x = sum + inflow[node * kPitch + t] + stay * x;
      if (q == 0) now[((t + 1) % 2) * kBlock + node] = x;
      __syncthreads();
    }
    static_assert(kSteps % 2 == 0);  // the state after the panel is in the first half of `now`
    if (q == 0 && there) flow.now[j] = x;
    reduce_block(flow, j0, states + block * kBlock * kPitch, now);
    for (int k = thread; k < kBlock * kSteps; k += kSolveThreads)
      if (j0 + k / kSteps < flow.nodes)
        flow.states[static_cast<std::int64_t>(j0) * kSteps + k] =
            states[(block * kBlock + k / kSteps) * kPitch + k % kSteps];
    __syncthreads();
  }
}

constexpr std::size_t kGatherBytes = 4 * kGatherRows * kPitch * sizeof(double);
constexpr std::size_t kSolveBytes =
    (kStrip * kPitch + 2 * kBlock * kPitch + 2 * kBlock) * sizeof(double);

// Hitting times.

/// partial[chunk][column of the strip] = sum over a chunk of later rows of a(i, j) h[i]. A thread
/// has four columns and every kRowsAtOnce-th row.
constexpr int kRowsAtOnce = 8;
template <class T>
__global__ __launch_bounds__(kStrip / 4 * kRowsAtOnce) void gather_hitting(const HittingFlow* flows,
                                                                           int first) {
  __shared__ double weights[kChunk];
  __shared__ double parts[kRowsAtOnce][kStrip];
  const HittingFlow& flow = flows[blockIdx.y];
  const int begin = first + kStrip + static_cast<int>(blockIdx.x) * kChunk;
  const int end = min(begin + kChunk, flow.nodes);
  if (begin >= end) return;
  const int thread = static_cast<int>(threadIdx.x);
  for (int i = begin + thread; i < end; i += kStrip / 4 * kRowsAtOnce)
    weights[i - begin] = scale_of(flow.entries, i) * flow.times[i];
  __syncthreads();
  const int column = thread % (kStrip / 4) * 4;
  const int group = thread / (kStrip / 4);
  const bool aligned = in_fours<T>(flow.entries) && first % 4 == 0;
  double sums[4] = {};
#pragma unroll 4
  for (int i = begin + group; i < end; i += kRowsAtOnce) {
    double entries[4];
    load_four(row_of<T>(flow.entries, i, first), first + column, aligned, entries);
    const double weight = weights[i - begin];
#pragma unroll
    for (int e = 0; e < 4; ++e) sums[e] += entries[e] * weight;
  }
#pragma unroll
  for (int e = 0; e < 4; ++e) parts[group][column + e] = sums[e];
  __syncthreads();
  if (thread >= kStrip) return;
  double sum = 0.0;
  for (const auto& part : parts) sum += part[thread];
  flow.partial[static_cast<std::int64_t>(blockIdx.x) * kStrip + thread] = sum;
}

/// The nodes of one strip, from the last: a thread a column, which hears of every time that is
/// found.
template <class T>
__global__ __launch_bounds__(kStrip) void solve_hitting(const HittingFlow* flows, int first) {
  __shared__ double found[2];
  const HittingFlow& flow = flows[blockIdx.x];
  if (first >= flow.nodes) return;
  const int j = first + static_cast<int>(threadIdx.x);
  const int sink = flow.nodes - 1;
  const int later = flow.nodes - (first + kStrip);
  const int chunks = later > 0 ? (later + kChunk - 1) / kChunk : 0;
  double sum = 0.0;
#pragma unroll 8
  for (int chunk = chunks - 1; chunk >= 0; --chunk)
    sum += flow.partial[static_cast<std::int64_t>(chunk) * kStrip + threadIdx.x];
  const double mass = j < sink ? (flow.mass == nullptr ? 1.0 : flow.mass[j]) : 0.0;
  const double forward = j < sink ? flow.forward[j] : 1.0;
  const int last = min(first + kStrip, flow.nodes) - 1;
  // Entries are on their way while earlier ones are used.
  constexpr int kAhead = 8;
  const auto entry_of = [&](int i) {
    return i >= first && j < i ? number(row_of<T>(flow.entries, i, first)[j]) : 0.0;
  };
  double entries[kAhead];
#pragma unroll
  for (int e = 0; e < kAhead; ++e) entries[e] = entry_of(last - e);
  for (int top = last; top >= first; top -= kAhead) {
    double next[kAhead];
#pragma unroll
    for (int e = 0; e < kAhead; ++e) next[e] = entry_of(top - kAhead - e);
#pragma unroll
    for (int e = 0; e < kAhead; ++e) {
      const int i = top - e;
      if (i < first) break;
      if (j == i) {
        const double time = (mass + sum) / forward;
        found[i % 2] = time * scale_of(flow.entries, i);
        flow.times[i] = time;
      }
      __syncthreads();
      if (j < i) sum += entries[e] * found[i % 2];
    }
#pragma unroll
    for (int e = 0; e < kAhead; ++e) entries[e] = next[e];
  }
}

// Passing probabilities: rows from the first to the last.

constexpr int kPassThreads = 512;

/// kBlock rows: a warp adds up four of them over all earlier keys, then a warp solves the triangle.
template <class T>
__global__ __launch_bounds__(kPassThreads) void pass_rows(const PassingFlow* flows, int first) {
  __shared__ double sums[kBlock];
  __shared__ double triangle[kBlock][kBlock + 1];
  const PassingFlow& flow = flows[blockIdx.x];
  const int end = min(first + kBlock, flow.nodes);
  if (first >= flow.nodes || end <= flow.target) return;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int begin = flow.target / 32 * 32;
  for (int r = warp; r < kBlock; r += kPassThreads / 32) {
    const int i = first + r;
    double sum = 0.0;
    if (i < flow.nodes) {
      const T* row = row_of<T>(flow.entries, i, first);
      for (int k = begin + lane; k < first; k += 32)
        if (k >= flow.target) sum += number(row[k]) * flow.passing[k];
      for (int k = first + lane; k < first + kBlock; k += 32)
        triangle[r][k - first] = k < i ? number(row[k]) : 0.0;
    }
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(~0U, sum, step);
    if (lane == 0) sums[r] = sum;
  }
  __syncthreads();
  if (warp != 0) return;
  // Lane k has rows k and k + 32.
  double low = sums[lane];
  double high = sums[lane + 32];
  for (int r = 0; r < kBlock && first + r < flow.nodes; ++r) {
    const int i = first + r;
    double p = r < 32 ? low : high;
    p = __shfl_sync(~0U, p, r % 32);
    if (i < flow.target)
      p = 0.0;
    else if (i == flow.target)
      p = 1.0;
    else
      p = flow.down[i] > 0.0 ? p / flow.down[i] : 0.0;
    low += triangle[lane][r] * p;
    high += triangle[lane + 32][r] * p;
    if (lane == 0) flow.passing[i] = p;
  }
}

// Sums of heads.

template <class T>
__global__ void combine_strip(CombineJob job, int first) {
  const int j = first + static_cast<int>(threadIdx.x);
  const int i = first + static_cast<int>(blockIdx.x);
  if (i >= job.nodes) return;
  double diffusion = 0.0;
  double walk = 0.0;
  if (j <= i) {
    for (int h = 0; h < job.count; ++h) {
      const Entries entries = job.heads[h];
      const double entry = number(row_of<T>(entries, i, first)[j]) * scale_of(entries, i);
      diffusion += job.weights[h] * entry;
      if (job.columns != nullptr)
        walk += job.columns[static_cast<std::int64_t>(h) * job.nodes + j] * entry;
    }
  }
  const std::int64_t at = static_cast<std::int64_t>(i - first) * kStrip + threadIdx.x;
  job.diffusion[at] = diffusion;
  if (job.walk != nullptr) job.walk[at] = walk;
}

template <class T>
__global__ void combine_rows(CombineJob job, int first, std::int64_t row_length, double* rows) {
  const int j = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int i = first + static_cast<int>(blockIdx.y);
  if (i >= job.nodes || j > i) return;
  double diffusion = 0.0;
  for (int h = 0; h < job.count; ++h) {
    const Entries entries = job.heads[h];
    diffusion += job.weights[h] * (number(row_of<T>(entries, i, first)[j]) * scale_of(entries, i));
  }
  rows[blockIdx.y * row_length + j] = diffusion;
}

/// Calls a function template with the element type.
template <class Call>
void with_type(FloatType type, Call call) {
  switch (type) {
    case FloatType::kFloat16:
      return call(__half{});
    case FloatType::kBFloat16:
      return call(__nv_bfloat16{});
    case FloatType::kFloat32:
      return call(float{});
    case FloatType::kFloat64:
      return call(double{});
  }
}

unsigned blocks(int count, int each) {
  return static_cast<unsigned>((count + each - 1) / each);
}

}  // namespace

void prepare_large_kernels() {
  for (const FloatType type :
       {FloatType::kFloat16, FloatType::kBFloat16, FloatType::kFloat32, FloatType::kFloat64})
    with_type(type, [](auto element) {
      using T = decltype(element);
      cudaFuncSetAttribute(gather_panel<T>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                           static_cast<int>(kGatherBytes));
      cudaFuncSetAttribute(solve_panel<T>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                           static_cast<int>(kSolveBytes));
    });
}

void queue_sums(const SumsJob* jobs, int count, int nodes, FloatType type, double* partial,
                cudaStream_t stream) {
  with_type(type, [&](auto element) {
    using T = decltype(element);
    sum_rows<T><<<dim3(blocks(nodes, 4), static_cast<unsigned>(count)), 128, 0, stream>>>(jobs);
  });
  queue_column_sums(jobs, count, nodes, -1, type, partial, stream);
}

void queue_column_sums(const SumsJob* jobs, int count, int nodes, int first, FloatType type,
                       double* partial, cudaStream_t stream) {
  const int begin = first < 0 ? 0 : first;
  const int last = first < 0 ? nodes : std::min(nodes, first + kStrip);
  const auto z = static_cast<unsigned>(count);
  with_type(type, [&](auto element) {
    using T = decltype(element);
    sum_columns<T><<<dim3(blocks(last - begin, 128), blocks(nodes, kChunk), z), 128, 0, stream>>>(
        jobs, begin, last, partial);
  });
  finish_columns<<<dim3(blocks(last - begin, 128), z), 128, 0, stream>>>(jobs, chunks_of(nodes),
                                                                         begin, last, partial);
}

void queue_panel_strip(const PanelFlow* flows, int count, int nodes, int first, FloatType type,
                       cudaStream_t stream) {
  const auto flow_count = static_cast<unsigned>(count);
  with_type(type, [&](auto element) {
    using T = decltype(element);
    const int later = nodes - (first + kStrip);
    if (later > 0)
      gather_panel<T>
          <<<dim3(kStrip / kBlock, blocks(later, kChunk), flow_count), 128, kGatherBytes, stream>>>(
              flows, first);
    solve_panel<T><<<flow_count, kSolveThreads, kSolveBytes, stream>>>(flows, first);
  });
}

void queue_hitting_strip(const HittingFlow* flows, int count, int nodes, int first, FloatType type,
                         cudaStream_t stream) {
  const auto flow_count = static_cast<unsigned>(count);
  with_type(type, [&](auto element) {
    using T = decltype(element);
    const int later = nodes - (first + kStrip);
    if (later > 0)
      gather_hitting<T>
          <<<dim3(blocks(later, kChunk), flow_count), kStrip / 4 * kRowsAtOnce, 0, stream>>>(flows,
                                                                                             first);
    solve_hitting<T><<<flow_count, kStrip, 0, stream>>>(flows, first);
  });
}

void queue_passing_rows(const PassingFlow* flows, int count, int first, FloatType type,
                        cudaStream_t stream) {
  with_type(type, [&](auto element) {
    using T = decltype(element);
    pass_rows<T><<<static_cast<unsigned>(count), kPassThreads, 0, stream>>>(flows, first);
  });
}

void queue_combined_strip(const CombineJob& job, int first, FloatType type, cudaStream_t stream) {
  with_type(type, [&](auto element) {
    using T = decltype(element);
    combine_strip<T><<<static_cast<unsigned>(job.nodes - first), kStrip, 0, stream>>>(job, first);
  });
}

void queue_combined_rows(const CombineJob& job, int first, std::int64_t row_length, double* rows,
                         FloatType type, cudaStream_t stream) {
  with_type(type, [&](auto element) {
    using T = decltype(element);
    combine_rows<T>
        <<<dim3(blocks(std::min(job.nodes, first + kBlock), 256), kBlock), 256, 0, stream>>>(
            job, first, row_length, rows);
  });
}

}  // namespace synergraph::cuda

#include "synergraph/device/cuda/large_kernels.h"

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <set>

#include "synergraph/device/cuda/device_memory.h"
#include "synergraph/device/cuda/entries.cuh"
#include "synergraph/device/cuda/launch.cuh"
#include "synergraph/device/cuda/tiles.cuh"
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

constexpr int kGatherRows = 32;  // of a tile in shared memory
constexpr double kTie =
    peak_rules::kRounding;  // maxima closer than this are one: see FidelityTracker
constexpr int kSolveThreads = 256;

// Sums of rows and columns.

/// A sum and what its roundings lost.
struct PreciseSum {
  double sum = 0.0;
  double rest = 0.0;

  __device__ void add(double x) {
    const double next = sum + x;
    const double part = next - sum;
    rest += (sum - (next - part)) + (x - part);
    sum = next;
  }
  __device__ void add(const PreciseSum& other) {
    add(other.sum);
    rest += other.rest;
  }
};

/// 1 less the sum of a row, rounded once: a small part is missing to full precision. Lanes have
/// every 32nd entry.
template <class T>
__device__ double missing_from(const T* row, int begin, int i) {
  PreciseSum part;
  for (int j = -begin + static_cast<int>(threadIdx.x) % 32; j <= i; j += 32) {
    const double x = number(row[j]);
    if (j >= 0 || (x >= 0.0 && x < 2.0)) part.add(x);
  }
  for (int step = 16; step > 0; step /= 2) {
    const PreciseSum other{__shfl_xor_sync(~0U, part.sum, step),
                           __shfl_xor_sync(~0U, part.rest, step)};
    // The same order on both sides.
    if ((threadIdx.x & static_cast<unsigned>(step)) == 0) {
      part.add(other);
    } else {
      PreciseSum first = other;
      first.add(part);
      part = first;
    }
  }
  PreciseSum left{1.0, 0.0};
  left.add({-part.sum, -part.rest});
  return fmax(0.0, left.sum + left.rest);
}

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
  const double missing = job.sums.missing == nullptr ? 0.0 : missing_from(row, job.begin, i);
  if (lane != 0) return;
  const double own = number(row[i]);
  bad |= !(own >= 0.0 && own <= 1e300);
  job.sums.whole[i] = before + (down + own);
  down += missing;
  const double kept = job.as_given ? 1.0 : down + own;
  job.sums.scale[i] = 1.0 / kept;
  job.sums.down[i] = down;
  job.sums.diagonal[i] = own / kept;
  if (job.sums.missing != nullptr) job.sums.missing[i] = missing / kept;
  if (bad) atomicAdd(job.sums.bad_rows, 1);
  const bool is_first = i == 0 && job.sums.missing == nullptr;
  if (!is_first && !(down > 0.0)) atomicAdd(job.sums.rows_that_keep_all, 1);
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

/// A thread a column: where the published walk cuts it. `partial` has the sums of chunks of rows.
template <class T>
__global__ void cut_columns(const SumsJob* jobs, int chunks, int first, int last,
                            const double* partial) {
  const SumsJob& job = jobs[blockIdx.y];
  const int j = first + static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (job.cut.cut == nullptr || j >= job.nodes || j >= last) return;
  const double own = job.sums.diagonal[j];
  const double rest = job.sums.down[j] * scale_of(job.entries, j);
  // Of a node that keeps most, what is left below one is the rest, to full precision.
  const bool slow = own > 0.5 && fabs(rest + own - 1.0) <= 1e-12;
  const double whole = slow ? rest : 1.0;
  double reached = slow ? 0.0 : own;
  double leave = 0.0;
  int chunk = (j + 1) / kChunk;
  for (; chunk < chunks; ++chunk) {
    const double sum =
        partial[(static_cast<std::int64_t>(blockIdx.y) * chunks + chunk) * (last - first) + j -
                first];
    if (!(reached + sum < whole)) break;
    reached += sum;
    leave += sum;
  }
  int i = chunk < chunks ? max(chunk * kChunk, j + 1) : job.nodes;
  double part = 0.0;
  for (; i < job.nodes; ++i) {
    const double entry = number(row_of<T>(job.entries, i, first)[j]) * scale_of(job.entries, i);
    if (!(reached + entry < whole)) {
      part = whole > reached ? fmin(entry, whole - reached) : 0.0;
      break;
    }
    reached += entry;
    leave += entry;
  }
  // What is missing in the end goes to the sink.
  const double missing = i < job.nodes ? part : whole - reached;
  job.cut.cut[j] = i;
  job.cut.part[j] = part;
  job.cut.leave[j] = slow ? rest : leave + missing;
  job.cut.stay[j] = fmin(own, 1.0);
}

// A panel of steps.

/// partial[chunk][column of the strip][step] = sum over a chunk of later rows of a(i, j) x_t[i].
/// kBlock columns a block of threads.
template <class T, bool kCut>
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
        for (int e = 0; e < 4; ++e)
          entries[k][e] =
              left_of<kCut>(flow.entries, row, j0 + 16 * k + 4 * q + e, entries[k][e] * scale);
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
  // The largest state at the steps first .. last, and the first that reaches it to rounding.
  const auto find_peak = [&](int last, double* peak, int* place) {
    const int first = j == flow.nodes - 1 ? flow.first : 0;
    double most = last == kSteps ? after[node] : 0.0;
    for (int t = q; t < kSteps; t += 4)
      if (t >= first && t <= last) most = fmax(most, x[t]);
    most = fmax(most, __shfl_xor_sync(~0U, most, 1));
    most = fmax(most, __shfl_xor_sync(~0U, most, 2));
    const double tie = most * (1.0 - kTie);
    int found = last;
    for (int t = q; t < kSteps; t += 4)
      if (t >= first && x[t] >= tie) found = min(found, t);
    found = min(found, __shfl_xor_sync(~0U, found, 1));
    found = min(found, __shfl_xor_sync(~0U, found, 2));
    if (q == 0 && j < flow.nodes) {
      peak[j] = most;
      place[j] = found;
    }
  };
  if (flow.peak != nullptr) find_peak(kSteps, flow.peak, flow.place);
  if (flow.limited_peak != nullptr) find_peak(flow.last, flow.limited_peak, flow.limited_place);
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
template <class T, bool kCut>
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
        tile[r * kPitch + j - j0 + e] =
            i > j + e && i < flow.nodes ? left_of<kCut>(flow.entries, i, j + e, entries[e] * scale)
                                        : 0.0;
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

/// A chunk of rows: partial[chunk][step] = sum of what its states give to the node for missing
/// mass.
__global__ __launch_bounds__(kSolveThreads) void gather_missing(const PanelFlow* flows) {
  __shared__ double parts[kSolveThreads / kSteps][kSteps];
  const PanelFlow& flow = flows[blockIdx.y];
  if (flow.missing == nullptr) return;
  const int begin = static_cast<int>(blockIdx.x) * kChunk;
  const int end = min(begin + kChunk, flow.nodes);
  const int t = static_cast<int>(threadIdx.x) % kSteps;
  const int group = static_cast<int>(threadIdx.x) / kSteps;
  double sum = 0.0;
  for (int i = begin + group; i < end; i += kSolveThreads / kSteps)
    sum += flow.missing[i] * flow.states[static_cast<std::int64_t>(i) * kSteps + t];
  parts[group][t] = sum;
  __syncthreads();
  if (group != 0) return;
  for (int other = 1; other < kSolveThreads / kSteps; ++other) sum += parts[other][t];
  flow.partial[static_cast<std::int64_t>(blockIdx.x) * kSteps + t] = sum;
}

__global__ __launch_bounds__(kSteps) void finish_missing(const PanelFlow* flows, int chunks) {
  const PanelFlow& flow = flows[blockIdx.x];
  if (flow.missing == nullptr) return;
  double sum = 0.0;
  for (int chunk = 0; chunk < chunks; ++chunk) sum += flow.partial[chunk * kSteps + threadIdx.x];
  flow.missing_flow[threadIdx.x] = sum;
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

template <class T, bool kCut>
void prepare_panels() {
  require(cudaFuncSetAttribute(gather_panel<T, kCut>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(kGatherBytes)),
          "shared memory of large systems");
  require(cudaFuncSetAttribute(solve_panel<T, kCut>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(kSolveBytes)),
          "shared memory of large systems");
}

template <class T, bool kCut>
void queue_panel(const PanelFlow* flows, int count, int nodes, int first, cudaStream_t stream) {
  const auto flow_count = static_cast<unsigned>(count);
  const int later = nodes - (first + kStrip);
  if (later > 0)
    gather_panel<T, kCut>
        <<<dim3(kStrip / kBlock, blocks(later, kChunk), flow_count), 128, kGatherBytes, stream>>>(
            flows, first);
  solve_panel<T, kCut><<<flow_count, kSolveThreads, kSolveBytes, stream>>>(flows, first);
}

}  // namespace

void prepare_large_kernels() {
  static std::mutex mutex;
  static std::set<int> prepared;
  int device = 0;
  require(cudaGetDevice(&device), "choice of the device");
  const std::lock_guard lock(mutex);
  if (prepared.contains(device)) return;
  for (const FloatType type :
       {FloatType::kFloat16, FloatType::kBFloat16, FloatType::kFloat32, FloatType::kFloat64})
    with_type(type, [](auto element) {
      prepare_panels<decltype(element), false>();
      prepare_panels<decltype(element), true>();
    });
  prepared.insert(device);
}

void queue_sums(const SumsJob* jobs, int count, int nodes, FloatType type, bool cut,
                double* partial, cudaStream_t stream) {
  with_type(type, [&](auto element) {
    using T = decltype(element);
    sum_rows<T><<<dim3(blocks(nodes, 4), static_cast<unsigned>(count)), 128, 0, stream>>>(jobs);
  });
  queue_column_sums(jobs, count, nodes, -1, type, cut, partial, stream);
}

void queue_column_sums(const SumsJob* jobs, int count, int nodes, int first, FloatType type,
                       bool cut, double* partial, cudaStream_t stream) {
  const int begin = first < 0 ? 0 : first;
  const int last = first < 0 ? nodes : std::min(nodes, first + kStrip);
  const auto z = static_cast<unsigned>(count);
  with_type(type, [&](auto element) {
    using T = decltype(element);
    sum_columns<T><<<dim3(blocks(last - begin, 128), blocks(nodes, kChunk), z), 128, 0, stream>>>(
        jobs, begin, last, partial);
  });
  const dim3 columns(blocks(last - begin, 128), z);
  finish_columns<<<columns, 128, 0, stream>>>(jobs, chunks_of(nodes), begin, last, partial);
  if (!cut) return;
  with_type(type, [&](auto element) {
    using T = decltype(element);
    cut_columns<T><<<columns, 128, 0, stream>>>(jobs, chunks_of(nodes), begin, last, partial);
  });
}

void queue_panel_strip(const PanelFlow* flows, int count, int nodes, int first, FloatType type,
                       bool cut, cudaStream_t stream) {
  with_type(type, [&](auto element) {
    using T = decltype(element);
    if (cut)
      queue_panel<T, true>(flows, count, nodes, first, stream);
    else
      queue_panel<T, false>(flows, count, nodes, first, stream);
  });
}

void queue_missing(const PanelFlow* flows, int count, int nodes, cudaStream_t stream) {
  const int chunks = chunks_of(nodes);
  const auto flow_count = static_cast<unsigned>(count);
  gather_missing<<<dim3(static_cast<unsigned>(chunks), flow_count), kSolveThreads, 0, stream>>>(
      flows);
  finish_missing<<<flow_count, kSteps, 0, stream>>>(flows, chunks);
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

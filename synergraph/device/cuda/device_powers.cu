#include "synergraph/device/cuda/device_powers.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "synergraph/device/cuda/entries.cuh"
#include "synergraph/device/cuda/launch.cuh"
#include "synergraph/device/cuda/tiles.cuh"

// Powers of a lower triangular matrix in double precision. Tiles of kBlock x kBlock entries lie one
// after the other, by rows of tiles; what is above the diagonal of a tile, or behind the matrix, is
// zero. A square is a matrix product on FP64 tensor cores that skips what is zero. A product with a
// vector reads a power once, which memory limits.

namespace synergraph::cuda {
namespace {

constexpr int kTile = kBlock * kBlock;
constexpr int kThreads = 256;
constexpr int kDepth = 32;  // of a product in shared memory at a time

__host__ __device__ std::int64_t tile_at(int row, int column) {
  return (std::int64_t{row} * (row + 1) / 2 + column) * kTile;
}

std::int64_t tiles_of(int blocks) {
  return tile_at(blocks, 0) / kTile;
}

__device__ std::int64_t entry_at(int i, int j) {
  return tile_at(i / kBlock, j / kBlock) + i % kBlock * kBlock + j % kBlock;
}

/// What fill_strip() and fill_missing() must know of the matrix.
struct Filling {
  int nodes;
  int extra;
  bool of_walk;
  const double* factor;
  const double* stay;
  const double* missing;
  double missing_factor;
  double* tiles;
};

/// Columns first .. first + kStrip - 1, a block of threads a row.
template <class T>
__global__ __launch_bounds__(kStrip) void fill_strip(Filling to, Entries entries, int first) {
  const int i = first + static_cast<int>(blockIdx.x);
  const int j = first + static_cast<int>(threadIdx.x);
  if (i >= to.nodes || j > i) return;
  const int sink = to.nodes - 1;
  double entry = 0.0;
  if (i == j) {
    const bool keeps_all = to.of_walk ? i == sink : i == 0 && to.extra == 0;
    entry = keeps_all ? 1.0 : to.stay[i];
  } else {
    entry = number(row_of<T>(entries, i, first)[j]) * scale_of(entries, i);
    if (to.factor != nullptr) entry *= to.factor[j];
  }
  to.tiles[entry_at(i + to.extra, j + to.extra)] = entry;
}

/// The column of the node for missing mass.
__global__ void fill_missing(Filling to, double stay) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i > to.nodes) return;
  to.tiles[entry_at(i, 0)] = i == 0 ? stay : to.missing[i - 1] * to.missing_factor;
}

/// A tile of the square: the sum over tiles k of a(row, k) a(k, column). Long sums first.
__global__ __launch_bounds__(128) void square_tiles(const double* from, double* to, int count) {
  extern __shared__ double shared[];
  // Tiles in the order of their distance from the diagonal, the farthest first.
  int place = static_cast<int>(blockIdx.x);
  int distance = count - 1;
  while (place >= count - distance) {
    place -= count - distance;
    --distance;
  }
  const int row = place + distance;
  const int column = place;
  double* left = shared;                     // [kBlock][kPitch], kDepth of each row in use
  double* right = shared + kBlock * kPitch;  // [kDepth][kPitch]
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int m0 = 32 * (warp % 2);
  const int n0 = 32 * (warp / 2);
  double sums[2][4][4] = {};
  double2 ahead_left[8];
  double2 ahead_right[8];
  const int steps = 2 * (row - column + 1);
  const auto fetch = [&](int step) {
    const int k = column + step / 2;
    const int half = step % 2 * kDepth;
    const double* a = from + tile_at(row, k);
    const double* b = from + tile_at(k, column);
#pragma unroll
    for (int e = 0; e < 8; ++e) {
      const int at = static_cast<int>(threadIdx.x) + e * 128;  // pairs
      ahead_left[e] = *reinterpret_cast<const double2*>(a + at / 16 * kBlock + half + at % 16 * 2);
      ahead_right[e] = *reinterpret_cast<const double2*>(b + half * kBlock + at * 2);
    }
  };
  fetch(0);
  for (int step = 0; step < steps; ++step) {
    __syncthreads();
#pragma unroll
    for (int e = 0; e < 8; ++e) {
      const int at = static_cast<int>(threadIdx.x) + e * 128;
      *reinterpret_cast<double2*>(left + at / 16 * kPitch + at % 16 * 2) = ahead_left[e];
      *reinterpret_cast<double2*>(right + at / 32 * kPitch + at % 32 * 2) = ahead_right[e];
    }
    __syncthreads();
    if (step + 1 < steps) fetch(step + 1);
    multiply_tiles<true>(sums, left, right, kDepth, m0, n0);
  }
  double* tile = to + tile_at(row, column);
  visit_product(sums, m0, n0, [&](int m, int n, double sum) {
    tile[m * kBlock + n] = row == column && n > m ? 0.0 : sum;
  });
}

constexpr std::size_t kSquareBytes = (kBlock + kDepth) * kPitch * sizeof(double);

/// The sums of a line of tiles without the diagonal, in a fixed order, in `sums`: of the columns of
/// column `block` of tiles, or of the rows of row `block`.
__device__ void sum_forward(const double* tiles, int block, int count, bool by_columns,
                            double (&sums)[kBlock]) {
  __shared__ double parts[4][kBlock];
  const int node = static_cast<int>(threadIdx.x) % kBlock;
  const int group = static_cast<int>(threadIdx.x) / kBlock;
  double sum = 0.0;
  for (int other = by_columns ? block : 0; other < (by_columns ? count : block + 1); ++other) {
    const double* tile = tiles + (by_columns ? tile_at(other, block) : tile_at(block, other));
    for (int k = group; k < kBlock; k += 4) {
      if (other == block && k == node) continue;
      sum += by_columns ? tile[k * kBlock + node] : tile[node * kBlock + k];
    }
  }
  parts[group][node] = sum;
  __syncthreads();
  if (group == 0)
    sums[node] = (parts[0][node] + parts[1][node]) + (parts[2][node] + parts[3][node]);
  __syncthreads();
}

/// What the square keeps of itself is the complement of g (2 - g), and what it passes on is scaled
/// to that: see finish_squared_rows() of core/kernels.
__global__ __launch_bounds__(kThreads) void finish_square(const double* before, const double* leave,
                                                          double* tiles, double* leaves, int count,
                                                          bool by_columns) {
  __shared__ double sums[kBlock];
  __shared__ double scale[kBlock];
  const int block = static_cast<int>(blockIdx.x);
  sum_forward(tiles, block, count, by_columns, sums);
  const int node = static_cast<int>(threadIdx.x);
  if (node < kBlock) {
    const int at = block * kBlock + node;
    const double left = leave[at] * (2.0 - leave[at]);
    leaves[at] = left;
    scale[node] = sums[node] > 0.0 ? left / sums[node] : 1.0;
    const std::int64_t own = tile_at(block, block) + node * kBlock + node;
    tiles[own] = left <= 0.5 && before[own] > 0.0 ? 1.0 - left : before[own] * before[own];
  }
  __syncthreads();
  for (int other = by_columns ? block : 0; other < (by_columns ? count : block + 1); ++other) {
    double* tile = tiles + (by_columns ? tile_at(other, block) : tile_at(block, other));
    for (int k = static_cast<int>(threadIdx.x); k < kTile; k += kThreads) {
      const int i = k / kBlock;
      const int j = k % kBlock;
      if (other != block || i != j) tile[k] *= scale[by_columns ? j : i];
    }
  }
}

/// out[i] = sum over j of m(i, j) in[j], or out[j] = sum over i of m(i, j) in[i]: a block of
/// threads a line of tiles. `forward`: without the diagonal.
__global__ __launch_bounds__(kThreads) void multiply_vector(const double* tiles, int count,
                                                            bool by_columns, bool forward,
                                                            const double* in, double* out) {
  __shared__ double parts[4][kBlock];
  const int block = static_cast<int>(blockIdx.x);
  const int thread = static_cast<int>(threadIdx.x);
  double sum = 0.0;
  if (by_columns) {
    const int node = thread % kBlock;
    const int group = thread / kBlock;
    for (int other = block; other < count; ++other) {
      const double* tile = tiles + tile_at(other, block);
#pragma unroll 4
      for (int k = group; k < kBlock; k += 4)
        if (!(forward && other == block && k == node))
          sum += tile[k * kBlock + node] * in[other * kBlock + k];
    }
    parts[group][node] = sum;
    __syncthreads();
    if (group == 0)
      out[block * kBlock + node] =
          (parts[0][node] + parts[1][node]) + (parts[2][node] + parts[3][node]);
    return;
  }
  const int node = thread / 4;
  const int quarter = thread % 4;
  for (int other = 0; other <= block; ++other) {
    const double* row = tiles + tile_at(block, other) + node * kBlock;
#pragma unroll 4
    for (int k = quarter; k < kBlock; k += 4)
      if (!(forward && other == block && k == node)) sum += row[k] * in[other * kBlock + k];
  }
  sum += __shfl_xor_sync(~0U, sum, 1);
  sum += __shfl_xor_sync(~0U, sum, 2);
  if (quarter == 0) out[block * kBlock + node] = sum;
}

}  // namespace

DevicePowers::DevicePowers(PowersPlan plan, cudaStream_t stream)
    : plan_(std::move(plan)), stream_(stream), blocks_((nodes() + kBlock - 1) / kBlock) {
  const auto length = static_cast<std::size_t>(blocks_) * kBlock;
  vectors_.reserve(2 * length);
  host_.reserve(2 * length);
  newest_ = make_power();
  kept_[0] = newest_;
  spare_.push_back(make_power());
  spare_.push_back(make_power());
  std::size_t free = 0;
  std::size_t total = 0;
  require(cudaMemGetInfo(&free, &total), "memory of the GPU");
  const std::size_t bytes = newest_->tiles.size() * sizeof(double);
  capacity_ = std::clamp<std::size_t>(free / 2 / bytes, 1, 2000);
  require(cudaMemsetAsync(newest_->tiles.data(), 0, bytes, stream_), "memory of the GPU");
  std::fill_n(host_.data(), length, 0.0);
  std::copy(plan_.leave.begin(), plan_.leave.end(), host_.data());
  newest_->leave.upload(host_.data(), length, stream_);
  leave_ = plan_.leave;
  if (!plan_.of_walk) std::reverse(leave_.begin(), leave_.end());
  if (plan_.extra == 1) {
    const Filling filling{plan_.nodes, plan_.extra,   plan_.of_walk,        plan_.factor,
                          plan_.stay,  plan_.missing, plan_.missing_factor, newest_->tiles.data()};
    fill_missing<<<blocks(nodes(), kThreads), kThreads, 0, stream_>>>(filling,
                                                                      1.0 - plan_.leave.front());
  }
  require(cudaFuncSetAttribute(square_tiles, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(kSquareBytes)),
          "shared memory of powers");
  require(cudaStreamSynchronize(stream_), "powers of attention");
}

DevicePowers::~DevicePowers() = default;

void DevicePowers::take_strip(const Entries& entries, int first, FloatType type) {
  const Filling filling{plan_.nodes, plan_.extra,   plan_.of_walk,        plan_.factor,
                        plan_.stay,  plan_.missing, plan_.missing_factor, newest_->tiles.data()};
  with_type(type, [&](auto element) {
    using T = decltype(element);
    fill_strip<T><<<static_cast<unsigned>(plan_.nodes - first), kStrip, 0, stream_>>>(
        filling, entries, first);
  });
}

DevicePowers::Shared DevicePowers::make_power() {
  if (!spare_.empty()) {
    Shared power = std::move(spare_.back());
    spare_.pop_back();
    return power;
  }
  auto power = std::make_shared<Power>();
  power->tiles = DeviceMemory<double>(static_cast<std::size_t>(tiles_of(blocks_)) * kTile);
  power->leave = DeviceMemory<double>(static_cast<std::size_t>(blocks_) * kBlock);
  return power;
}

/// Keeps the memory of a power that nobody needs any more.
void DevicePowers::give_back(Shared& power) {
  if (power.use_count() == 1) spare_.push_back(std::move(power));
  power.reset();
}

const DevicePowers::Power& DevicePowers::at(int level) const {
  const auto found = kept_.find(level);
  return found != kept_.end() ? *found->second : *newest_;
}

void DevicePowers::square() {
  Shared next = make_power();
  square_tiles<<<static_cast<unsigned>(tiles_of(blocks_)), 128, kSquareBytes, stream_>>>(
      newest_->tiles.data(), next->tiles.data(), blocks_);
  finish_square<<<static_cast<unsigned>(blocks_), kThreads, 0, stream_>>>(
      newest_->tiles.data(), newest_->leave.data(), next->tiles.data(), next->leave.data(), blocks_,
      plan_.of_walk);
  require(cudaGetLastError(), "powers of attention");
  require(cudaStreamSynchronize(stream_), "powers of attention");
  std::swap(newest_, next);
  give_back(next);
  first_rows_.erase(++level_);
}

void DevicePowers::load(int level) {
  Shared before = std::exchange(newest_, kept_.at(level));
  give_back(before);
  level_ = level;
}

void DevicePowers::drop(int level) {
  const auto found = kept_.find(level);
  if (found == kept_.end()) return;
  Shared power = std::move(found->second);
  kept_.erase(found);
  give_back(power);
}

void DevicePowers::apply(const Power& power, bool by_columns, bool forward, bool reversed,
                         const double* in, int count, double* out) const {
  const auto length = static_cast<std::size_t>(blocks_) * kBlock;
  const int n = nodes();
  double* const staged = host_.data();
  std::fill_n(staged, length, 0.0);
  for (int k = 0; k < count; ++k) staged[reversed ? n - 1 - k : k] = in[k];
  double* const from = vectors_.data();
  double* const to = from + length;
  vectors_.upload(staged, length, stream_);
  multiply_vector<<<static_cast<unsigned>(blocks_), kThreads, 0, stream_>>>(
      power.tiles.data(), blocks_, by_columns, forward, from, to);
  require(cudaMemcpyAsync(staged + length, to, length * sizeof(double), cudaMemcpyDeviceToHost,
                          stream_),
          "copy from the device");
  require(cudaStreamSynchronize(stream_), "powers of attention");
  for (int k = 0; k < count; ++k)
    out[k] = staged[length + static_cast<std::size_t>(reversed ? n - 1 - k : k)];
}

// Of a walk, P x is a product with columns of the matrix. Of a signal, whose nodes are reversed, it
// is one with rows, and x P one with columns.

void DevicePowers::multiply(int level, const double* in, double* out) {
  apply(at(level), plan_.of_walk, false, !plan_.of_walk, in, nodes(), out);
}

std::vector<double> DevicePowers::survival() const {
  std::vector<double> ones(static_cast<std::size_t>(nodes()), 1.0);
  ones.back() = 0.0;
  std::vector<double> result(ones.size());
  apply(*newest_, plan_.of_walk, false, !plan_.of_walk, ones.data(), nodes(), result.data());
  return result;
}

std::vector<double> DevicePowers::arrival() const {
  std::vector<double> sink(static_cast<std::size_t>(nodes()), 0.0);
  sink.back() = 1.0;
  std::vector<double> result(sink.size());
  apply(*newest_, plan_.of_walk, false, !plan_.of_walk, sink.data(), nodes(), result.data());
  return result;
}

const double* DevicePowers::first_row(int level) {
  auto& row = first_rows_[level];
  if (row.empty()) {
    std::vector<double> first(static_cast<std::size_t>(nodes()), 0.0);
    first.front() = 1.0;
    row.resize(first.size());
    multiply_row(level, first.data(), row.data());
  }
  return row.data();
}

std::vector<double> DevicePowers::column(int level, int target) {
  std::vector<double> unit(static_cast<std::size_t>(target) + 1, 0.0);
  unit.back() = 1.0;
  std::vector<double> entries(unit.size());
  multiply_column(level, unit.data(), target + 1, entries.data());
  return entries;
}

void DevicePowers::multiply_row(int level, const double* in, double* out) {
  apply(at(level), !plan_.of_walk, false, !plan_.of_walk, in, nodes(), out);
}

void DevicePowers::multiply_column(int level, const double* in, int count, double* out) {
  apply(at(level), plan_.of_walk, false, !plan_.of_walk, in, count, out);
}

void DevicePowers::multiply_row_forward(const double* in, double* out) {
  apply(at(0), !plan_.of_walk, true, !plan_.of_walk, in, nodes(), out);
}

void DevicePowers::multiply_column_forward(const double* in, int count, double* out) {
  apply(at(0), plan_.of_walk, true, !plan_.of_walk, in, count, out);
}

}  // namespace synergraph::cuda

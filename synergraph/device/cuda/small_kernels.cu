#include "synergraph/device/cuda/small_kernels.h"

#include <algorithm>

#include "synergraph/device/cuda/block_team.cuh"
#include "synergraph/device/cuda/device_memory.h"
#include "synergraph/device/small/measure_matrix.h"
#include "synergraph/device/small/measure_subset.h"

namespace synergraph::small {
namespace {

extern __shared__ double2 shared_memory[];

__device__ BlockMemory& block_memory() {
  return *reinterpret_cast<BlockMemory*>(shared_memory);
}
__device__ double* team_memory() {
  return reinterpret_cast<double*>(reinterpret_cast<BlockMemory*>(shared_memory) + 1);
}

constexpr std::size_t shared_bytes(int nodes, bool two_matrices) {
  return sizeof(BlockMemory) +
         sizeof(double) * static_cast<std::size_t>(Memory::doubles(nodes, two_matrices));
}

/// Up to this many warps, for at most 104 nodes, kFewBlocks blocks share the registers of a
/// multiprocessor; of more warps, two do.
constexpr int kFewWarps = warps_for(104);
constexpr int kFewBlocks = 3;

template <int kWarps, int kBlocks>
__global__ __launch_bounds__(kWarps* kLanes,
                             kBlocks) void measure_jobs(const __grid_constant__ Work work,
                                                        const int* jobs) {
  BlockTeam team(block_memory());
  measure_job(team, work, jobs[blockIdx.x], team_memory(), nullptr);
}

/// Each block takes one job after the other, and has room for the powers of one.
__global__ __launch_bounds__(kMostWarps* kLanes) void square_jobs(const __grid_constant__ Work work,
                                                                  const int* jobs, int count,
                                                                  double* powers,
                                                                  std::size_t room) {
  for (int k = static_cast<int>(blockIdx.x); k < count; k += static_cast<int>(gridDim.x)) {
    BlockTeam team(block_memory());
    measure_job(team, work, jobs[k], team_memory(), powers + blockIdx.x * room);
    __syncthreads();
  }
}

/// The heads of a sequence times their weights, a block each.
__global__ __launch_bounds__(kMostWarps* kLanes) void load_heads(
    const __grid_constant__ SubsetWork work) {
  BlockTeam team(block_memory());
  const int head = static_cast<int>(blockIdx.x);
  const std::size_t entries = triangle_of(work.job.nodes);
  if (load_head(team, work.attention, work.job, head, work.weights[head],
                work.heads + head * entries))
    *work.bad = 1;
}

/// Entries of the sums of one part of the heads: a row of blocks for every subset.
__global__ void add_up_subsets(const double* heads, const double* weights, int entries, int first,
                               double* sums, double* sum_weights) {
  const unsigned subset = blockIdx.y;
  const int e = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (e == 0) sum_weights[subset] = sum_of_subset(weights, 1, first, subset);
  if (e < entries)
    sums[static_cast<std::size_t>(subset) * entries + e] =
        sum_of_subset(heads + e, entries, first, subset);
}

template <int kWarps, int kBlocks>
__global__ __launch_bounds__(kWarps* kLanes, kBlocks) void measure_subsets(
    const __grid_constant__ SubsetWork work, const __grid_constant__ SubsetSums sums) {
  __shared__ Result result;
  BlockTeam team(block_memory());
  const unsigned subset = blockIdx.x + 1;
  const SubsetFound found =
      measure_subset(team, sums, work.task, work.job, subset, result, team_memory());
  if (team.rank() == 0) work.found[subset] = found;
}

/// Shared memory that a block of the current device may have.
std::size_t most_shared_bytes() {
  int device = 0;
  int bytes = 0;
  cuda::require(cudaGetDevice(&device), "choice of the device");
  cuda::require(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
                "properties of the device");
  return static_cast<std::size_t>(bytes);
}

/// Allows a kernel as much shared memory as any launch of it asks for, on the current device.
template <class Kernel>
void allow_shared(Kernel kernel, bool two_matrices) {
  const std::size_t bytes = std::min(shared_bytes(kMostNodes, two_matrices), most_shared_bytes());
  cuda::require(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     static_cast<int>(bytes)),
                "shared memory of small systems");
}

}  // namespace

static_assert(kMostBlockWarps == kMostWarps);

int block_warps(int nodes) {
  return warps_for(nodes);
}

bool fits_device(int nodes, bool two_matrices) {
  return shared_bytes(nodes, two_matrices) <= most_shared_bytes();
}

void launch_jobs(const Work& work, const JobList& list, cudaStream_t stream) {
  if (list.count == 0) return;
  const auto launch = [&](auto kernel) {
    allow_shared(kernel, list.two_matrices);
    kernel<<<static_cast<unsigned>(list.count), static_cast<unsigned>(list.warps * kLanes),
             shared_bytes(list.most_nodes, list.two_matrices), stream>>>(work, list.jobs);
  };
  if (list.warps <= kFewWarps)
    launch(measure_jobs<kFewWarps, kFewBlocks>);
  else
    launch(measure_jobs<kMostWarps, 2>);
  cuda::require(cudaGetLastError(), "small systems");
}

std::size_t room_for(int nodes) {
  return static_cast<std::size_t>(kMostPowers) * static_cast<std::size_t>(triangle_of(nodes));
}

void launch_squares(const Work& work, const JobList& list, const PowerRoom& room,
                    cudaStream_t stream) {
  if (list.count == 0) return;
  allow_shared(square_jobs, true);
  const int blocks = list.count < room.blocks ? list.count : room.blocks;
  square_jobs<<<static_cast<unsigned>(blocks), static_cast<unsigned>(list.warps * kLanes),
                shared_bytes(list.most_nodes, true), stream>>>(
      work, list.jobs, list.count, room.powers, room_for(list.most_nodes));
  cuda::require(cudaGetLastError(), "squares of small systems");
}

void launch_subsets(const SubsetWork& work, cudaStream_t stream) {
  constexpr unsigned kThreads = 256;
  const SubsetSplit split(work.attention.heads);
  const int entries = triangle_of(work.job.nodes);
  const auto threads = static_cast<unsigned>(warps_for(work.job.nodes) * kLanes);
  const std::size_t bytes = shared_bytes(work.job.nodes, false);
  cuda::require(cudaMemsetAsync(work.bad, 0, sizeof(int), stream), "subsets of heads");
  load_heads<<<static_cast<unsigned>(work.attention.heads), threads, sizeof(BlockMemory), stream>>>(
      work);
  const unsigned blocks = (static_cast<unsigned>(entries) + kThreads - 1) / kThreads;
  const auto add_up = [&](int first, std::size_t subsets, double* sums, double* weights) {
    add_up_subsets<<<dim3(blocks, static_cast<unsigned>(subsets)), kThreads, 0, stream>>>(
        work.heads, work.weights, entries, first, sums, weights);
  };
  add_up(0, split.low_subsets(), work.low, work.low_weight);
  add_up(split.low_heads, split.high_subsets(), work.high, work.high_weight);
  const SubsetSums sums{work.low, work.high, work.low_weight, work.high_weight, split.low_heads};
  const auto launch = [&](auto kernel) {
    allow_shared(kernel, false);
    kernel<<<(1U << static_cast<unsigned>(work.attention.heads)) - 1U, threads, bytes, stream>>>(
        work, sums);
  };
  if (warps_for(work.job.nodes) <= kFewWarps)
    launch(measure_subsets<kFewWarps, kFewBlocks>);
  else
    launch(measure_subsets<kMostWarps, 2>);
  cuda::require(cudaGetLastError(), "subsets of heads");
}

}  // namespace synergraph::small

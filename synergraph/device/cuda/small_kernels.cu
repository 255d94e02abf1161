#include "synergraph/device/cuda/small_kernels.h"

#include "synergraph/device/cuda/block_team.cuh"
#include "synergraph/device/cuda/device_memory.h"
#include "synergraph/device/small/measure_matrix.h"

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

// Three blocks of seven warps, for 97 to 104 nodes, fill the registers of a multiprocessor.
__global__ __launch_bounds__(kMostWarps* kLanes, 2) void measure_jobs(const __grid_constant__ Work work, const int* jobs) {
  BlockTeam team(block_memory());
  measure_job(team, work, jobs[blockIdx.x], team_memory());
}

/// Allows a kernel as much shared memory as any launch of it asks for, on the current device.
template <class Kernel>
void allow_shared(Kernel kernel, std::size_t bytes) {
  cuda::require(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     static_cast<int>(bytes)),
                "shared memory of small systems");
}

}  // namespace

static_assert(kMostBlockWarps == kMostWarps);

int block_warps(int nodes) {
  return warps_for(nodes);
}

void launch_jobs(const Work& work, const JobList& list, cudaStream_t stream) {
  if (list.count == 0) return;
  const std::size_t bytes = shared_bytes(list.most_nodes, list.two_matrices);
  allow_shared(measure_jobs, shared_bytes(kMostNodes, list.two_matrices));
  measure_jobs<<<static_cast<unsigned>(list.count), static_cast<unsigned>(list.warps * kLanes),
                 bytes, stream>>>(work, list.jobs);
  cuda::require(cudaGetLastError(), "small systems");
}

}  // namespace synergraph::small

#pragma once

#include <cuda_runtime_api.h>

#include "synergraph/device/small/layout.h"

namespace synergraph::small {

/// Warps of a block that measures matrices of `nodes` nodes, 1 to kMostBlockWarps.
int block_warps(int nodes);
inline constexpr int kMostBlockWarps = 10;

/// Jobs that are measured by blocks of one size.
struct JobList {
  const int* jobs = nullptr;  ///< their places in Work::jobs, on the device
  int count = 0;
  int warps = 0;              ///< block_warps() of each of them
  int most_nodes = 0;         ///< of any of them
  bool two_matrices = false;  ///< of WalkOf::kHeadWalks
};

/// Measures jobs, a block of threads each. All that `work` points to is on the device.
void launch_jobs(const Work& work, const JobList& list, cudaStream_t stream);

}  // namespace synergraph::small

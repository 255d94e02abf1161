#pragma once

#include <cuda_runtime_api.h>

#include "synergraph/device/small/layout.h"

namespace synergraph::small {

/// Warps of a block that measures matrices of `nodes` nodes, 1 to kMostBlockWarps.
int block_warps(int nodes);
inline constexpr int kMostBlockWarps = 9;

/// Whether a block of the current device has the shared memory for matrices of `nodes` nodes.
bool fits_device(int nodes, bool two_matrices);

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

/// Room for the powers of slow walks.
struct PowerRoom {
  double* powers = nullptr;  ///< `blocks` times room_for(most nodes of the list)
  int blocks = 0;            ///< that work side by side
};
/// Doubles that a block needs for the powers of matrices of `nodes` nodes.
std::size_t room_for(int nodes);

/// Finds T_mix of slow walks by squaring, for jobs that were measured before.
void launch_squares(const Work& work, const JobList& list, const PowerRoom& room,
                    cudaStream_t stream);

/// What the subsets of the heads of one sequence need, all on the device.
struct SubsetWork {
  Attention attention;
  Task task;
  Job job;
  const double* weights = nullptr;  ///< of the heads
  double* heads = nullptr;          ///< diffusion times weight, packed, one after the other
  double* low = nullptr;            ///< see SubsetSums
  double* high = nullptr;
  double* low_weight = nullptr;
  double* high_weight = nullptr;
  int* bad = nullptr;            ///< 1 if the attention is refused
  SubsetFound* found = nullptr;  ///< of every subset
};

/// Measures all subsets but the empty one.
void launch_subsets(const SubsetWork& work, cudaStream_t stream);

}  // namespace synergraph::small

#pragma once

#include <cuda_runtime_api.h>

#include <vector>

#include "synergraph/device/cuda/device_memory.h"
#include "synergraph/device/cuda/event.h"
#include "synergraph/device/cuda/pinned_memory.h"
#include "synergraph/device/cuda/small_kernels.h"
#include "synergraph/device/small/runner.h"

namespace synergraph::small {

/// Measures attention in the memory of the current device, in a stream. Its memory grows to what
/// the largest run needs and serves the next one.
class DeviceRunner : public Runner {
 public:
  explicit DeviceRunner(cudaStream_t stream) : stream_(stream) {}

  /// How long the kernels of all calls took since the last start_clock().
  double kernel_seconds() const { return kernel_seconds_; }
  void start_clock() { kernel_seconds_ = 0.0; }

  std::span<const Result> run(const Attention& attention, std::span<const Task> tasks,
                              std::span<const Job> jobs, std::span<const double> weights) override;
  std::span<const SubsetFound> run_subsets(const Attention& attention, const Task& task,
                                           const Job& job,
                                           std::span<const double> weights) override;

 private:
  template <class Wanted>
  void sort(std::span<const Task> tasks, std::span<const Job> jobs, Wanted wanted);
  void download(std::size_t jobs);
  PowerRoom room_of(const JobList& list);
  template <class T>
  void upload(std::span<const T> from, cuda::PinnedMemory<T>& staged, cuda::DeviceMemory<T>& to);

  cudaStream_t stream_;
  cuda::Event begin_;
  cuda::Event end_;
  double kernel_seconds_ = 0.0;
  cuda::DeviceMemory<Task> tasks_;
  cuda::DeviceMemory<Job> jobs_;
  cuda::DeviceMemory<double> weights_;
  cuda::DeviceMemory<int> order_;
  cuda::DeviceMemory<Result> results_;
  cuda::DeviceMemory<double> powers_;  // of slow walks
  cuda::PinnedMemory<Task> staged_tasks_;
  cuda::PinnedMemory<Job> staged_jobs_;
  cuda::PinnedMemory<double> staged_weights_;
  cuda::PinnedMemory<int> staged_order_;
  cuda::PinnedMemory<Result> found_;
  cuda::DeviceMemory<double> sums_;  // of subsets
  cuda::DeviceMemory<int> bad_;
  cuda::DeviceMemory<SubsetFound> subsets_;
  cuda::PinnedMemory<int> found_bad_;
  cuda::PinnedMemory<SubsetFound> found_subsets_;
  std::vector<JobList> lists_;  // in the order of their launches; `jobs` are places in order_
  std::vector<int> sorted_;
};

}  // namespace synergraph::small

#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <vector>

#include "synergraph/device/cuda/device_memory.h"
#include "synergraph/device/cuda/small_runner.h"
#include "synergraph/device/small/measure_batch.h"
#include "synergraph/device/small/subset_table.h"

namespace synergraph::cuda {

/// Measures sequences of at most small::kMostNodes tokens on the current device, in a stream, and
/// on the CPU what the device leaves undecided. Attention is in the memory of the device or of the
/// host; each function gives what its namesake of the CPU gives, with the same errors.
class SmallSystems {
 public:
  explicit SmallSystems(cudaStream_t stream) : stream_(stream), runner_(stream) {}

  BatchMetrics measure(const AttentionView& attention, std::span<const double> weights,
                       const BatchOptions& options);
  SubsetValues subset_values(const AttentionView& attention, std::int64_t sample,
                             std::span<const double> weights, const SubsetOptions& options);
  /// How long the kernels of the last call took.
  double kernel_seconds() const { return runner_.kernel_seconds(); }

 private:
  /// Calls use(view on the device, how to fetch a head). `sample`: of this one alone; negative: of
  /// all.
  template <class Use>
  auto with_reached(const AttentionView& attention, std::int64_t sample, Use use);

  cudaStream_t stream_;
  small::DeviceRunner runner_;
  DeviceMemory<std::byte> uploaded_;
  std::vector<std::byte> packed_;
};

}  // namespace synergraph::cuda

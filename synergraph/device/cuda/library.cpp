// The library that programs load when a GPU is asked for.

#include <cuda_runtime_api.h>
#include <fmt/core.h>

#include <memory>
#include <mutex>

#include "synergraph/core/error.h"
#include "synergraph/device/cuda/cuda_metrics.h"
#include "synergraph/device/cuda/cuda_trouble.h"
#include "synergraph/device/cuda/current_device.h"
#include "synergraph/device/cuda_library.h"

namespace synergraph::cuda {
namespace {

/// The oldest GPU that the kernels are compiled for.
constexpr int kLeastCapability = 8;

/// Knows the devices and their memory, and hands measurements on.
class LoadedCuda final : public MetricsBackend {
 public:
  std::string describe(int device) const override {
    int count = 0;
    if (const std::string why = device_trouble(count); !why.empty()) throw InputError(why);
    if (device >= count)
      throw InputError(fmt::format("this machine has {} GPU{}", count, count == 1 ? "" : "s"));
    int capability = 0;
    require(cudaDeviceGetAttribute(&capability, cudaDevAttrComputeCapabilityMajor, device),
            "properties of the device");
    if (capability < kLeastCapability)
      throw InputError(fmt::format("{} is too old: compute capability {}.0 is needed",
                                   device_name_of(device), kLeastCapability));
    return fmt::format("cuda ({})", device_name_of(device));
  }

  int count() const override {
    int count = 0;
    return device_trouble(count).empty() ? count : 0;
  }

  std::string refusal(const AttentionView& attention, const BatchOptions& options) const override {
    return metrics().refusal(attention, options);
  }
  std::string refusal(const QueryKeyView& attention, const BatchOptions& options) const override {
    return metrics().refusal(attention, options);
  }
  BatchMetrics measure(const AttentionView& attention, std::span<const double> weights,
                       const BatchOptions& options, const DevicePlace& place) override {
    return metrics().measure(attention, weights, options, place);
  }
  BatchMetrics measure(const QueryKeyView& attention, std::span<const double> weights,
                       const BatchOptions& options, const DevicePlace& place) override {
    return metrics().measure(attention, weights, options, place);
  }

  std::optional<std::vector<HeadsMetrics>> measure(HeadSource& heads,
                                                   const std::vector<double>& weights,
                                                   const MeasureOptions& options,
                                                   const DevicePlace& place) override {
    return metrics().measure(heads, weights, options, place);
  }

  std::string refusal(const AttentionView& attention, const SubsetOptions& options) const override {
    return metrics().refusal(attention, options);
  }
  SubsetValues subset_values(const AttentionView& attention, std::int64_t sample,
                             std::span<const double> weights, const SubsetOptions& options,
                             const DevicePlace& place) override {
    return metrics().subset_values(attention, sample, weights, options, place);
  }

  void* allocate(std::size_t bytes, const DevicePlace& place) override {
    const CurrentDevice current(place.device);
    void* memory = nullptr;
    require_memory(cudaMalloc(&memory, bytes), bytes, "memory of the GPU");
    return memory;
  }

  void release(void* memory, const DevicePlace& place) noexcept override try {
    const CurrentDevice current(place.device);
    if (cudaFree(memory) != cudaSuccess) cudaGetLastError();
  } catch (const InputError&) {
  }

  void copy(void* to, const void* from, std::size_t bytes, const DevicePlace& place) override {
    const CurrentDevice current(place.device);
    auto* stream = static_cast<cudaStream_t>(place.stream);
    require(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream), "copy of memory");
    require(cudaStreamSynchronize(stream), "copy of memory");
  }

 private:
  MetricsBackend& metrics() const {
    std::call_once(made_, [this] { metrics_ = make_cuda_metrics(); });
    return *metrics_;
  }

  mutable std::once_flag made_;
  mutable std::unique_ptr<MetricsBackend> metrics_;
};

/// Never destroyed: the driver may be gone when the process ends.
LoadedCuda& loaded() {
  static auto* const backend = new LoadedCuda;
  return *backend;
}

}  // namespace
}  // namespace synergraph::cuda

SYNERGRAPH_CUDA_LIBRARY(synergraph::cuda::loaded())

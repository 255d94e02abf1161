#include "synergraph/train/cuda/cuda_devices.h"

#include <cuda_runtime_api.h>
#include <fmt/core.h>

#include "synergraph/device/cuda/cuda_trouble.h"
#include "synergraph/device/cuda/current_device.h"
#include "synergraph/train/cuda/engine.h"
#include "synergraph/train/cuda/layout.h"

namespace synergraph {

std::string cuda_trouble(int index) try {
  int count = 0;
  std::string why = cuda::device_trouble(count);
  if (!why.empty()) return why;
  if (index >= count) return fmt::format("this machine has {} GPU{}", count, count == 1 ? "" : "s");
  const auto attribute = [&](cudaDeviceAttr which) {
    int value = 0;
    cuda::require(cudaDeviceGetAttribute(&value, which, index), "properties of the device");
    return value;
  };
  if (attribute(cudaDevAttrComputeCapabilityMajor) < 8)
    return fmt::format("{} is too old: compute capability 8.0 is needed", cuda_name(index));
  if (attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin) < cuda::kSharedBytes)
    return fmt::format("{} is too small: {} KiB of shared memory a block are needed",
                       cuda_name(index), cuda::kSharedBytes >> 10U);
  return "";
} catch (const InputError& error) {
  return error.what();
}

std::string start_cuda(int index) try {
  cuda::require(cudaInitDevice(index, cudaDeviceScheduleBlockingSync, cudaInitDeviceFlagsAreValid),
                "start of the GPU");
  const cuda::CurrentDevice current(index);
  return cuda::kernel_trouble();
} catch (const InputError& error) {
  return error.what();
}

std::uint64_t cuda_free_bytes(int index) try {
  const cuda::CurrentDevice current(index);
  std::size_t free = 0;
  std::size_t all = 0;
  cuda::require(cudaMemGetInfo(&free, &all), "free memory");
  return free;
} catch (const InputError&) {
  return 0;
}

int cuda_count() {
  int count = 0;
  return cuda::device_trouble(count).empty() ? count : 0;
}

std::string cuda_name(int index) {
  return cuda::device_name_of(index);
}

std::vector<std::string> cuda_devices() {
  int count = 0;
  const std::string why = cuda::device_trouble(count);
  if (!why.empty()) return {"cuda: " + why};
  std::vector<std::string> devices;
  for (int index = 0; index < count; ++index)
    devices.push_back(fmt::format("cuda:{} {}", index, cuda_name(index)));
  return devices;
}

}  // namespace synergraph

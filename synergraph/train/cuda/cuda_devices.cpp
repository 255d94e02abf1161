#include "synergraph/train/cuda/cuda_devices.h"

#include <cuda_runtime_api.h>
#include <fmt/core.h>

#include "synergraph/device/cuda/current_device.h"
#include "synergraph/train/cuda/engine.h"
#include "synergraph/train/cuda/layout.h"

namespace synergraph {
namespace {

/// "13.0" for 13000.
std::string version_text(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

/// Why there is no GPU to be used; empty: there are `count`.
std::string trouble(int& count) {
  const cudaError_t result = cudaGetDeviceCount(&count);
  if (result != cudaSuccess) cudaGetLastError();
  int driver = 0;
  if (result == cudaErrorInsufficientDriver && cudaDriverGetVersion(&driver) == cudaSuccess) {
    if (driver == 0) return "no NVIDIA driver on this machine";
    return fmt::format("the driver is too old: it supports CUDA {}, this program needs {}",
                       version_text(driver), version_text(CUDART_VERSION));
  }
  if (result == cudaErrorNoDevice || (result == cudaSuccess && count == 0))
    return "no GPU on this machine";
  return result == cudaSuccess ? "" : cudaGetErrorString(result);
}

}  // namespace

std::string cuda_trouble(int index) try {
  int count = 0;
  std::string why = trouble(count);
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
  return trouble(count).empty() ? count : 0;
}

std::string cuda_name(int index) {
  cudaDeviceProp properties{};
  cuda::require(cudaGetDeviceProperties(&properties, index), "properties of the device");
  return fmt::format("{}, sm_{}{}", properties.name, properties.major, properties.minor);
}

std::vector<std::string> cuda_devices() {
  int count = 0;
  const std::string why = trouble(count);
  if (!why.empty()) return {"cuda: " + why};
  std::vector<std::string> devices;
  for (int index = 0; index < count; ++index)
    devices.push_back(fmt::format("cuda:{} {}", index, cuda_name(index)));
  return devices;
}

}  // namespace synergraph

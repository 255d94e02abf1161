#include "synergraph/device/cuda/cuda_trouble.h"

#include <cuda_runtime_api.h>
#include <fmt/core.h>

#include <map>
#include <mutex>
#include <string>

#include "synergraph/device/cuda/device_memory.h"

namespace synergraph::cuda {
namespace {

/// "13.0" for 13000.
std::string version_text(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

}  // namespace

std::string device_trouble(int& count) {
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

std::string device_name_of(int index) {
  // All properties together take longer to ask for than thousands of small matrices to measure.
  static std::mutex mutex;
  static std::map<int, std::string> names;
  const std::lock_guard lock(mutex);
  std::string& name = names[index];
  if (name.empty()) {
    cudaDeviceProp properties{};
    require(cudaGetDeviceProperties(&properties, index), "properties of the device");
    name = fmt::format("{}, sm_{}{}", properties.name, properties.major, properties.minor);
  }
  return name;
}

}  // namespace synergraph::cuda

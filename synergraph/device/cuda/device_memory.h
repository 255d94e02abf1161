#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <string>
#include <utility>

#include "synergraph/core/error.h"
#include "synergraph/device/device_full.h"

namespace synergraph::cuda {

/// The line that says what was tried and what came of it. The runtime forgets the error, which the
/// thread's next call would report again otherwise, unless it is one that stays.
inline std::string error_text(cudaError_t result, const char* what) {
  cudaGetLastError();
  return std::string("CUDA: ") + what + ": " + cudaGetErrorString(result);
}

/// InputError, naming what was tried, unless it worked.
inline void require(cudaError_t result, const char* what) {
  if (result != cudaSuccess) throw InputError(error_text(result, what));
}

/// The same of memory: DeviceFull where there is too little.
inline void require_memory(cudaError_t result, std::size_t bytes, const char* what) {
  if (result == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    throw DeviceFull(std::string("CUDA: too little ") + what +
                     " is left: " + std::to_string((bytes >> 20U) + 1) + " MiB more are needed");
  }
  require(result, what);
}

/// Whether kernels can read what lies there: the memory of a device, or managed memory.
inline bool is_on_device(const void* data) {
  cudaPointerAttributes attributes{};
  const cudaError_t result = cudaPointerGetAttributes(&attributes, data);
  if (result != cudaSuccess) cudaGetLastError();
  return result == cudaSuccess &&
         (attributes.type == cudaMemoryTypeDevice || attributes.type == cudaMemoryTypeManaged);
}

/// Memory on the device.
template <class T>
class DeviceMemory {
 public:
  DeviceMemory() = default;
  explicit DeviceMemory(std::size_t count) {
    if (count == 0) return;
    require_memory(cudaMalloc(reinterpret_cast<void**>(&data_), count * sizeof(T)),
                   count * sizeof(T), "memory of the GPU");
    count_ = count;
  }
  DeviceMemory(DeviceMemory&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), count_(std::exchange(other.count_, 0)) {}
  DeviceMemory& operator=(DeviceMemory&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(count_, other.count_);
    return *this;
  }
  ~DeviceMemory() { cudaFree(data_); }

  T* data() const { return data_; }
  std::size_t size() const { return count_; }
  /// Room for at least `count`; what was there is lost when there was less.
  void reserve(std::size_t count) {
    if (count <= count_) return;
    *this = DeviceMemory();
    *this = DeviceMemory(count);
  }
  void upload(const T* from, std::size_t count, cudaStream_t stream) {
    require(cudaMemcpyAsync(data_, from, count * sizeof(T), cudaMemcpyHostToDevice, stream),
            "copy to the device");
  }
  void download(T* to, std::size_t count, cudaStream_t stream) const {
    require(cudaMemcpyAsync(to, data_, count * sizeof(T), cudaMemcpyDeviceToHost, stream),
            "copy from the device");
  }

 private:
  T* data_ = nullptr;
  std::size_t count_ = 0;
};

}  // namespace synergraph::cuda

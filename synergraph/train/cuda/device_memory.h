#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <string>
#include <utility>

#include "synergraph/core/error.h"

namespace synergraph::cuda {

/// InputError, naming what was tried, unless it worked.
inline void require(cudaError_t result, const char* what) {
  if (result != cudaSuccess)
    throw InputError(std::string("CUDA: ") + what + ": " + cudaGetErrorString(result));
}

/// Memory on the device.
template <class T>
class DeviceMemory {
 public:
  DeviceMemory() = default;
  explicit DeviceMemory(std::size_t count) : count_(count) {
    if (count == 0) return;
    const cudaError_t result = cudaMalloc(reinterpret_cast<void**>(&data_), count * sizeof(T));
    if (result == cudaErrorMemoryAllocation)
      throw InputError("CUDA: the GPU has too little memory left: " +
                       std::to_string(count * sizeof(T) >> 20U) + " MiB more are needed");
    require(result, "device memory");
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

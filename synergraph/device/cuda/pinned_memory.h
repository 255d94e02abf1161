#pragma once

#include "synergraph/device/cuda/device_memory.h"

namespace synergraph::cuda {

/// Memory of the host that the device reads and writes itself.
template <class T>
class PinnedMemory {
 public:
  PinnedMemory() = default;
  PinnedMemory(const PinnedMemory&) = delete;
  PinnedMemory& operator=(const PinnedMemory&) = delete;
  ~PinnedMemory() { cudaFreeHost(data_); }

  T* data() const { return data_; }
  /// Room for at least `count`; what was there is lost when there was less.
  void reserve(std::size_t count) {
    if (count <= count_) return;
    cudaFreeHost(std::exchange(data_, nullptr));
    count_ = 0;
    require_memory(cudaMallocHost(reinterpret_cast<void**>(&data_), count * sizeof(T)),
                   count * sizeof(T), "pinned memory");
    count_ = count;
  }

 private:
  T* data_ = nullptr;
  std::size_t count_ = 0;
};

}  // namespace synergraph::cuda

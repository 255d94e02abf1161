#pragma once

#include <cstddef>

#include "synergraph/device/backend.h"

namespace synergraph {

/// Memory of a device, released with this object.
class DeviceBuffer {
 public:
  DeviceBuffer(MetricsBackend& backend, std::size_t bytes, const DevicePlace& place)
      : backend_(backend), place_(place), data_(backend.allocate(bytes, place)) {}
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;
  ~DeviceBuffer() { backend_.release(data_, place_); }

  void* data() const { return data_; }
  void upload(const void* from, std::size_t bytes) { backend_.copy(data_, from, bytes, place_); }

 private:
  MetricsBackend& backend_;
  DevicePlace place_;
  void* data_;
};

/// Queries and keys of some samples, copied from the memory of the CPU to that of a device.
class ScoresOnDevice {
 public:
  /// Samples first to first + count - 1 of `scores` are the samples of the copy.
  ScoresOnDevice(MetricsBackend& backend, const QueryKeyView& scores, std::int64_t first,
                 std::int64_t count, const DevicePlace& place);

  const QueryKeyView& view() const { return view_; }

 private:
  QueryKeyView view_;
  DeviceBuffer queries_;
  DeviceBuffer keys_;
  DeviceBuffer logits_;
};

}  // namespace synergraph

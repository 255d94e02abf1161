#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "synergraph/device/backend.h"

namespace synergraph {

/// What measures attention: the CPU, or devices of one kind.
struct MeasuringDevice {
  MetricsBackend* backend = nullptr;  ///< null: the CPU
  std::vector<int> indices = {};      ///< the devices to use
  /// Was chosen by "auto": what a device cannot do is left to the CPU without a word.
  bool automatic = false;

  bool is_cpu() const { return backend == nullptr; }
};

/// Returns the backend that loads at the first call. InputError where it cannot be used.
using LoadBackend = MetricsBackend& (*)();

/// Work that takes less than this on one core of a CPU, in seconds, stays on the CPU with "auto":
/// the start of a GPU takes about as long.
inline constexpr double kAutomaticSeconds = 4.0;

/// Returns the device of that name. "auto" is a GPU if there is one that can be used and the work
/// takes long enough on the CPU (`seconds`, on one core); otherwise the CPU. If the name gives no
/// number, `number` modulo the number of GPUs chooses the GPU. UsageError for another name, and
/// InputError, in one line, for a GPU that cannot be used.
MeasuringDevice choose_measuring_device(std::string_view name, double seconds, int number = 0,
                                        LoadBackend load = cuda_backend);

/// A device as settings name it.
struct DeviceRequest {
  std::string name;
  bool optional = false;  ///< what it cannot do, or where it cannot be used, is left to the CPU
  int worker = 0;         ///< see `number` above
};

MeasuringDevice choose_measuring_device(const DeviceRequest& request, double seconds);

}  // namespace synergraph

#pragma once

#include <atomic>
#include <mutex>
#include <optional>
#include <span>

#include "synergraph/device/measure_on_device.h"
#include "synergraph/subsets/subset_values.h"

namespace synergraph {

/// Measures all subsets of the heads of systems on a device. Any number of threads may call.
class SubsetsOnDevice {
 public:
  explicit SubsetsOnDevice(MeasuringDevice device) : device_(std::move(device)) {}

  /// Gives what subset_values() of subsets/subset_values.h gives. What the device refuses is
  /// measured on the CPU.
  SubsetValues values(HeadSource& heads, std::span<const double> weights,
                      const SubsetOptions& options);

  /// See MeasuredOn::text().
  std::string measured_on() const;

 private:
  void count(std::optional<int> device);

  MeasuringDevice device_;
  std::atomic<std::size_t> next_{0};
  mutable std::mutex counting_;
  MeasuredOn counted_;
};

}  // namespace synergraph

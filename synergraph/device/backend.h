#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "synergraph/core/error.h"
#include "synergraph/heads/attention_view.h"
#include "synergraph/heads/device_view.h"
#include "synergraph/heads/measure_systems.h"
#include "synergraph/subsets/subset_values.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// Measures attention where it lies, on a device. Each function gives what measure() of
/// heads/measure_systems.h gives for the same probabilities, with the same errors. What the device
/// leaves undecided is decided on the CPU.
class MetricsBackend {
 public:
  MetricsBackend() = default;
  MetricsBackend(const MetricsBackend&) = delete;
  MetricsBackend& operator=(const MetricsBackend&) = delete;
  virtual ~MetricsBackend() = default;

  /// The device for a record: "cuda (NVIDIA H200, sm_90)". InputError where it cannot be used.
  virtual std::string describe(int device) const = 0;

  /// Number of devices that can be used, 0 where there are none.
  virtual int count() const { return 1; }

  /// Why a request is not measured on this device; empty: it is. Edges other than attention,
  /// for example, are for the CPU.
  virtual std::string refusal(const AttentionView& attention,
                              const BatchOptions& options) const = 0;

  /// `attention.data` is in the memory of the device, or in that of the CPU.
  virtual BatchMetrics measure(const AttentionView& attention, std::span<const double> weights,
                               const BatchOptions& options, const DevicePlace& place) = 0;

  /// Queries, keys and sink logits are in the memory of the device.
  virtual BatchMetrics measure(const QueryKeyView& attention, std::span<const double> weights,
                               const BatchOptions& options, const DevicePlace& place) = 0;

  /// Why queries and keys are not measured on this device; empty: they are.
  virtual std::string refusal(const QueryKeyView& /*attention*/,
                              const BatchOptions& /*options*/) const {
    return {};
  }

  /// Heads in the CPU's memory, which may have walks of their own, as graphs have: gives what
  /// measure() of heads/measure.h gives, or nothing where the device does not decide it.
  virtual std::optional<std::vector<HeadsMetrics>> measure(HeadSource& /*heads*/,
                                                           const std::vector<double>& /*weights*/,
                                                           const MeasureOptions& /*options*/,
                                                           const DevicePlace& /*place*/) {
    return std::nullopt;
  }

  /// All subsets of the heads of a sample: gives what subset_values() of subsets/subset_values.h
  /// gives.
  virtual SubsetValues subset_values(const AttentionView& attention, std::int64_t sample,
                                     std::span<const double> weights, const SubsetOptions& options,
                                     const DevicePlace& /*place*/) {
    return synergraph::subset_values(attention, sample, weights, options);
  }

  /// Why subsets are not measured on this device; empty: they are.
  virtual std::string refusal(const AttentionView& /*attention*/,
                              const SubsetOptions& /*options*/) const {
    return "subsets of heads";
  }

  /// Memory of the device. InputError, in one line, where there is too little.
  virtual void* allocate(std::size_t /*bytes*/, const DevicePlace& /*place*/) {
    throw InputError("this device gives no memory");
  }
  virtual void release(void* /*memory*/, const DevicePlace& /*place*/) noexcept {}
  /// Copies between the memories of the device and of the CPU, in any direction, after what is
  /// queued in the stream. The copy is finished when the call returns.
  virtual void copy(void* /*to*/, const void* /*from*/, std::size_t /*bytes*/,
                    const DevicePlace& /*place*/) {
    throw InputError("this device copies no memory");
  }
};

/// The backend for NVIDIA's GPUs: a library of its own, loaded at the first call. InputError in one
/// line where it cannot be loaded or used: not installed, no driver, a driver that is too old.
MetricsBackend& cuda_backend();

}  // namespace synergraph
#pragma GCC visibility pop

#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "synergraph/device/measuring_device.h"
#include "synergraph/heads/measure_systems.h"

namespace synergraph {

/// What measured the systems of a source.
struct MeasuredOn {
  std::uint64_t on_device = 0;  ///< systems
  std::uint64_t on_cpu = 0;
  std::set<int> devices = {};  ///< that measured

  /// For a record: "cuda (NVIDIA H200, sm_90), float64", and how many systems the CPU measured
  /// instead. Empty: the CPU measured all.
  std::string text(const MeasuringDevice& device) const;
};

/// Does what measure_systems() does, on a device. Whole batches of systems go to the device:
/// arrays and queries and keys as they lie, other systems after they were read, on all threads, as
/// many as a part of the memory holds. What the device refuses is measured on the CPU.
MeasuredOn measure_systems_on(
    const MeasuringDevice& device, AttentionSource& source, const std::vector<SampleRange>& samples,
    const SystemWeights& weights, const MeasureOptions& options,
    const std::function<void(int layer, int sample, std::vector<HeadsMetrics> by_convention)>&
        keep);

/// Measures heads in memory by one convention on a device, or on the CPU what it does not decide.
/// `measured_on`: see MeasuredOn::text().
HeadsMetrics measure_heads_on(const MeasuringDevice& device, const std::vector<Head>& heads,
                              const std::vector<double>& weights, const MetricsOptions& options,
                              const Execution& execution, std::string& measured_on);

/// Seconds that one core of a CPU takes to measure a system, roughly.
double cpu_seconds(const AttentionLayer& layer);

}  // namespace synergraph

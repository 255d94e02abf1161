#pragma once

#include <optional>
#include <vector>

#include "synergraph/device/cuda/large_operators.h"
#include "synergraph/heads/measure_systems.h"

namespace synergraph::cuda {

/// Measures one system of large heads under all conventions. Nothing where the device does not
/// decide a number that is asked for, or where the attention is not good: the CPU then measures the
/// system, or says what is wrong.
std::optional<std::vector<HeadsMetrics>> measure_large(const LargeHeads& heads,
                                                       const BatchOptions& options,
                                                       double row_tolerance,
                                                       LargeWorkspace& workspace,
                                                       cudaStream_t stream);

/// Why measure_large() decides no system under these options; empty: it does.
std::string large_refusal(const BatchOptions& options);

}  // namespace synergraph::cuda

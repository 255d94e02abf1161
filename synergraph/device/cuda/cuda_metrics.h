#pragma once

#include <memory>

#include "synergraph/device/backend.h"

namespace synergraph::cuda {

/// Measures on NVIDIA's GPUs.
std::unique_ptr<MetricsBackend> make_cuda_metrics();

}  // namespace synergraph::cuda

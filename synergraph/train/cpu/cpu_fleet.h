#pragma once

#include <memory>

#include "synergraph/core/execution.h"
#include "synergraph/train/fleet.h"

namespace synergraph {

/// The fleet on the CPU: members side by side, as many as there are threads; with fewer members
/// the threads share a member's batch.
std::unique_ptr<Fleet> make_cpu_fleet(const FleetSettings& settings, const Execution& execution);

}  // namespace synergraph

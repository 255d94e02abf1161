#pragma once

#include <memory>

#include "synergraph/core/execution.h"
#include "synergraph/train/device.h"
#include "synergraph/train/fleet.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// An empty fleet. Its results do not depend on the execution.
std::unique_ptr<Fleet> make_fleet(Device device, const FleetSettings& settings,
                                  const Execution& execution);

}  // namespace synergraph
#pragma GCC visibility pop

#pragma once

#include <memory>
#include <string>

#include "synergraph/train/device.h"
#include "synergraph/train/fleet.h"

namespace synergraph {

/// Why the GPU cannot train such models, as "length 200, more than 104"; empty: it can.
std::string cuda_refusal(const Device& device, const FleetSettings& settings);

/// An empty fleet on the GPU. InputError when the GPU cannot be used.
std::unique_ptr<Fleet> make_cuda_fleet(const Device& device, const FleetSettings& settings);

}  // namespace synergraph

#pragma once

#include <memory>
#include <string>

#include "synergraph/train/device.h"
#include "synergraph/train/fleet.h"

namespace synergraph {

/// Why the GPU cannot train such models, as "length 200, more than 104"; empty: it can. The GPU is
/// started then.
std::string cuda_shape_refusal(const Device& device, const FleetSettings& settings);
/// The same, or why there is not memory enough for one, with so many sequences of its own.
std::string cuda_refusal(const Device& device, const FleetSettings& settings, int sequences);

/// How many such models the GPU, which can train them, has memory for now.
int cuda_room(const Device& device, const FleetSettings& settings, int sequences);

/// An empty fleet on the GPU. InputError when the GPU cannot be used. What follows throws
/// DeviceFull where memory does not do.
std::unique_ptr<Fleet> make_cuda_fleet(const Device& device, const FleetSettings& settings);

}  // namespace synergraph

#pragma once

#include <memory>
#include <string>

#include "synergraph/train/fleet.h"

namespace synergraph {

/// Why a GPU cannot train such models, as "length 200, more than 104"; empty: it can.
std::string cuda_refusal(const FleetSettings& settings);

/// The GPU for a record: "NVIDIA H200, sm_90, tf32".
std::string cuda_description();

/// An empty fleet on the GPU. InputError when the GPU cannot be used.
std::unique_ptr<Fleet> make_cuda_fleet(const FleetSettings& settings);

}  // namespace synergraph

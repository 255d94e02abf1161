#pragma once

#include <memory>

#include "synergraph/core/execution.h"
#include "synergraph/train/device.h"
#include "synergraph/train/fleet.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// An empty fleet. Its results do not depend on the execution.
std::unique_ptr<Fleet> make_fleet(const Device& device, const FleetSettings& settings,
                                  const Execution& execution);

/// Why the device cannot train such a model here, one with so many sequences of its own; empty: it
/// can.
std::string refusal(const Device& device, const FleetSettings& settings, int sequences = 0);

/// How many such models the device, which can train them, has memory for at once, as far as can be
/// known: of the CPU's it is not asked.
int fleet_room(const Device& device, const FleetSettings& settings, int sequences);

inline constexpr std::string_view kAutomatic = "auto";
/// The device of that name, for models of these shapes, each with so many sequences; with
/// kAutomatic a GPU if it can train them all, one at a time at least, else the CPU. Where the name
/// does not say which GPU it is the one of this number, counted round. UsageError for another name,
/// InputError when the device cannot.
Device choose_device(std::string_view name, Precision precision,
                     std::span<const FleetSettings> shapes, int number = 0, int sequences = 0);

}  // namespace synergraph
#pragma GCC visibility pop

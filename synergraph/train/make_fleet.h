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

/// Why the device cannot train such models here; empty: it can.
std::string refusal(const Device& device, const FleetSettings& settings);

inline constexpr std::string_view kAutomatic = "auto";
/// The device of that name, for models of these shapes; with kAutomatic a GPU if it can train them
/// all, else the CPU. Where the name does not say which GPU it is the one of this number, counted
/// round. UsageError for another name, InputError when the device cannot.
Device choose_device(std::string_view name, Precision precision,
                     std::span<const FleetSettings> shapes, int number = 0);

}  // namespace synergraph
#pragma GCC visibility pop

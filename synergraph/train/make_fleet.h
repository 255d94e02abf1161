#pragma once

#include <memory>

#include "synergraph/core/execution.h"
#include "synergraph/device/device_name.h"
#include "synergraph/train/device.h"
#include "synergraph/train/fleet.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// An empty fleet. Its results do not depend on the execution.
std::unique_ptr<Fleet> make_fleet(const Device& device, const FleetSettings& settings,
                                  const Execution& execution);

/// Returns why the device cannot train such a model with this number of sequences. An empty text
/// means that the device can.
std::string refusal(const Device& device, const FleetSettings& settings, int sequences = 0);

/// Estimates how many such models fit into the device's memory at once. The device must be able to
/// train such models. The function does not query the memory of the CPU.
int fleet_room(const Device& device, const FleetSettings& settings, int sequences);

/// Returns the device of that name, for models of these shapes with this number of sequences each.
/// kAutomatic chooses a GPU if the GPU can train all models, at least one at a time, and otherwise
/// the CPU. If the name gives no GPU index, `number` modulo the number of GPUs chooses the GPU.
/// Throws UsageError for another name, and InputError if the device cannot train the models.
Device choose_device(std::string_view name, Precision precision,
                     std::span<const FleetSettings> shapes, int number = 0, int sequences = 0);

}  // namespace synergraph
#pragma GCC visibility pop

#include "synergraph/train/make_fleet.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "synergraph/core/error.h"
#include "synergraph/core/setting.h"
#include "synergraph/train/cpu/cpu_fleet.h"
#include "synergraph/train/cuda/cuda_devices.h"
#include "synergraph/train/cuda/cuda_fleet.h"

namespace synergraph {
namespace {

[[noreturn]] void refuse_promotion(const std::string& device) {
  throw UsageError(fmt::format("{}: {} trains on the CPU only; give {} cpu", device,
                               option_mark("promote"), option_mark("device")));
}

}  // namespace

std::unique_ptr<Fleet> make_fleet(const Device& device, const FleetSettings& settings,
                                  const Execution& execution) {
  if (device.kind == DeviceKind::kCuda && settings.promotion.active())
    refuse_promotion(name_of(device));
  return device.kind == DeviceKind::kCuda ? make_cuda_fleet(device, settings)
                                          : make_cpu_fleet(settings, execution);
}

std::string refusal(const Device& device, const FleetSettings& settings, int sequences) {
  return device.kind == DeviceKind::kCuda ? cuda_refusal(device, settings, sequences) : "";
}

int fleet_room(const Device& device, const FleetSettings& settings, int sequences) {
  return device.kind == DeviceKind::kCuda ? cuda_room(device, settings, sequences)
                                          : std::numeric_limits<int>::max();
}

Device choose_device(std::string_view name, Precision precision,
                     std::span<const FleetSettings> shapes, int number, int sequences) {
  const bool automatic = name == kAutomatic;
  Device device = automatic ? Device{DeviceKind::kCuda} : parse_device(name);
  if (number > 0 && (automatic || name == name_of(DeviceKind::kCuda)))
    device.index = number % std::max(1, cuda_count());
  device.precision = precision;
  for (const FleetSettings& shape : shapes) {
    validate(shape.model);
    if (device.kind == DeviceKind::kCuda && shape.promotion.active()) {
      if (automatic) return {};
      refuse_promotion(std::string(name));
    }
    const std::string why = refusal(device, shape, sequences);
    if (why.empty()) continue;
    if (automatic) return {};
    throw InputError(fmt::format("{}: {}", name, why));
  }
  return device;
}

}  // namespace synergraph

#include "synergraph/train/make_fleet.h"

#include <fmt/core.h>

#include "synergraph/core/error.h"
#include "synergraph/train/cpu/cpu_fleet.h"
#include "synergraph/train/cuda/cuda_fleet.h"

namespace synergraph {

std::unique_ptr<Fleet> make_fleet(const Device& device, const FleetSettings& settings,
                                  const Execution& execution) {
  return device.kind == DeviceKind::kCuda ? make_cuda_fleet(device, settings)
                                          : make_cpu_fleet(settings, execution);
}

std::string refusal(const Device& device, const FleetSettings& settings) {
  return device.kind == DeviceKind::kCuda ? cuda_refusal(device, settings) : "";
}

Device choose_device(std::string_view name, Precision precision,
                     std::span<const FleetSettings> shapes) {
  const bool automatic = name == kAutomatic;
  Device device = automatic ? Device{DeviceKind::kCuda} : parse_device(name);
  device.precision = precision;
  for (const FleetSettings& shape : shapes) {
    const std::string why = refusal(device, shape);
    if (why.empty()) continue;
    if (automatic) return {};
    throw InputError(fmt::format("{}: {}", name, why));
  }
  return device;
}

}  // namespace synergraph

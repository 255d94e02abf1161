#include "synergraph/train/make_fleet.h"

#include <fmt/core.h>

#include "synergraph/core/error.h"
#include "synergraph/train/cpu/cpu_fleet.h"
#include "synergraph/train/cuda/cuda_fleet.h"

namespace synergraph {

std::unique_ptr<Fleet> make_fleet(Device device, const FleetSettings& settings,
                                  const Execution& execution) {
  switch (device) {
    case Device::kCpu:
      return make_cpu_fleet(settings, execution);
    case Device::kCuda:
      return make_cuda_fleet(settings);
  }
  throw UsageError("no such device");
}

std::string refusal(Device device, const FleetSettings& settings) {
  return device == Device::kCuda ? cuda_refusal(settings) : "";
}

Device choose_device(std::string_view name, std::span<const FleetSettings> shapes) {
  const bool automatic = name == kAutomatic;
  const Device device = automatic ? Device::kCuda : parse_device(name);
  for (const FleetSettings& shape : shapes) {
    const std::string why = refusal(device, shape);
    if (why.empty()) continue;
    if (automatic) return Device::kCpu;
    throw InputError(fmt::format("{}: {}", name, why));
  }
  return device;
}

}  // namespace synergraph

#include "synergraph/train/device.h"

#include <fmt/core.h>

#include <optional>

#include "synergraph/core/error.h"
#include "synergraph/core/instruction_set.h"
#include "synergraph/core/terminal.h"
#include "synergraph/device/device_name.h"
#include "synergraph/train/cuda/cuda_devices.h"

namespace synergraph {

std::string name_of(const Device& device) {
  const std::string kind(name_of(device.kind));
  return device.index == 0 ? kind : fmt::format("{}:{}", kind, device.index);
}

Device parse_device(std::string_view name) {
  const std::optional<DeviceName> parsed = parse_device_name(name);
  if (!parsed || parsed->automatic || parsed->all)
    throw UsageError(fmt::format("unknown device {}: expected auto, cpu, cuda, cuda:1, ...",
                                 quoted_text(std::string(name))));
  if (!parsed->gpu) return {};
  return {DeviceKind::kCuda, parsed->index.value_or(0)};
}

std::string describe(const Device& device) {
  if (device.kind == DeviceKind::kCpu) return fmt::format("cpu ({})", instruction_set());
  return fmt::format("cuda ({}, {})", cuda_name(device.index), name_of(device.precision));
}

std::vector<std::string> describe_gpus() {
  return cuda_devices();
}

}  // namespace synergraph

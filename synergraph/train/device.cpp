#include "synergraph/train/device.h"

#include <fmt/core.h>

#include "synergraph/core/error.h"
#include "synergraph/core/instruction_set.h"
#include "synergraph/core/parse_number.h"
#include "synergraph/core/terminal.h"
#include "synergraph/train/cuda/cuda_devices.h"

namespace synergraph {

std::string name_of(const Device& device) {
  const std::string kind(name_of(device.kind));
  return device.index == 0 ? kind : fmt::format("{}:{}", kind, device.index);
}

Device parse_device(std::string_view name) {
  const std::size_t colon = name.find(':');
  if (const auto kind = parse_name<DeviceKind>(name.substr(0, colon))) {
    if (colon == std::string_view::npos) return {*kind};
    int index = 0;
    if (*kind == DeviceKind::kCuda && parse_number(name.substr(colon + 1), index) && index >= 0)
      return {*kind, index};
  }
  throw UsageError(fmt::format("unknown device {}: expected auto, cpu, cuda, cuda:1, ...",
                               quoted_text(std::string(name))));
}

std::string describe(const Device& device) {
  if (device.kind == DeviceKind::kCpu) return fmt::format("cpu ({})", instruction_set());
  return fmt::format("cuda ({}, {})", cuda_name(device.index), name_of(device.precision));
}

std::vector<std::string> describe_gpus() {
  return cuda_devices();
}

}  // namespace synergraph

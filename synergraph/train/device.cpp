#include "synergraph/train/device.h"

#include <fmt/core.h>

#include <array>

#include "synergraph/core/error.h"
#include "synergraph/core/instruction_set.h"
#include "synergraph/core/terminal.h"
#include "synergraph/train/cuda/cuda_fleet.h"

namespace synergraph {
namespace {

constexpr std::array kDevices = {Device::kCpu, Device::kCuda};

}  // namespace

std::string_view name_of(Device device) {
  switch (device) {
    case Device::kCpu:
      return "cpu";
    case Device::kCuda:
      return "cuda";
  }
  return "";
}

Device parse_device(std::string_view name) {
  std::string names;
  for (const Device device : kDevices) {
    if (name_of(device) == name) return device;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", name_of(device));
  }
  throw UsageError(
      fmt::format("unknown device {}: expected one of {}", quoted_text(std::string(name)), names));
}

std::string describe(Device device) {
  return fmt::format("{} ({})", name_of(device),
                     device == Device::kCuda ? cuda_description() : instruction_set());
}

}  // namespace synergraph

#include "synergraph/device/device_name.h"

#include <fmt/core.h>

#include "synergraph/core/error.h"
#include "synergraph/core/parse_number.h"
#include "synergraph/core/terminal.h"

namespace synergraph {

std::optional<DeviceName> parse_device_name(std::string_view name) {
  constexpr std::string_view kCuda = "cuda";
  if (name == kAutomatic) return DeviceName{.automatic = true};
  if (name == "cpu") return DeviceName{};
  if (name == kCuda) return DeviceName{.gpu = true};
  if (name == "cuda:all") return DeviceName{.gpu = true, .all = true};
  int index = 0;
  if (name.substr(0, kCuda.size()) == kCuda && name.size() > kCuda.size() + 1 &&
      name[kCuda.size()] == ':' && parse_number(name.substr(kCuda.size() + 1), index) && index >= 0)
    return DeviceName{.gpu = true, .index = index};
  return std::nullopt;
}

DeviceName device_name(std::string_view name) {
  if (const auto parsed = parse_device_name(name)) return *parsed;
  throw UsageError(fmt::format("unknown device {}: expected auto, cpu, cuda, cuda:1, ..., cuda:all",
                               quoted_text(std::string(name))));
}

}  // namespace synergraph

#pragma once

#include <optional>
#include <string>
#include <string_view>

#pragma GCC visibility push(default)
namespace synergraph {

inline constexpr std::string_view kAutomatic = "auto";

/// A device by its name: "auto", "cpu", "cuda", "cuda:1", "cuda:all".
struct DeviceName {
  bool automatic = false;
  bool gpu = false;
  std::optional<int> index = {};  ///< of the GPU, where the name says it
  bool all = false;               ///< every GPU
};

/// Parses a name; nothing if it names no device.
std::optional<DeviceName> parse_device_name(std::string_view name);

/// The same; UsageError that lists the names otherwise.
DeviceName device_name(std::string_view name);

}  // namespace synergraph
#pragma GCC visibility pop

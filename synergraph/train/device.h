#pragma once

#include <string>
#include <string_view>

#pragma GCC visibility push(default)
namespace synergraph {

/// What trains models.
enum class Device { kCpu, kCuda };

std::string_view name_of(Device device);  ///< "cpu", "cuda"
/// The device of that name; UsageError that lists the names otherwise.
Device parse_device(std::string_view name);
/// The device for a record, with what rounds its results: "cpu (x86-64-v4)",
/// "cuda (NVIDIA H200, sm_90, tf32)".
std::string describe(Device device);

}  // namespace synergraph
#pragma GCC visibility pop

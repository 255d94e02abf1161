#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "synergraph/core/names.h"
#include "synergraph/train/precision.h"

#pragma GCC visibility push(default)
namespace synergraph {

enum class DeviceKind { kCpu, kCuda };

template <>
inline constexpr NameTable<DeviceKind, 2> kNamesOf<DeviceKind>{
    {{DeviceKind::kCpu, "cpu"}, {DeviceKind::kCuda, "cuda"}}};

template <>
inline constexpr NameTable<Precision, 2> kNamesOf<Precision>{
    {{Precision::kTf32, "tf32"}, {Precision::kFloat32, "float32"}}};

/// What trains models, with all that rounds its results.
struct Device {
  DeviceKind kind = DeviceKind::kCpu;
  int index = 0;                           ///< among the GPUs
  Precision precision = Precision::kTf32;  ///< of a GPU; the CPU computes in float32

  bool operator==(const Device&) const = default;
};

std::string name_of(const Device& device);  ///< "cpu", "cuda", "cuda:1"
/// The device of that name; UsageError that lists the names otherwise.
Device parse_device(std::string_view name);
/// The device for a record, with what rounds its results: "cpu (x86-64-v4)",
/// "cuda (NVIDIA H200, sm_90, tf32)".
std::string describe(const Device& device);

/// The GPUs of this machine, "cuda:0 NVIDIA H200, sm_90", or a line that says why there is none
/// that can be used; nothing where the program was built without CUDA.
std::vector<std::string> describe_gpus();

}  // namespace synergraph
#pragma GCC visibility pop

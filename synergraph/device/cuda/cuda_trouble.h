#pragma once

#include <string>

namespace synergraph::cuda {

/// Returns why there is no GPU that can be used, as "no NVIDIA driver on this machine". An empty
/// text means that there are `count` GPUs.
std::string device_trouble(int& count);

/// "NVIDIA H200, sm_90"
std::string device_name_of(int index);

}  // namespace synergraph::cuda

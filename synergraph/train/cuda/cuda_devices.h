#pragma once

#include <string>
#include <vector>

namespace synergraph {

/// Why a GPU, by its number, cannot be used here, as "no GPU on this machine"; empty: it can.
std::string cuda_trouble(int index);

/// Readies a GPU that can be used: threads that wait for it sleep, and others measure meanwhile.
void start_cuda(int index);

/// How many GPUs there are to be used.
int cuda_count();

/// "NVIDIA H200, sm_90"
std::string cuda_name(int index);

/// See describe_gpus().
std::vector<std::string> cuda_devices();

}  // namespace synergraph

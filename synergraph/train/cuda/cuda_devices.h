#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace synergraph {

/// Why a GPU, by its number, cannot be used here, as "no GPU on this machine"; empty: it can.
std::string cuda_trouble(int index);

/// Readies a GPU that can be used: threads that wait for it sleep, and others measure meanwhile.
/// Returns why it does not take this program's work, as when another program has it for itself;
/// empty: it does.
std::string start_cuda(int index);

/// Bytes of memory that a GPU that was started has free; 0 where it does not say.
std::uint64_t cuda_free_bytes(int index);

/// How many GPUs there are to be used.
int cuda_count();

/// "NVIDIA H200, sm_90"
std::string cuda_name(int index);

/// See describe_gpus().
std::vector<std::string> cuda_devices();

}  // namespace synergraph

#pragma once

#include <cuda_runtime_api.h>

namespace synergraph::cuda {

struct GameArguments;
struct StateArguments;

/// Plays the subsets of a game of a model with heads in slots of kHead features, on so many blocks
/// of threads, each with memory of its own.
template <int kHead>
void launch_game(const GameArguments& arguments, int blocks, cudaStream_t stream);

/// Runs so many sequences from their embedding on.
template <int kHead>
void launch_states(const StateArguments& arguments, int sequences, cudaStream_t stream);

}  // namespace synergraph::cuda

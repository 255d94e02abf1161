#pragma once

#include "synergraph/device/cuda/device_memory.h"
#include "synergraph/train/cuda/game_kernel.cuh"
#include "synergraph/train/cuda/launch_game.h"

namespace synergraph::cuda {

template <class Arguments>
void launch_passes(void (*kernel)(Arguments), const Arguments& arguments, int blocks,
                   cudaStream_t stream) {
  constexpr int kBytes = Shared::kSize * static_cast<int>(sizeof(float));
  require(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes),
          "shared memory");
  kernel<<<static_cast<unsigned>(blocks), kThreads, kBytes, stream>>>(arguments);
  require(cudaGetLastError(), "passes of a game");
}

template <int kHead>
void launch_game(const GameArguments& arguments, int blocks, cudaStream_t stream) {
  launch_passes(game_kernel<kHead>, arguments, blocks, stream);
}

template <int kHead>
void launch_states(const StateArguments& arguments, int sequences, cudaStream_t stream) {
  launch_passes(state_kernel<kHead>, arguments, sequences, stream);
}

}  // namespace synergraph::cuda

#include "synergraph/train/cuda/launch_game.cuh"

namespace synergraph::cuda {

template void launch_game<4>(const GameArguments&, int, cudaStream_t);
template void launch_states<4>(const StateArguments&, int, cudaStream_t);

}  // namespace synergraph::cuda

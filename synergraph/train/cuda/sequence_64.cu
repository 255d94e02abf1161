#include "synergraph/train/cuda/launch_sequence.cuh"

template void synergraph::cuda::launch_sequence<64>(const SequenceArguments&, Precision, int,
                                                    cudaStream_t);

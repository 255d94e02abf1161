#include "synergraph/train/cuda/launch_sequence.cuh"

template void synergraph::cuda::launch_sequence<8>(const SequenceArguments&, Precision, int,
                                                   cudaStream_t);

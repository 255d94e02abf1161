#pragma once

#include <cuda_runtime_api.h>

#include "synergraph/train/cuda/layout.h"
#include "synergraph/train/precision.h"

namespace synergraph::cuda {

struct SequenceArguments;

/// Runs the pass over `sequences` sequences of models with heads in slots of kHead features.
template <int kHead>
void launch_sequence(const SequenceArguments& arguments, Precision precision, int sequences,
                     cudaStream_t stream);

}  // namespace synergraph::cuda

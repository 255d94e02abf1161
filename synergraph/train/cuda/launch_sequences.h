#pragma once

#include "synergraph/train/cuda/head_sizes.h"
#include "synergraph/train/cuda/launch_sequence.h"

namespace synergraph::cuda {

/// Runs the pass over `sequences` sequences of models whose heads lie in so many slots.
inline void launch_sequences(int slots, const SequenceArguments& arguments, Precision precision,
                             int sequences, cudaStream_t stream) {
  with_head_size(slots, [&](auto head) {
    launch_sequence<decltype(head)::value>(arguments, precision, sequences, stream);
  });
}

}  // namespace synergraph::cuda

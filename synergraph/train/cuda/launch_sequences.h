#pragma once

#include <type_traits>

#include "synergraph/train/cuda/launch_sequence.h"

namespace synergraph::cuda {

/// Runs the pass over `sequences` sequences of models whose heads lie in so many slots.
inline void launch_sequences(int slots, const SequenceArguments& arguments, Precision precision,
                             int sequences, cudaStream_t stream) {
  const auto launch = [&](auto head) {
    launch_sequence<decltype(head)::value>(arguments, precision, sequences, stream);
  };
  switch (kWidth / slots) {
    case 4:
      return launch(std::integral_constant<int, 4>());
    case 8:
      return launch(std::integral_constant<int, 8>());
    case 16:
      return launch(std::integral_constant<int, 16>());
    case 32:
      return launch(std::integral_constant<int, 32>());
    default:
      return launch(std::integral_constant<int, 64>());
  }
}

}  // namespace synergraph::cuda

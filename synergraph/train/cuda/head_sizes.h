#pragma once

#include <type_traits>

#include "synergraph/train/cuda/layout.h"

namespace synergraph::cuda {

/// Calls launch(kHead) with the features of a slot as a constant, for models whose heads lie in so
/// many slots.
template <class Launch>
void with_head_size(int slots, const Launch& launch) {
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

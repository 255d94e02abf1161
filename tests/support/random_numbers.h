#pragma once

#include <cstdint>

#include "synergraph/core/matrix.h"
#include "synergraph/core/random.h"

namespace synergraph::testing_support {

/// Uniform in [0, 1), from an offset that need not be aligned.
inline ScratchVector<double> random_numbers(std::size_t count, std::uint32_t stream) {
  RandomSequence draws(12, Purpose::kTest, stream);
  ScratchVector<double> numbers(count);
  for (double& number : numbers) number = draws.uniform();
  return numbers;
}

/// A random upper triangular matrix whose rows sum to less than one; zero below its diagonal.
inline Matrix random_upper(int size, std::uint32_t stream) {
  RandomSequence draws(13, Purpose::kTest, stream);
  Matrix upper(size, size);
  for (int i = 0; i < size; ++i)
    for (int j = i; j < size; ++j) upper(i, j) = draws.uniform() / (size - i);
  return upper;
}

}  // namespace synergraph::testing_support

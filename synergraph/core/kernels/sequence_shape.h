#pragma once

#include <cstddef>

namespace synergraph {

/// A count of positions or features, rounded up to whole vectors of eight.
inline int padded(int count) {
  return (count + 7) / 8 * 8;
}

/// A row length of at least `count` floats that is an odd number of cache lines: sixteen columns,
/// from a multiple of sixteen on, lie in one line of each row, and the lines of successive rows
/// spread over the whole first-level cache.
inline int spread(int count) {
  return (((count + 15) / 16) | 1) * 16;
}

/// Sizes that every layer of one sequence shares. Activations are feature-major: a row holds one
/// feature of all positions, so that vectors run over positions.
struct SequenceShape {
  SequenceShape(int positions, int features)
      : length(positions), columns(padded(positions)), stride(spread(positions)), width(features) {}

  int length;   ///< positions
  int columns;  ///< positions and the padding up to whole vectors
  int stride;   ///< floats from a row to the next
  int width;    ///< E

  /// Bytes of the dropout mask of all E rows, a bit for every column.
  std::ptrdiff_t mask_bytes() const { return padded(width) * (columns / std::ptrdiff_t{8}); }
};

}  // namespace synergraph

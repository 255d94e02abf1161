#pragma once

#include <cstddef>

namespace synergraph {

/// Keys that are converted to double precision, and looked at, together.
inline constexpr int kKeyTile = 64;

/// A count as an array's size or place.
inline std::size_t extent(std::ptrdiff_t count) {
  return static_cast<std::size_t>(count);
}

}  // namespace synergraph

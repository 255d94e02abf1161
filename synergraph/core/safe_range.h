#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace synergraph {

/// The smallest and the largest number that in_safe_range() accepts.
inline constexpr double kSafeLeast = 0x1.0p-500;
inline constexpr double kSafeMost = 0x1.0p500;

/// Returns true if a sum of non-negative numbers is far from overflow and underflow. The reciprocal
/// and the square of such a sum have full precision. The result is false for infinity and NaN.
constexpr bool in_safe_range(double sum) {
  // Non-negative doubles have the same order as their bits. One comparison therefore checks both
  // ends.
  constexpr auto kLeast = std::bit_cast<std::uint64_t>(kSafeLeast);
  constexpr auto kMost = std::bit_cast<std::uint64_t>(kSafeMost);
  return std::bit_cast<std::uint64_t>(sum) - kLeast <= kMost - kLeast;
}

/// Multiplies `from` by a power of two that brings the largest entry near one. The result is exact
/// except for entries 2^-1000 times smaller than the largest entry. `to` may be `from`.
inline void scale_to_safe_range(const double* from, int count, double* to) {
  const double largest = *std::max_element(from, from + count);
  const int shift = largest > 0.0 ? -std::ilogb(largest) : 0;
  std::transform(from, from + count, to, [&](double x) { return std::ldexp(x, shift); });
}

}  // namespace synergraph

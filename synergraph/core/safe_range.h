#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace synergraph {

/// The ends of the range below.
inline constexpr double kSafeLeast = 0x1.0p-500;
inline constexpr double kSafeMost = 0x1.0p500;

/// Is a sum of non-negative numbers far from overflow and underflow, so that its reciprocal and its
/// square are numbers of full precision? Infinity and NaN are not.
inline bool in_safe_range(double sum) {
  // Doubles that are not negative are ordered as their bits are: one comparison for both ends.
  constexpr auto kLeast = std::bit_cast<std::uint64_t>(kSafeLeast);
  constexpr auto kMost = std::bit_cast<std::uint64_t>(kSafeMost);
  return std::bit_cast<std::uint64_t>(sum) - kLeast <= kMost - kLeast;
}

/// to = from times a power of two that brings the largest entry near one: exact but for entries
/// 2^-1000 times smaller than that. `to` may be `from`.
inline void scale_to_safe_range(const double* from, int count, double* to) {
  const double largest = *std::max_element(from, from + count);
  const int shift = largest > 0.0 ? -std::ilogb(largest) : 0;
  std::transform(from, from + count, to, [&](double x) { return std::ldexp(x, shift); });
}

}  // namespace synergraph

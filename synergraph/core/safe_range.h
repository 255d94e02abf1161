#pragma once

#include <algorithm>
#include <cmath>

namespace synergraph {

/// Is a sum of non-negative numbers far from overflow and underflow, so that its reciprocal and its
/// square are numbers of full precision? Infinity and NaN are not.
inline bool in_safe_range(double sum) {
  return sum >= 0x1.0p-500 && sum <= 0x1.0p500;
}

/// to = from times a power of two that brings the largest entry near one: exact but for entries
/// 2^-1000 times smaller than that. `to` may be `from`.
inline void scale_to_safe_range(const double* from, int count, double* to) {
  const double largest = *std::max_element(from, from + count);
  const int shift = largest > 0.0 ? -std::ilogb(largest) : 0;
  std::transform(from, from + count, to, [&](double x) { return std::ldexp(x, shift); });
}

}  // namespace synergraph

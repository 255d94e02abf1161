#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

namespace synergraph {

/// Values that are equal on paper differ by their rounding: so much of them, at most.
inline constexpr double kTie = 1e-12;

/// Is it at least the other, or a tie?
inline bool reaches(double value, double other) {
  return value >= other - kTie * std::abs(other);
}

/// Is it more than the other, and no tie?
inline bool exceeds(double value, double other) {
  return value > other + kTie * std::abs(other);
}

/// The first of some things, at least one, whose value ties with the largest.
template <class Things, class Value>
auto first_of_largest(const Things& things, const Value& value) {
  double largest = -std::numeric_limits<double>::infinity();
  for (const auto& thing : things) largest = std::max(largest, value(thing));
  return std::find_if(things.begin(), things.end(),
                      [&](const auto& thing) { return reaches(value(thing), largest); });
}

/// Heads by falling values, the first of those that tie first.
inline std::vector<int> falling_order(std::span<const double> values) {
  std::vector<int> left(values.size());
  std::iota(left.begin(), left.end(), 0);
  std::vector<int> order;
  while (!left.empty()) {
    const auto next =
        first_of_largest(left, [&](int head) { return values[static_cast<std::size_t>(head)]; });
    order.push_back(*next);
    left.erase(next);
  }
  return order;
}

}  // namespace synergraph

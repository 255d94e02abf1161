#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

namespace synergraph {

/// The largest relative difference that counts as a tie. Rounding makes values differ that are
/// equal on paper.
inline constexpr double kTie = 1e-12;

/// Returns true if `value` is at least `other` or ties with `other`.
inline bool reaches(double value, double other) {
  return value >= other - kTie * std::abs(other);
}

/// Returns true if `value` is greater than `other` and does not tie with `other`.
inline bool exceeds(double value, double other) {
  return value > other + kTie * std::abs(other);
}

/// Returns the first thing whose value ties with the largest value. `things` must not be empty.
template <class Things, class Value>
auto first_of_largest(const Things& things, const Value& value) {
  double largest = -std::numeric_limits<double>::infinity();
  for (const auto& thing : things) largest = std::max(largest, value(thing));
  return std::find_if(things.begin(), things.end(),
                      [&](const auto& thing) { return reaches(value(thing), largest); });
}

/// Returns the heads in the order of falling values. Among tied heads, the head with the smaller
/// index comes first.
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

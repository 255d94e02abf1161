#include "synergraph/weights/policy.h"

#include <algorithm>
#include <cstdint>

#include "synergraph/core/array_math.h"
#include "synergraph/core/safe_range.h"

namespace synergraph {
namespace {

using Vector = std::vector<double>;
// A bound is met when it is met to rounding.
constexpr double kPolicyRounding = 1e-13;
// Steps of the recursion; later times are covered by what can still arrive.
constexpr std::int64_t kMostPolicySteps = 1000;

}  // namespace

double SignalBound::most() const {
  return *std::max_element(first.begin(), first.end());
}

// From the last node to the first: what is above is not needed again.
void advance_most(std::span<const ConstMatrixView> heads, int node, std::vector<double>& state,
                  Matrix& values) {
  for (int i = heads.front().rows - 1; i >= node; --i) {
    double most = 0.0;
    for (std::size_t h = 0; h < heads.size(); ++h) {
      const double value = dot(heads[h].row(i) + node, state.data() + node, i - node + 1);
      most = std::max(most, values(static_cast<int>(h), i) = value);
    }
    state[static_cast<std::size_t>(i)] = most;
  }
}

void advance_least(std::span<const ConstMatrixView> heads, int node, std::vector<double>& state) {
  for (int i = heads.front().rows - 1; i >= node; --i) {
    double least = std::numeric_limits<double>::infinity();
    for (const ConstMatrixView& head : heads)
      least = std::min(least, dot(head.row(i) + node, state.data() + node, i - node + 1));
    state[static_cast<std::size_t>(i)] = least;
  }
}

void tighten_later(int node, const std::vector<double>& state, std::vector<double>& later) {
  double largest = 0.0;
  for (auto i = static_cast<std::size_t>(node); i < state.size(); ++i) {
    largest = std::max(largest, state[i]);
    later[i] = std::min(later[i], largest);
  }
}

PassingBounds passing_bounds(std::span<const ConstMatrixView> heads, int node) {
  const int n = heads.front().rows;
  Vector most(static_cast<std::size_t>(n), 0.0);
  most[static_cast<std::size_t>(node)] = 1.0;
  Vector least = most;
  for (int i = node + 1; i < n; ++i) {
    double high = 0.0;
    double low = 1.0;
    bool leaves = false;
    for (const ConstMatrixView& head : heads) {
      const double down = total(head.row(i), i);
      if (!(down > 0.0)) continue;  // stays, until another head is chosen
      leaves = true;
      const double* row = head.row(i) + node;
      // Next to nothing leaves: anything may become of it.
      const bool safe = in_safe_range(down);
      high = std::max(high, safe ? dot(row, most.data() + node, i - node) / down : 1.0);
      low = std::min(low, safe ? dot(row, least.data() + node, i - node) / down : 0.0);
    }
    most[static_cast<std::size_t>(i)] = std::min(1.0, high);
    least[static_cast<std::size_t>(i)] = leaves ? std::min(low, high) : 0.0;
  }
  return {std::move(least), std::move(most)};
}

SignalBound signal_bound(std::span<const ConstMatrixView> heads, int node,
                         const FidelityOptions& options, double enough) {
  SignalBound bound{Vector(heads.size(), 0.0)};
  Vector signal(static_cast<std::size_t>(heads.front().rows), 0.0);
  signal[static_cast<std::size_t>(node)] = 1.0;
  Vector later = passing_bounds(heads, node).most;
  const int sink = heads.front().rows - 1;
  Matrix now(static_cast<int>(heads.size()), sink + 1);
  Matrix tail = now;  // of the first step, if `later` follows it
  const auto at_sink = [&](const Matrix& values, std::size_t h) {
    return values(static_cast<int>(h), sink);
  };
  const std::int64_t horizon = options.horizon > 0 ? options.horizon : kMostPolicySteps;
  for (std::int64_t t = 1; t <= horizon; ++t) {
    advance_most(heads, node, signal, now);
    for (std::size_t h = 0; h < heads.size(); ++h)
      bound.first[h] = std::max(bound.first[h], at_sink(now, h));
    if (bound.most() > enough)
      return {Vector(heads.size(), std::numeric_limits<double>::infinity())};
    if (t == options.horizon) return bound;
    advance_most(heads, node, later, tail);
    tighten_later(node, signal, later);
    // From now on nothing exceeds the tail.
    bool closed = true;
    for (std::size_t h = 0; h < heads.size(); ++h)
      closed = closed && at_sink(tail, h) <= bound.first[h] * (1.0 + kPolicyRounding);
    if (closed) break;
  }
  for (std::size_t h = 0; h < heads.size(); ++h)
    bound.first[h] = std::max(bound.first[h], at_sink(tail, h));
  return bound;
}

}  // namespace synergraph

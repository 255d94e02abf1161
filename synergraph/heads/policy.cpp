#include "synergraph/heads/policy.h"

#include <algorithm>
#include <cmath>

#include "synergraph/core/array_math.h"
#include "synergraph/core/safe_range.h"

namespace synergraph {
namespace {

using Vector = std::vector<double>;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
// A bound is met when it is met to rounding.
constexpr double kRounding = 1e-13;
// Steps of the recursion; later times are covered by what can still arrive.
constexpr std::int64_t kMostSteps = 1000;

/// V(i) = max_h of the chance that the way back from i comes through `node`, if h is chosen until i
/// is left.
Vector best_passing(std::span<const ConstMatrixView> heads, int node) {
  const int n = heads.front().rows;
  Vector passing(static_cast<std::size_t>(n), 0.0);
  passing[static_cast<std::size_t>(node)] = 1.0;
  for (int i = node + 1; i < n; ++i) {
    double most = 0.0;
    for (const ConstMatrixView& head : heads) {
      const double down = total(head.row(i), i);
      // Next to nothing leaves: anything may become of it.
      if (down > 0.0 && !in_safe_range(down)) most = 1.0;
      if (in_safe_range(down))
        most = std::max(most, dot(head.row(i) + node, passing.data() + node, i - node) / down);
    }
    passing[static_cast<std::size_t>(i)] = std::min(1.0, most);
  }
  return passing;
}

}  // namespace

double SignalBound::most() const {
  return *std::max_element(first.begin(), first.end());
}

SignalBound signal_bound(std::span<const ConstMatrixView> heads, int node,
                         const FidelityOptions& options, double enough) {
  const int n = heads.front().rows;
  const int sink = n - 1;
  SignalBound bound{Vector(heads.size(), 0.0)};
  Vector signal(static_cast<std::size_t>(n), 0.0);
  signal[static_cast<std::size_t>(node)] = 1.0;
  Vector later = best_passing(heads, node);
  Vector tail(heads.size());  // of the first step, if `later` follows it
  Vector next(signal.size());
  // One step of a recursion, from the last node to the first: what is above is not needed again.
  const auto advance = [&](Vector& state, Vector& first) {
    for (int i = sink; i >= node; --i) {
      double most = 0.0;
      for (std::size_t h = 0; h < heads.size(); ++h) {
        const double value = dot(heads[h].row(i) + node, state.data() + node, i - node + 1);
        most = std::max(most, value);
        if (i == sink) first[h] = value;
      }
      state[static_cast<std::size_t>(i)] = most;
    }
  };
  Vector now(heads.size());
  const std::int64_t horizon = options.horizon > 0 ? options.horizon : kMostSteps;
  for (std::int64_t t = 1; t <= horizon; ++t) {
    advance(signal, now);
    for (std::size_t h = 0; h < heads.size(); ++h)
      bound.first[h] = std::max(bound.first[h], now[h]);
    if (bound.most() > enough) return {Vector(heads.size(), kInfinity)};
    if (t == options.horizon) return bound;
    advance(later, tail);
    // From now on nothing exceeds the tail.
    bool closed = true;
    for (std::size_t h = 0; h < heads.size(); ++h)
      closed = closed && tail[h] <= bound.first[h] * (1.0 + kRounding);
    if (closed) break;
  }
  for (std::size_t h = 0; h < heads.size(); ++h) bound.first[h] = std::max(bound.first[h], tail[h]);
  return bound;
}

double WalkRows::least(int j, const double* x) const {
  double least = kInfinity;
  for (const Walk* walk : walks_)
    least = std::min(least, dot(walk->step.row(j) + j, x + j, walk->nodes() - j));
  return least;
}

PublishedRows::PublishedRows(std::span<const ConstMatrixView> heads)
    : heads_(heads.begin(), heads.end()) {}

// With c_w(i) = min(1, sum_h w_h C_h(i)), C_h the running sums, the step gives the sum over i of
// c_w(i) (x(i) - x(i + 1)). c_w is concave in w: at least sum_h w_h min(1, C_h), and at most both 1
// and sum_h w_h C_h. Each term is bounded below by a linear function of w, so one head has the
// least sum.
double PublishedRows::least(int j, const double* x) const {
  const int sink = nodes() - 1;
  Vector sums(heads_.size(), 0.0);  // running sums
  Vector results(heads_.size(), 0.0);
  for (int i = j; i < sink; ++i) {
    double most = 0.0;
    for (std::size_t h = 0; h < heads_.size(); ++h)
      most = std::max(most, sums[h] += heads_[h](j, i));
    const double fall = x[i] - x[i + 1];
    for (std::size_t h = 0; h < heads_.size(); ++h) {
      const double share = fall >= 0.0 ? std::min(1.0, sums[h]) : most <= 1.0 ? sums[h] : 1.0;
      results[h] += share * fall;
    }
  }
  return std::max(0.0, *std::min_element(results.begin(), results.end()));
}

std::vector<double> least_truncated_times(const RowChoice& rows, std::int64_t steps) {
  const int n = rows.nodes();
  Vector times(static_cast<std::size_t>(n), 0.0);
  for (std::int64_t t = 0; t < steps; ++t) {
    // From the first node to the last: a row needs only what has not been replaced.
    bool changed = false;
    for (int j = 0; j + 1 < n; ++j) {
      const double next = 1.0 + rows.least(j, times.data());
      double& time = times[static_cast<std::size_t>(j)];
      changed = changed || next > time;
      time = std::max(time, next);
    }
    if (!changed) break;
  }
  return times;
}

std::vector<double> least_hitting_times(std::span<const Walk* const> walks) {
  const int n = walks.front()->nodes();
  Vector times(static_cast<std::size_t>(n), 0.0);
  for (int j = n - 2; j >= 0; --j) {
    double least = kInfinity;
    for (const Walk* walk : walks) {
      const double leave = walk->leave[static_cast<std::size_t>(j)];
      if (!(leave > 0.0)) continue;
      const double* row = walk->step.row(j);
      double sum = 1.0;
      for (int i = j + 1; i < n; ++i)
        if (row[i] > 0.0) sum += row[i] * times[static_cast<std::size_t>(i)];
      least = std::min(least, sum / leave);
    }
    times[static_cast<std::size_t>(j)] = least;
  }
  return times;
}

}  // namespace synergraph

#pragma once

#include <cmath>

#include "synergraph/chain/mixing_rules.h"
#include "synergraph/device/small/matrix_measurement.h"

// T_mix of slow walks by squaring.

namespace synergraph::small {

/// Turns the matrix into P, b(i, j) = P(j, i), and `forward` into the chances to leave.
template <class Team>
SYNERGRAPH_HD_INLINE void MatrixMeasurement<Team>::make_walk() {
  each([&](int j, Node& node) {
    double* column = memory_.matrix + j;
    const bool moves = node.scale > 0.0;
    if (moves)
      for (int i = j; i < n_; ++i) column[triangle_of(i)] *= node.scale;
    else
      for (int i = j; i < n_; ++i) column[triangle_of(i)] = i == j ? 1.0 : 0.0;
    memory_.forward[j] = moves ? memory_.forward[j] * node.scale : 0.0;
  });
  team_.sync();
}

/// Squares the chances to leave, g <- g (2 - g), and rescales what goes forward to them, so that
/// sums cannot drift: see WalkPowers.
template <class Team>
SYNERGRAPH_HD_INLINE void MatrixMeasurement<Team>::finish_square(const double* before,
                                                                 double* power) {
  each([&](int j, Node&) {
    const double leave = memory_.forward[j];
    const double left = leave * (2.0 - leave);
    const double stay = before[triangle_of(j) + j];
    power[triangle_of(j) + j] = left <= 0.5 ? 1.0 - left : stay * stay;
    memory_.forward[j] = left;
    const double forward =
        sum_of(n_ - 1 - j, [&](int k) { return power[triangle_of(n_ - 1 - k) + j]; });
    if (!(forward > 0.0)) return;
    const double scale = left / forward;
    for (int i = j + 1; i < n_; ++i) power[triangle_of(i) + j] *= scale;
  });
  team_.sync();
}

/// Survivals at the time of a power: all that has not come to the sink. Returns the largest.
template <class Team>
SYNERGRAPH_HD_INLINE double MatrixMeasurement<Team>::take_survivals(const double* power) {
  return most([&](int j, Node& node) {
    node.survival = sum_of(sink() - j, [&](int k) { return power[triangle_of(j + k) + j]; });
    return node.survival;
  });
}

template <class Team>
SYNERGRAPH_HD_INLINE void MatrixMeasurement<Team>::load_power(int level) {
  team_.sync();
  const double* from = power_at(level);
  for (int e = team_.rank(); e < triangle_of(n_); e += team_.size()) memory_.matrix[e] = from[e];
  team_.sync();
}

/// T_mix of a threshold that is not met at 2^(level - 1) steps, and is at 2^level.
template <class Team>
SYNERGRAPH_HD_INLINE double MatrixMeasurement<Team>::bisect(int level, double threshold) {
  const auto power_of_two = [](int k) {
    return static_cast<double>(1ULL << static_cast<unsigned>(k));
  };
  load_power(level - 1);
  take_survivals(memory_.matrix);
  double time = power_of_two(level - 1);
  const int lowest = level - 2 > mixing_rules::kLevels ? level - 2 - mixing_rules::kLevels : 0;
  for (int k = level - 2; k >= lowest; --k) {
    load_power(k);
    team_.take_matrix(memory_.matrix, n_);
    each([&](int j, Node& node) { memory_.state[j] = {0.0, node.survival}; });
    for (int j = n_ + team_.rank(); j < Memory::kStates; j += team_.size()) memory_.state[j] = {};
    team_.sync();
    team_.template multiply<false, true>(memory_.matrix, memory_.state, n_);
    const double worst = most([&](int j, Node& node) {
      node.before = j < sink() ? team_.product(j).survival : 0.0;
      return node.before;
    });
    if (worst <= threshold) continue;
    each([](int, Node& node) { node.survival = node.before; });
    time += power_of_two(k);
  }
  return time + power_of_two(lowest);
}

/// Doubling, then bisection: see search_by_squaring() of chain/mixing.cpp.
template <class Team>
SYNERGRAPH_HD_INLINE int MatrixMeasurement<Team>::square(Result& result) {
  make_walk();
  double* power = memory_.matrix;
  double* next = memory_.second;
  int bracket[kMostEps];  // the level that meets each threshold; -1: none yet
  double worst = take_survivals(power);
  SYNERGRAPH_UNROLL
  for (int k = 0; k < kMostEps; ++k)
    bracket[k] = k < task_.eps && worst > task_.threshold[k] ? -1 : 0;
  const auto is_open = [&] {
    bool any = false;
    SYNERGRAPH_UNROLL  // NOLINTNEXTLINE(modernize-loop-convert): it is unrolled by its number
        for (int k = 0; k < kMostEps; ++k) any = any || bracket[k] < 0;
    return any;
  };
  for (int level = 1; is_open(); ++level) {
    if (level >= kMostPowers) return kSlowWalk;
    double* kept = power_at(level - 1);
    for (int e = team_.rank(); e < triangle_of(n_); e += team_.size()) kept[e] = power[e];
    team_.square(power, next, n_);
    team_.sync();
    finish_square(power, next);
    double* const done = next;
    next = power;
    power = done;
    worst = take_survivals(power);
    SYNERGRAPH_UNROLL
    for (int k = 0; k < kMostEps; ++k)
      if (bracket[k] < 0 && worst <= task_.threshold[k]) bracket[k] = level;
  }
  SYNERGRAPH_UNROLL
  for (int k = 0; k < kMostEps; ++k) {
    if (k >= task_.eps) continue;
    const double time = bracket[k] == 0 ? 1.0 : bisect(bracket[k], task_.threshold[k]);
    if (team_.rank() == 0) result.mixing[k] = time;
  }
  if (team_.rank() == 0) result.squares = 0;
  return 0;
}

}  // namespace synergraph::small

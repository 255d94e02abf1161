#pragma once

#include <cmath>

#include "synergraph/chain/mixing_rules.h"
#include "synergraph/chain/truncation_rules.h"
#include "synergraph/device/small/looks.h"
#include "synergraph/device/small/matrix_measurement.h"
#include "synergraph/device/small/solves.h"
#include "synergraph/diffusion/peak_rules.h"

// Single steps of the signal and the survivals, and looks at what they decide.

namespace synergraph::small {

template <class Team>
SYNERGRAPH_HD_INLINE void MatrixMeasurement<Team>::start() {
  time_ = 0;
  each([&](int j, Node& node) {
    node.signal = j == sink() ? 1.0 : 0.0;
    node.survival = j == sink() ? 0.0 : 1.0;
    node.before = node.survival;
    memory_.state[j] = {node.signal, node.survival};
  });
  for (int j = n_ + team_.rank(); j < Memory::kStates; j += team_.size()) memory_.state[j] = {};
  team_.take_matrix(memory_.matrix, n_);
  team_.sync();
}

template <class Team>
template <bool kSignal, bool kSurvival>
SYNERGRAPH_HD_INLINE void MatrixMeasurement<Team>::step() {
  team_.template multiply<kSignal, kSurvival>(memory_.matrix, memory_.state, n_);
  const int after = time_ + 1;
  each([&](int j, Node& node) {
    const Pair found = team_.product(j);
    if (kSignal) {
      node.signal = found.signal;
      if (!fixed() || after <= task_.horizon) {
        node.peak = node.signal > node.peak ? node.signal : node.peak;
        if (peak_rules::is_above(node.signal, node.timed)) {
          node.timed = node.signal;
          node.time = after;
        }
      }
      if (j == followed_node_ && after == followed_time_) memory_.exchange[1] = node.signal;
    }
    if (kSurvival) {
      if (!summed_ && time_ < task_.cutoff) node.sum += node.survival;
      node.before = node.survival;
      if (node.scale > 0.0) node.survival = found.survival * node.scale;
      SYNERGRAPH_UNROLL
      for (int k = 0; k < kMostEps; ++k)
        if (k < task_.eps && node.crossed[k] == 0 && node.survival <= task_.threshold[k])
          node.crossed[k] = after;
    }
    memory_.state[j] = {node.signal, node.survival};
  });
  time_ = after;
  team_.sync();
}

/// How many steps to take before the next look: not beyond the last that counts.
template <class Team>
template <bool kSignal, bool kSurvival>
SYNERGRAPH_HD_INLINE int MatrixMeasurement<Team>::steps_to_look() const {
  std::int64_t steps = time_ < kManySteps ? kLookSteps : kLateLookSteps;
  const auto limit = [&](std::int64_t last) {
    if (time_ < last && last - time_ < steps) steps = last - time_;
  };
  if (kSignal && !final_ && fixed()) limit(task_.horizon);
  if (kSurvival && !summed_) limit(task_.cutoff);
  return static_cast<int>(steps);
}

template <class Team>
template <bool kSignal, bool kSurvival>
SYNERGRAPH_HD_INLINE void MatrixMeasurement<Team>::steps() {
  for (int k = steps_to_look<kSignal, kSurvival>(); k > 0; --k) step<kSignal, kSurvival>();
}

template <class Team>
SYNERGRAPH_HD_INLINE int MatrixMeasurement<Team>::take_signal(Result& result) {
  double minimax = of(weakest_, [](const Node& node) { return node.peak; });
  double time = of(weakest_, [](const Node& node) { return static_cast<double>(node.time); });
  if (weakest_ == 0 && !fixed()) {
    // A sink that keeps a part of what it has never stops sending.
    if (!(memory_.matrix[triangle_of(sink()) + sink()] > 0.0)) return kKeepsSignal;
    minimax = 1.0;
    time = INFINITY;
  }
  if (team_.rank() == 0) {
    result.minimax = minimax;
    result.minimax_node = weakest_;
    result.minimax_time = time;
    result.signal_steps =
        fixed() && time_ > task_.horizon ? static_cast<int>(task_.horizon) : time_;
  }
  return minimax > 0.0 && minimax < mixing_rules::kLeastUnlifted ? kOutOfRange : 0;
}

/// Truncated times that truncation does not change: one solve instead of all steps to the cutoff.
/// Nodes before the first that moves stay until then; the others never meet them.
template <class Team>
SYNERGRAPH_HD_INLINE void MatrixMeasurement<Team>::take_whole_sums() {
  if (task_.eps == 0 && team_.group() == 0)
    solve_hitting(team_, memory_.matrix, memory_.mass, memory_.forward, n_, memory_.hitting);
  team_.sync();
  each([&](int j, Node& node) {
    node.sum = j < first_moving_ ? static_cast<double>(task_.cutoff)
               : j < sink()      ? memory_.hitting[j]
                                 : 0.0;
  });
}

template <class Team>
SYNERGRAPH_HD_INLINE void MatrixMeasurement<Team>::take_walk(Result& result) {
  const double mean = total([](int, Node& node) { return node.sum; }) / n_;
  const double max = most([](int, Node& node) { return node.sum; });
  const double worst =
      least([&](int j, Node& node) { return node.sum == max ? static_cast<double>(j) : INFINITY; });
  SYNERGRAPH_UNROLL
  for (int k = 0; k < kMostEps; ++k) {
    if (k >= task_.eps) continue;
    const double time = most([&](int, Node& node) { return static_cast<double>(node.crossed[k]); });
    if (team_.rank() == 0) result.mixing[k] = never_ ? INFINITY : time;
  }
  if (team_.rank() == 0) {
    result.truncated_mean = mean;
    result.truncated_max = max;
    result.truncated_worst = static_cast<int>(worst);
    result.squares = slow_ ? 1 : 0;
  }
}

/// Looks at what is decided. One group of lanes looks at the signal, the next one at the sums.
template <class Team>
SYNERGRAPH_HD_INLINE void MatrixMeasurement<Team>::look(bool at_signal, bool at_survival) {
  enum { kWeakest = 2, kFinal, kComplete, kWhole, kActive, kFactor };
  const bool at_sums = at_survival && !summed_ && time_ < task_.cutoff;
  bool open = false;
  each([&](int j, Node& node) {
    memory_.peak[j] = node.peak;
    memory_.before[j] = node.before;
    memory_.sum[j] = node.sum;
    SYNERGRAPH_UNROLL
    for (int k = 0; k < kMostEps; ++k)
      open = open || (k < task_.eps && j < sink() && node.crossed[k] == 0);
  });
  open = team_.any(open);
  if (at_survival) crossed_ = crossed_ || !open;
  double* const found = memory_.exchange;
  if (at_signal && team_.group() == 0) {
    const SignalLook signal =
        look_at_signal(team_, memory_, job_, task_.horizon, time_, passed_to_);
    if (team_.lane() == 0) {
      found[kWeakest] = signal.weakest;
      found[kFinal] = signal.final ? 1.0 : 0.0;
    }
  }
  if (at_sums && team_.group() == (team_.groups() > 1 ? 1 : 0)) {
    const SumLook sums = look_at_sums(team_, memory_, n_, first_moving_, task_.cutoff - time_);
    if (team_.lane() == 0) {
      found[kComplete] = sums.complete ? 1.0 : 0.0;
      found[kWhole] = sums.whole ? 1.0 : 0.0;
      found[kActive] = sums.active;
      found[kFactor] = sums.factor;
    }
  }
  team_.sync();
  if (at_signal) {
    weakest_ = static_cast<int>(found[kWeakest]);
    final_ = found[kFinal] != 0.0;
  }
  if (at_sums && found[kComplete] != 0.0)
    add_rest(static_cast<int>(found[kActive]), found[kFactor]);
  else if (at_sums && found[kWhole] != 0.0)
    summed_ = whole_ = true;
  else if (at_survival)
    summed_ = summed_ || time_ >= task_.cutoff;
}

/// What is left of the truncated sums.
template <class Team>
SYNERGRAPH_HD_INLINE void MatrixMeasurement<Team>::add_rest(int active, double factor) {
  const std::int64_t left = task_.cutoff - time_;
  const double powers = factor > 0.0 ? truncation_rules::geometric_sum(factor, left) : 0.0;
  each([&](int j, Node& node) {
    if (j < active)
      node.sum += j < first_moving_ ? static_cast<double>(left) : node.survival * powers;
  });
  summed_ = true;
}

/// Steps until all that is asked for is decided.
template <class Team>
SYNERGRAPH_HD_INLINE int MatrixMeasurement<Team>::walk_on(bool signal, bool survival) {
  start();
  summed_ = !survival || task_.cutoff == 0;
  whole_ = false;
  crossed_ = !survival || task_.eps == 0 || never_ || slow_;
  final_ = !signal;
  const bool follows = signal && followed_node_ >= 0;
  while (signal || survival) {
    if (signal && survival)
      steps<true, true>();
    else if (signal)
      steps<true, false>();
    else
      steps<false, true>();
    look(signal && !final_, survival);
    if (!final_ && time_ >= peak_rules::steps_before_powers(n_)) return kSlowSignal;
    if (!crossed_ && time_ >= mixing_rules::most_steps(n_)) crossed_ = slow_ = true;
    if (!summed_ && time_ >= kMostSumSteps) return kSlowWalk;
    signal = signal && (!final_ || (follows && time_ < followed_time_));
    survival = !crossed_ || !summed_;
  }
  return 0;
}

}  // namespace synergraph::small

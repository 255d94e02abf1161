#pragma once

#include <cmath>

#include "synergraph/chain/mixing_rules.h"
#include "synergraph/chain/truncation_rules.h"
#include "synergraph/core/host_device.h"
#include "synergraph/core/safe_range.h"
#include "synergraph/device/small/looks.h"
#include "synergraph/device/small/matrix_team.h"
#include "synergraph/device/small/solves.h"
#include "synergraph/diffusion/peak_rules.h"

// Measures one small matrix. It stays in the memory of a team of threads through all steps. Two
// states walk side by side through it: the signal, r_{t+1}[j] = sum_i a(i, j) r_t[i], and the
// survivals of the columns' walk, s_{t+1}[j] = (sum_i a(i, j) s_t[i]) / mass[j]. Each node belongs
// to one thread, which keeps its peak, its sum and its crossings. A team is a block of threads of a
// GPU, or one thread of the host.

namespace synergraph::small {

/// What a thread keeps of a node that belongs to it.
struct Node {
  double signal = 0.0;
  double peak = 0.0;
  double timed = 0.0;  ///< the signal at `time`
  double survival = 0.0;
  double before = 0.0;  ///< the survival one step ago
  double sum = 0.0;     ///< of survivals
  double scale = 0.0;   ///< 1 / mass; 0 where the walk stays
  int time = 1;
  int crossed[kMostEps] = {};  ///< 0: not yet
};

/// Four sums side by side: they wait less, and round less.
template <class At>
SYNERGRAPH_HD_INLINE double sum_of(int count, At at) {
  double part[4] = {};
  int k = 0;
  for (; k + 4 <= count; k += 4) {
    SYNERGRAPH_UNROLL
    for (int p = 0; p < 4; ++p) part[p] += at(k + p);
  }
  for (; k < count; ++k) part[0] += at(k);
  return (part[0] + part[1]) + (part[2] + part[3]);
}

template <class Team>
class MatrixMeasurement {
 public:
  SYNERGRAPH_HD_INLINE MatrixMeasurement(Team& team, const Memory& memory, const Task& task,
                                         const Job& job)
      : team_(team), memory_(memory), task_(task), job_(job), n_(job.nodes) {}

  /// Finds T_mix by squaring and nothing else, with room for kMostPowers powers, packed. Null:
  /// measures by single steps.
  SYNERGRAPH_HD_INLINE void square_in(double* powers) { powers_ = powers; }

  /// Follows this node's signal until this time, too.
  SYNERGRAPH_HD_INLINE void follow(int node, int time) {
    followed_node_ = node;
    followed_time_ = time;
  }
  /// Measures the matrix in memory, or the walk that is there itself, with `forward` and `mass`
  /// set. Returns what is undecided.
  SYNERGRAPH_HD_INLINE int run(bool is_walk, Result& result);

 private:
  /// Calls visit(j, node) for the nodes of this thread.
  template <class Visit>
  SYNERGRAPH_HD_INLINE void each(Visit visit) {
    SYNERGRAPH_UNROLL
    for (int k = 0; k < Team::kNodes; ++k) {
      const int j = team_.rank() + k * team_.size();
      if (j < n_) visit(j, nodes_[k]);
    }
  }
  template <class Get>
  SYNERGRAPH_HD_INLINE double least(Get get) {
    double found = INFINITY;
    each([&](int j, Node& node) {
      const double x = get(j, node);
      found = x < found ? x : found;
    });
    return -team_.max(-found);
  }
  template <class Get>
  SYNERGRAPH_HD_INLINE double most(Get get) {
    return -least([&](int j, Node& node) { return -get(j, node); });
  }
  template <class Get>
  SYNERGRAPH_HD_INLINE double total(Get get) {
    double sum = 0.0;
    each([&](int j, Node& node) { sum += get(j, node); });
    return team_.sum(sum);
  }
  /// What node j's thread has, in all threads.
  template <class Get>
  SYNERGRAPH_HD_INLINE double of(int wanted, Get get) {
    each([&](int j, Node& node) {
      if (j == wanted) memory_.exchange[0] = get(node);
    });
    team_.sync();
    const double found = memory_.exchange[0];
    team_.sync();
    return found;
  }

  SYNERGRAPH_HD_INLINE int sink() const { return n_ - 1; }
  SYNERGRAPH_HD_INLINE bool fixed() const { return task_.horizon > 0; }

  SYNERGRAPH_HD_INLINE void sum_rows_and_columns();
  SYNERGRAPH_HD_INLINE int check_signal();
  SYNERGRAPH_HD_INLINE int set_walk(bool in_columns);
  SYNERGRAPH_HD_INLINE void cut_columns();
  SYNERGRAPH_HD_INLINE int measure_hitting(Result& result);
  SYNERGRAPH_HD_INLINE void start();
  template <bool kSignal, bool kSurvival>
  SYNERGRAPH_HD_INLINE void step();
  template <bool kSignal, bool kSurvival>
  SYNERGRAPH_HD_INLINE void steps();
  template <bool kSignal, bool kSurvival>
  SYNERGRAPH_HD_INLINE int steps_to_look() const;
  SYNERGRAPH_HD_INLINE int walk_on(bool signal, bool survival);
  SYNERGRAPH_HD_INLINE int take_signal(Result& result);
  SYNERGRAPH_HD_INLINE void look(bool at_signal, bool at_survival);
  SYNERGRAPH_HD_INLINE void add_rest(int active, double factor);
  SYNERGRAPH_HD_INLINE void take_whole_sums();
  SYNERGRAPH_HD_INLINE void take_walk(Result& result);
  SYNERGRAPH_HD_INLINE void make_walk();
  SYNERGRAPH_HD_INLINE void finish_square(const double* before, double* power);
  SYNERGRAPH_HD_INLINE double take_survivals(const double* power);
  SYNERGRAPH_HD_INLINE int square(Result& result);
  SYNERGRAPH_HD_INLINE double bisect(int level, double threshold);
  SYNERGRAPH_HD_INLINE void load_power(int level);
  SYNERGRAPH_HD_INLINE double* power_at(int level) const {
    return powers_ + static_cast<std::ptrdiff_t>(level) * triangle_of(n_);
  }

  Team& team_;
  const Memory& memory_;
  const Task& task_;
  const Job& job_;
  int n_;
  Node nodes_[Team::kNodes];
  int time_ = 0;
  int weakest_ = -1;
  int passed_to_ = -1;
  int first_moving_ = 0;
  int followed_node_ = -1;
  int followed_time_ = 0;
  bool never_ = false;  // the sink is out of reach of a node
  bool slow_ = false;   // T_mix is for squaring
  double* powers_ = nullptr;
  bool summed_ = false;   // the truncated sums are known
  bool whole_ = false;    // they are the hitting times
  bool crossed_ = false;  // T_mix is known, or for squaring
  bool final_ = false;    // the minimax is
};

/// Sums of a row without its diagonal, and of a column: n numbers for every thread.
template <class Team>
SYNERGRAPH_HD_INLINE void MatrixMeasurement<Team>::sum_rows_and_columns() {
  const double* a = memory_.matrix;
  each([&](int j, Node&) {
    const double* row = a + triangle_of(j);
    memory_.down[j] = sum_of(j, [&](int k) { return row[k]; });
    memory_.forward[j] = sum_of(n_ - 1 - j, [&](int k) { return a[triangle_of(n_ - 1 - k) + j]; });
    memory_.mass[j] = memory_.forward[j] + row[j];
  });
}

/// Where every node but the first passes something on, all ends at the first. What keeps a part for
/// good is for the CPU, and what passes on so little that digits would be lost.
template <class Team>
SYNERGRAPH_HD_INLINE int MatrixMeasurement<Team>::check_signal() {
  int trouble = 0;
  each([&](int j, Node&) {
    const double down = memory_.down[j];
    if (j == 0) return;
    if (!fixed() && !(down > 0.0))
      trouble |= kKeepsSignal;
    else if (down > 0.0 && !in_safe_range(down))
      trouble |= kOutOfRange;
  });
  return trouble;
}

/// Rows of the published walk, each a column of the matrix, which become what they are cut to: see
/// published_walk().
template <class Team>
SYNERGRAPH_HD_INLINE void MatrixMeasurement<Team>::cut_columns() {
  double* a = memory_.matrix;
  each([&](int j, Node&) {
    const double own = a[triangle_of(j) + j];
    const double rest = memory_.down[j];
    const bool slow = own > 0.5 && fabs(rest + own - 1.0) <= 1e-12;
    double reached = slow ? 0.0 : own;
    const double whole = slow ? rest : 1.0;
    double leave = 0.0;
    if (j < sink()) a[triangle_of(j) + j] = own < 1.0 ? own : 1.0;
    for (int i = j + 1; i < n_; ++i) {
      double& weight = a[triangle_of(i) + j];
      const double left = reached < whole ? whole - reached : 0.0;
      reached += weight;
      weight = weight < left ? weight : left;
      leave += weight;
    }
    const double missing = reached < whole ? whole - reached : 0.0;
    if (j < sink()) a[triangle_of(sink()) + j] += missing;
    memory_.forward[j] = slow ? rest : leave + missing;
    memory_.mass[j] = 1.0;
  });
}

/// Factors of the survivals.
template <class Team>
SYNERGRAPH_HD_INLINE int MatrixMeasurement<Team>::set_walk(bool in_columns) {
  int trouble = 0;
  each([&](int j, Node& node) {
    const double mass = memory_.mass[j];
    if (in_columns && mass > 0.0 && !in_safe_range(mass)) trouble |= kOutOfRange;
    node.scale = j < sink() && memory_.forward[j] > 0.0 ? 1.0 / mass : 0.0;
  });
  return trouble;
}

template <class Team>
SYNERGRAPH_HD_INLINE int MatrixMeasurement<Team>::measure_hitting(Result& result) {
  const double leave = least([&](int j, Node&) {
    return j < sink() ? (memory_.forward[j] > 0.0 ? memory_.forward[j] / memory_.mass[j] : 0.0)
                      : INFINITY;
  });
  first_moving_ = static_cast<int>(least([&](int j, Node&) {
    return j == sink() || memory_.forward[j] > 0.0 ? static_cast<double>(j) : INFINITY;
  }));
  if (team_.rank() == 0) result.forward_probability = leave;
  if (task_.eps == 0) return 0;
  if (team_.group() == 0) {
    const Hitting hitting =
        solve_hitting(team_, memory_.matrix, memory_.mass, memory_.forward, n_, memory_.hitting);
    if (team_.lane() == 0) {
      result.hitting_mean = hitting.sum / n_;
      result.hitting_max = hitting.max;
      result.hitting_worst = hitting.worst;
      memory_.exchange[0] = hitting.overflow ? NAN : hitting.max;
    }
  }
  team_.sync();
  const double max = memory_.exchange[0];
  team_.sync();
  if (!(max >= 0.0)) return kOutOfRange;
  never_ = max == INFINITY;
  for (int k = 0; k < task_.eps && !never_; ++k) {
    mixing_rules::Threshold threshold;
    threshold.value = task_.threshold[k];
    slow_ = slow_ || !mixing_rules::stepping_pays(threshold, max, n_);
  }
  return 0;
}

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

template <class Team>
SYNERGRAPH_HD_INLINE int MatrixMeasurement<Team>::run(bool is_walk, Result& result) {
  enum Pass { kMatrix, kWalk, kPasses };
  if (team_.rank() == 0) memory_.exchange[1] = NAN;
  const bool side_by_side = task_.walk == WalkOf::kColumns;
  SYNERGRAPH_NO_UNROLL
  for (int pass = is_walk ? kWalk : kMatrix; pass < kPasses; ++pass) {
    const bool signal = pass == kMatrix && task_.signal && powers_ == nullptr;
    const bool survival = pass == kWalk || side_by_side;
    if (pass == kMatrix) {
      sum_rows_and_columns();
    } else if (!is_walk) {
      if (task_.walk != WalkOf::kPublished) break;
      cut_columns();
    }
    team_.sync();
    int undecided = 0;
    if (signal) undecided |= check_signal();
    if (survival) undecided |= set_walk(pass == kMatrix);
    undecided = team_.either(undecided);
    if (undecided == 0 && survival && powers_ != nullptr) return square(result);
    if (undecided == 0 && survival) undecided = measure_hitting(result);
    if (undecided == 0 && (signal || survival)) undecided = walk_on(signal, survival);
    if (undecided == 0 && signal) undecided = take_signal(result);
    if (undecided != 0) return undecided;
    if (whole_) take_whole_sums();
    if (survival) take_walk(result);
    team_.sync();
  }
  if (team_.rank() == 0) result.signal = memory_.exchange[1];
  return 0;
}

/// The convex sum of the walks of all heads, packed like a matrix whose columns they are; `forward`
/// gets the chances to leave. Returns what is undecided, as this thread sees it.
template <class Team>
SYNERGRAPH_HD_INLINE int load_head_walks(Team& team, const Attention& attention, const Job& job,
                                         const double* weights, const Memory& memory) {
  const int n = job.nodes;
  int trouble = 0;
  const auto each = [&](auto visit) {
    for (int j = team.rank(); j < n; j += team.size()) visit(j);
  };
  for (int e = team.rank(); e < triangle_of(n); e += team.size()) memory.matrix[e] = 0.0;
  each([&](int j) {
    memory.forward[j] = 0.0;
    memory.mass[j] = 1.0;
  });
  for (int h = 0; h < attention.heads; ++h) {
    if (load_head(team, attention, job, h, 1.0, memory.second)) trouble |= kBadAttention;
    team.sync();
    each([&](int j) {
      const double forward =
          sum_of(n - 1 - j, [&](int k) { return memory.second[triangle_of(n - 1 - k) + j]; });
      const double mass = forward + memory.second[triangle_of(j) + j];
      const bool moves = j < n - 1 && forward > 0.0;
      if (moves && !in_safe_range(mass)) trouble |= kOutOfRange;
      if (!moves) memory.matrix[triangle_of(j) + j] += weights[h];
      if (!moves) return;
      const double scale = weights[h] / mass;
      for (int i = j; i < n; ++i)
        memory.matrix[triangle_of(i) + j] += scale * memory.second[triangle_of(i) + j];
      memory.forward[j] += scale * forward;
    });
    team.sync();
  }
  return trouble;
}

/// Measures one job of the work. With room for powers it finds T_mix by squaring, of a job that was
/// measured before.
template <class Team>
SYNERGRAPH_HD_INLINE void measure_job(Team& team, const Work& work, int index, double* shared,
                                      double* powers) {
  const Job& job = work.jobs[index];
  const Task& task = work.tasks[job.task];
  Result& result = work.results[index];
  const Memory memory = Memory::at(shared, job.nodes);
  const double* weights = work.weights + job.weights;
  MatrixMeasurement<Team> measurement(team, memory, task, job);
  int undecided = 0;
  if (powers == nullptr && team.rank() == 0) result = Result{};
  measurement.square_in(powers);
  if (task.walk == WalkOf::kHeadWalks) {
    undecided = team.either(load_head_walks(team, work.attention, job, weights, memory));

  } else {
    const bool bad = job.head < 0
                         ? load_combined(team, work.attention, job, weights, memory.matrix)
                         : load_head(team, work.attention, job, job.head, 1.0, memory.matrix);
    if (job.combined >= 0) {
      const Result& combined = work.results[job.combined];
      if (combined.undecided == 0 &&
          combined.minimax_time <= static_cast<double>(peak_rules::steps_before_powers(job.nodes)))
        measurement.follow(combined.minimax_node, static_cast<int>(combined.minimax_time));
    }
    undecided = team.either(bad ? kBadAttention : 0);
  }
  if (undecided == 0) undecided = measurement.run(task.walk == WalkOf::kHeadWalks, result);
  if (team.rank() == 0) result.undecided = undecided;
}

}  // namespace synergraph::small

#include "synergraph/chain/mixing.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "synergraph/chain/mixing_rules.h"
#include "synergraph/chain/survival_sweep.h"
#include "synergraph/chain/walk_powers.h"
#include "synergraph/core/array_math.h"
#include "synergraph/core/error.h"
#include "synergraph/core/special_values.h"

namespace synergraph {
namespace {

using mixing_rules::kLevels;

using mixing_rules::Followed;
using mixing_rules::kArrival;
using mixing_rules::kFollowed;
using mixing_rules::kLifted;
using mixing_rules::kLifting;
using mixing_rules::kSurvival;
using mixing_rules::Threshold;
static_assert(mixing_rules::kLeastUnlifted == Propagation::kBeyondFlushing);

/// What a time is searched for: the worst start node meets a threshold of T_mix, or the mean over
/// start nodes falls below one of T_avg.
struct Goal {
  Followed of;
  bool of_mean = false;
  double value;

  static Goal worst(double eps) {
    const Threshold threshold(eps);
    return {threshold.of, false, threshold.value};
  }
  /// The mean of survivals falls below this part of eps. Of means near one nothing is lost: the
  /// sink has arrived, so a mean is at most 1 - 1/n.
  static Goal mean(double eps, double part) {
    const bool lifted = eps * part < mixing_rules::kLeastUnlifted;
    const double below = (lifted ? eps * kLifting : eps) * part;
    return {lifted ? kLifted : kSurvival, true, below * (1.0 - mixing_rules::kTie)};
  }
  /// By the worst or the least of what it is of, or by the mean.
  bool met(double by) const {
    return of_mean ? by < value : of == kArrival ? by >= value : by <= value;
  }
  /// By a state of all nodes.
  bool met_by(const std::vector<double>& state) const {
    if (of_mean)
      return met(total(state.data(), static_cast<int>(state.size())) /
                 static_cast<double>(state.size()));
    return met(of == kArrival ? *std::min_element(state.begin(), state.end())
                              : *std::max_element(state.begin(), state.end()));
  }
};

/// What is still searched for, and the times found.
struct Search {
  std::vector<Goal> goal;
  std::vector<double> time;

  Search(const WalkOptions& options, int nodes) {
    for (const double e : options.eps) {
      if (!(e > 0.0)) throw UsageError(fmt::format("eps must be positive, not {}", e));
      goal.push_back(Goal::worst(e));
    }
    if (options.averaged) {  // the L1 distance is twice the survival, the total variation is it
      for (const double e : options.eps) goal.push_back(Goal::mean(e, 0.5));
      for (const double e : options.eps) goal.push_back(Goal::mean(e, 1.0));
    }
    time.assign(goal.size(), kNan);
    settle(kArrival, 0.0, 0.0);
    const double begin = 1.0 - 1.0 / static_cast<double>(nodes);
    for (std::size_t k = 0; k < goal.size(); ++k)
      if (goal[k].of_mean && goal[k].met(goal[k].of == kLifted ? begin * kLifting : begin))
        time[k] = 0.0;
  }
  /// Some walks may never arrive. Their share bounds every mean from below.
  void settle_without_arrival(const Walk& walk) {
    const std::vector<double> missing = missing_probability(walk);
    for (std::size_t k = 0; k < goal.size(); ++k) {
      Goal limit = goal[k];
      if (limit.of == kLifted) limit.value /= kLifting;
      if (open(k) && !(limit.of_mean && limit.met_by(missing))) time[k] = kInfinity;
    }
  }
  std::vector<double> times(std::size_t begin, std::size_t count) const {
    const auto from = time.begin() + static_cast<std::ptrdiff_t>(begin);
    return {from, from + static_cast<std::ptrdiff_t>(count)};
  }
  bool open(std::size_t k) const { return std::isnan(time[k]); }
  bool done() const {
    return std::none_of(time.begin(), time.end(), [](double t) { return std::isnan(t); });
  }
  /// Is a goal of this kind still open?
  bool follows(Followed of) const {
    for (std::size_t k = 0; k < time.size(); ++k)
      if (open(k) && goal[k].of == of) return true;
    return false;
  }
  /// Records `when` for every open threshold of T_mix of this kind that is met.
  void settle(Followed of, double worst, double when) {
    for (std::size_t k = 0; k < time.size(); ++k)
      if (open(k) && goal[k].of == of && !goal[k].of_mean && goal[k].met(worst)) time[k] = when;
  }
  /// Records `when` for every open goal.
  void settle_all(double when) {
    for (std::size_t k = 0; k < time.size(); ++k)
      if (open(k)) time[k] = when;
  }
};

/// Looks through the newest panel of a sweep for crossings, by bisection: survival never grows.
void search_panel(const SurvivalSweep& sweep, Followed of, Search& search) {
  const Propagation& states = sweep.states();
  const double last = sweep.worst_current();
  for (std::size_t k = 0; k < search.time.size(); ++k) {
    const Goal& goal = search.goal[k];
    if (!search.open(k) || goal.of != of || !goal.met(goal.of_mean ? sweep.mean_current() : last))
      continue;
    int before = 0;  // steps of the panel after which it is not met
    int met = states.length();
    while (met - before > 1) {
      const int middle = before + (met - before) / 2;
      (goal.met(goal.of_mean ? sweep.mean(middle) : sweep.worst(middle)) ? met : before) = middle;
    }
    search.time[k] = static_cast<double>(states.time() - states.length() + met);
  }
}

/// Steps through lifted survivals.
void search_lifted(const Walk& walk, Search& search, std::int64_t stepping,
                   const Execution& execution) {
  if (!search.follows(kLifted)) return;
  SurvivalSweep sweep(walk, kLifting);
  sweep.flush_tiny();
  while (search.follows(kLifted) && sweep.states().time() < stepping) {
    execution.check();
    sweep.advance(stepping - sweep.states().time());
    search_panel(sweep, kLifted, search);
  }
}

/// Steps through the chances to have arrived, 1 - s_t: P applied again and again to e_sink.
void search_arrival(const Walk& walk, Search& search, std::int64_t stepping,
                    const Execution& execution) {
  if (!search.follows(kArrival)) return;
  std::vector<double> start(static_cast<std::size_t>(walk.nodes()), 0.0);
  start.back() = 1.0;
  Propagation states(walk.step, start.data());
  states.flush_tiny();  // 1 - eps is at least 2^-53
  while (search.follows(kArrival) && states.time() < stepping) {
    execution.check();
    states.advance(stepping - states.time());
    const auto begin = static_cast<double>(states.time() - states.length());
    for (int k = 1; k <= states.length(); ++k) {
      double least = 1.0;
      for (int j = 0; j < walk.nodes(); ++j) least = std::min(least, states.at(j, k));
      search.settle(kArrival, least, begin + k);
    }
  }
}

/// Bisection for one threshold: it is not met at 2^(level - 1), and is at 2^level.
struct Bisection {
  std::size_t index;  ///< of the threshold
  int level;
  std::vector<double> state;  ///< what is followed, at `time`, which does not meet it
  double time;
};

/// What is followed, at the times 2^k.
class FollowedPowers {
 public:
  /// `lifted`: lifted survivals are asked for.
  FollowedPowers(WalkPowers& powers, bool lifted)
      : powers_(powers),
        lifted_(static_cast<std::size_t>(powers.nodes()), kLifting),
        next_(lifted_.size()) {
    lifted_.back() = 0.0;
    if (lifted) step();
  }

  /// At time 2^top_level().
  std::vector<double> now(Followed of) const {
    return of == kArrival ? powers_.arrival() : of == kSurvival ? powers_.survival() : lifted_;
  }
  void climb(bool lifted) {
    if (lifted) step();
    powers_.climb();
  }

 private:
  /// From the power's own rows a small survival would come with the digits that are left of it.
  void step() {
    powers_.multiply(powers_.top_level(), lifted_.data(), next_.data());
    std::swap(lifted_, next_);
  }

  WalkPowers& powers_;
  std::vector<double> lifted_;
  std::vector<double> next_;
};

/// Doubling, then bisection, for all open thresholds at once.
void search_by_squaring(WalkPowers& powers, Search& search) {
  FollowedPowers followed(powers, search.follows(kLifted));
  std::vector<Bisection> running;
  std::vector<bool> bracketed(search.time.size(), false);
  std::array<std::vector<double>, kFollowed> before;
  std::size_t open = 0;
  for (const Followed of : {kSurvival, kLifted, kArrival}) before[of] = followed.now(of);
  for (std::size_t k = 0; k < search.time.size(); ++k) {
    if (search.open(k) && search.goal[k].met_by(before[search.goal[k].of])) search.time[k] = 1.0;
    open += search.open(k) ? 1 : 0;
  }
  constexpr int kHighest = 1023;  // 2^1023 steps, the largest double's exponent: beyond it, never
  while (running.size() < open && powers.top_level() < kHighest) {
    followed.climb(search.follows(kLifted));
    const int level = powers.top_level();
    for (const Followed of : {kSurvival, kLifted, kArrival}) {
      if (!search.follows(of)) continue;
      std::vector<double> now = followed.now(of);
      std::vector<double>& last = before[of];
      for (std::size_t k = 0; k < search.time.size(); ++k) {
        const Goal& goal = search.goal[k];
        if (!search.open(k) || bracketed[k] || goal.of != of || !goal.met_by(now)) continue;
        bracketed[k] = true;
        running.push_back({k, level, last, std::ldexp(1.0, level - 1)});
      }
      last = std::move(now);
    }
  }
  std::vector<double> next(static_cast<std::size_t>(powers.nodes()));
  for (int level = powers.top_level() - 2; level >= 0; --level) {
    const bool needed = std::any_of(running.begin(), running.end(), [&](const Bisection& b) {
      return level <= b.level - 2 && level >= b.level - 2 - kLevels;
    });
    if (!needed) continue;
    for (Bisection& b : running) {
      if (level > b.level - 2 || level < b.level - 2 - kLevels) continue;
      powers.multiply(level, b.state.data(), next.data());
      if (search.goal[b.index].met_by(next)) continue;
      b.state = next;
      b.time += std::ldexp(1.0, level);
    }
  }
  for (const Bisection& b : running)
    search.time[b.index] = b.time + std::ldexp(1.0, std::max(0, b.level - 2 - kLevels));
  search.settle_all(kInfinity);
}

/// How far to step one by one before squaring.
std::int64_t steps_worth_taking(int nodes, double worst_hitting, const Search& search) {
  for (std::size_t k = 0; k < search.time.size(); ++k) {
    const Goal& goal = search.goal[k];
    if (!search.open(k)) continue;
    if (goal.of_mean) return mixing_rules::most_steps(nodes);  // few slow nodes hold up no mean
    Threshold threshold;
    threshold.of = goal.of;
    threshold.value = goal.value;
    if (!mixing_rules::stepping_pays(threshold, worst_hitting, nodes)) return 0;
  }
  return mixing_rules::most_steps(nodes);
}

}  // namespace

WalkSummary summarise_walk(const Walk& walk, const WalkOptions& options,
                           const Execution& execution) {
  Search search(options, walk.nodes());
  WalkSummary summary;
  summary.hitting = hitting_times(walk);
  if (std::isinf(summary.hitting.max)) search.settle_without_arrival(walk);
  if (walk.nodes() == 1) search.settle_all(0.0);

  const std::int64_t stepping = options.stepping >= 0
                                    ? options.stepping
                                    : steps_worth_taking(walk.nodes(), summary.hitting.max, search);
  SurvivalSweep sweep(walk);
  sweep.flush_tiny();  // thresholds for which that would show are lifted
  TruncatedSum sum(walk.nodes(), options.cutoff, execution);
  search_arrival(walk, search, stepping, execution);
  search_lifted(walk, search, stepping, execution);
  for (;;) {
    const std::int64_t time = sweep.states().time();
    const bool sum_done = sum.complete();
    const bool search_done = !search.follows(kSurvival) || time >= stepping;
    if (sum_done && search_done) break;
    execution.check();
    sweep.advance(
        std::max(sum_done ? 0 : options.cutoff - time, search_done ? 0 : stepping - time));
    if (!sum_done) sum.add(sweep);
    if (search.follows(kSurvival))
      search_panel(sweep, kSurvival, search);
    else
      sweep.restrict_to(sum.active(sweep));
  }
  summary.truncated = summarise_hitting(sum.take());
  if (!search.done()) {
    WalkPowers powers(walk, WalkPowers::Keep::kAll, execution);
    search_by_squaring(powers, search);
  }
  const std::size_t count = options.eps.size();
  summary.mixing = search.times(0, count);
  if (options.averaged) {
    summary.averaged = search.times(count, count);
    summary.averaged_tv = search.times(2 * count, count);
  }
  return summary;
}

std::vector<double> mixing_times_by_squaring(WalkPowers& powers, const std::vector<double>& eps) {
  Search search({.eps = eps}, powers.nodes());
  search_by_squaring(powers, search);
  return search.times(0, eps.size());
}

std::vector<double> mixing_times(const Walk& walk, const std::vector<double>& eps,
                                 const Execution& execution) {
  return summarise_walk(walk, {.eps = eps, .cutoff = 0}, execution).mixing;
}

double mixing_time(const Walk& walk, double eps, const Execution& execution) {
  return mixing_times(walk, {eps}, execution).front();
}

}  // namespace synergraph

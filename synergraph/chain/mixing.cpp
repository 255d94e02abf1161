#include "synergraph/chain/mixing.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "synergraph/chain/survival_sweep.h"
#include "synergraph/chain/walk_powers.h"
#include "synergraph/core/error.h"

namespace synergraph {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Rounding allowance of the comparison with eps: see mixing.h.
constexpr double kTie = 1e-13;
// Bisection stops this many levels below the highest: 2^-44 relative, far below 1e-9. Times below
// 1e6 have fewer than 44 levels and so come out exactly.
constexpr int kLevels = 44;

/// The thresholds still searched for, and the times found.
struct Search {
  std::vector<double> threshold;
  std::vector<double> time;

  explicit Search(const std::vector<double>& eps)
      : time(eps.size(), std::numeric_limits<double>::quiet_NaN()) {
    for (const double e : eps) {
      if (!(e > 0.0)) throw UsageError(fmt::format("eps must be positive, not {}", e));
      threshold.push_back(e * (1.0 + kTie));
    }
    settle(1.0, 0.0);
  }
  bool open(std::size_t k) const { return std::isnan(time[k]); }
  bool done() const {
    return std::none_of(time.begin(), time.end(), [](double t) { return std::isnan(t); });
  }
  /// Records `when` for every open threshold that `worst` has come down to.
  void settle(double worst, double when) {
    for (std::size_t k = 0; k < time.size(); ++k)
      if (open(k) && worst <= threshold[k]) time[k] = when;
  }
};

/// Looks through the newest panel of a sweep for crossings.
void search_panel(const SurvivalSweep& sweep, Search& search) {
  const Propagation& states = sweep.states();
  const double last = sweep.worst_current();
  bool crossed = false;
  for (std::size_t k = 0; k < search.time.size(); ++k)
    crossed = crossed || (search.open(k) && last <= search.threshold[k]);
  if (!crossed) return;
  const auto begin = static_cast<double>(states.time() - states.length());
  for (int k = 1; k <= states.length(); ++k) search.settle(sweep.worst(k), begin + k);
}

/// Bisection for one threshold: survival at 2^(level - 1) is above it, at 2^level it is not.
struct Bisection {
  std::size_t index;  ///< of the threshold
  int level;
  std::vector<double> survival;  ///< at `time`, still above the threshold
  double time;
};

double largest(const std::vector<double>& values) {
  return *std::max_element(values.begin(), values.end());
}

/// Doubling, then bisection, for all open thresholds at once.
void search_by_squaring(const Walk& walk, Search& search, const WalkOptions& options) {
  WalkPowers powers(walk, options.memory, options.threads);
  std::vector<Bisection> running;
  std::vector<bool> bracketed(search.time.size(), false);
  std::vector<double> before = powers.survival();
  search.settle(largest(before), 1.0);
  std::size_t open = 0;
  for (std::size_t k = 0; k < search.time.size(); ++k) open += search.open(k) ? 1 : 0;
  constexpr int kHighest = 1023;  // 2^1023 steps, the largest double's exponent: beyond it, never
  while (running.size() < open && powers.top_level() < kHighest) {
    powers.climb();
    std::vector<double> now = powers.survival();
    const double worst = largest(now);
    const int level = powers.top_level();
    for (std::size_t k = 0; k < search.time.size(); ++k) {
      if (!search.open(k) || bracketed[k] || worst > search.threshold[k]) continue;
      bracketed[k] = true;
      running.push_back({k, level, before, std::ldexp(1.0, level - 1)});
    }
    before = std::move(now);
  }
  std::vector<double> next(static_cast<std::size_t>(walk.nodes()));
  for (int level = powers.top_level() - 2; level >= 0; --level) {
    const bool needed = std::any_of(running.begin(), running.end(), [&](const Bisection& b) {
      return level <= b.level - 2 && level >= b.level - 2 - kLevels;
    });
    if (!needed) continue;
    for (Bisection& b : running) {
      if (level > b.level - 2 || level < b.level - 2 - kLevels) continue;
      powers.multiply(level, b.survival.data(), next.data());
      if (largest(next) <= search.threshold[b.index]) continue;
      b.survival = next;
      b.time += std::ldexp(1.0, level);
    }
  }
  for (const Bisection& b : running)
    search.time[b.index] = b.time + std::ldexp(1.0, std::max(0, b.level - 2 - kLevels));
  for (double& time : search.time)
    if (std::isnan(time)) time = kInfinity;
}

/// How far to step one by one before squaring. From the worst node h = E[T] is at most
/// T_mix(eps) / (1 - eps), as s_{k T_mix} <= eps^k: where that alone is too far for stepping to
/// pay, nothing is stepped.
std::int64_t steps_worth_taking(int nodes, double worst_hitting, const Search& search) {
  const std::int64_t most = std::max(400, nodes / 8);
  for (std::size_t k = 0; k < search.time.size(); ++k)
    if (search.open(k) && (1.0 - search.threshold[k]) * worst_hitting > static_cast<double>(most))
      return 0;
  return most;
}

}  // namespace

WalkSummary summarise_walk(const Walk& walk, const WalkOptions& options) {
  Search search(options.eps);
  WalkSummary summary;
  summary.hitting = hitting_times(walk);
  if (std::isinf(summary.hitting.max))
    for (std::size_t k = 0; k < search.time.size(); ++k)
      if (search.open(k)) search.time[k] = kInfinity;
  if (walk.nodes() == 1) search.settle(0.0, 0.0);

  const std::int64_t stepping = options.stepping >= 0
                                    ? options.stepping
                                    : steps_worth_taking(walk.nodes(), summary.hitting.max, search);
  SurvivalSweep sweep(walk);
  TruncatedSum sum(walk.nodes(), options.cutoff);
  for (;;) {
    const std::int64_t time = sweep.states().time();
    const bool sum_done = sum.complete();
    const bool search_done = search.done() || time >= stepping;
    if (sum_done && search_done) break;
    sweep.advance(
        std::max(sum_done ? 0 : options.cutoff - time, search_done ? 0 : stepping - time));
    if (!sum_done) sum.add(sweep);
    if (!search.done())
      search_panel(sweep, search);
    else
      sweep.restrict_to(sum.active(sweep));
  }
  summary.truncated = summarise_hitting(sum.take());
  if (!search.done()) search_by_squaring(walk, search, options);
  summary.mixing = search.time;
  return summary;
}

std::vector<double> mixing_times(const Walk& walk, const std::vector<double>& eps, int threads) {
  return summarise_walk(walk, {.eps = eps, .cutoff = 0, .threads = threads}).mixing;
}

double mixing_time(const Walk& walk, double eps, int threads) {
  return mixing_times(walk, {eps}, threads).front();
}

}  // namespace synergraph

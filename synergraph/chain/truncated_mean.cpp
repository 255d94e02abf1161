#include "synergraph/chain/truncated_mean.h"

#include <algorithm>
#include <cmath>

#include "synergraph/core/array_math.h"
#include "synergraph/core/kernels/kernels.h"
#include "synergraph/core/propagation.h"
#include "synergraph/core/safe_range.h"

namespace synergraph {
namespace {

// Steps up to the first look at whether the rest of the sum is known, and to the second.
constexpr std::int64_t kFirstSteps = 16;
constexpr std::int64_t kSecondSteps = 40;
// Where more are needed, squaring may take less.
constexpr std::int64_t kMostSteps = 400;

/// Adds up survival over all sources and times: see TruncatedSum, which does so for every node.
class SurvivalTotal {
 public:
  SurvivalTotal(const StepWeights& walk, std::int64_t cutoff)
      : walk_(walk),
        cutoff_(cutoff),
        sources_(walk.rows.rows - 1),
        memory_(4 * static_cast<std::size_t>(walk.rows.rows)) {}

  std::optional<double> run();

 private:
  bool set_factors();
  void add_panel(const Propagation& states);
  bool add_rest(const Propagation& states);
  double all_later(const Propagation& states, int active);

  double* part(int index) { return memory_.data() + std::ptrdiff_t{index} * walk_.rows.rows; }

  const StepWeights& walk_;
  std::int64_t cutoff_;
  int sources_;
  ScratchVector<double> memory_;
  int first_moving_ = 0;  // nodes before this one are never left
  double sum_ = 0.0;
};

/// The factors of the propagation. Is there one for every node?
bool SurvivalTotal::set_factors() {
  double* scale = part(0);
  double* stay = part(1);
  bool safe = true;
  for (int j = 0; j < sources_; ++j) {
    const double forward = walk_.forward[j];
    safe = safe && (!(forward > 0.0) || in_safe_range(walk_.mass[j]));
    scale[j] = forward > 0.0 ? 1.0 / walk_.mass[j] : 0.0;
    // A node that is seldom left needs a sum of one more than a precise diagonal: nothing may get
    // lost in any of many steps.
    const double leave = forward * scale[j];
    stay[j] = leave <= 0.5 ? 1.0 - leave : walk_.rows(j, j) * scale[j];
  }
  while (first_moving_ < sources_ && !(walk_.forward[first_moving_] > 0.0)) ++first_moving_;
  return safe;
}

void SurvivalTotal::add_panel(const Propagation& states) {
  if (states.time() <= cutoff_) {
    sum_ += states.panel_total();
    return;
  }
  const auto count = static_cast<int>(cutoff_ - states.time()) + states.length();
  double panel = 0.0;
  for (int j = 0; j < states.active(); ++j) {
    double node = 0.0;  // small numbers first: the sum of all is large
    states.find(j, 0, count, [&](double value) {
      node += value;
      return false;
    });
    panel += node;
  }
  sum_ += panel;
}

/// The sum over all times from now on at the moving nodes, by back substitution.
double SurvivalTotal::all_later(const Propagation& states, int active) {
  double* factor = part(2);
  double* later = part(3);
  for (int j = first_moving_; j < active; ++j) {
    factor[j] = 1.0 / walk_.forward[j];
    later[j] = walk_.mass[j] * states.current(j);
  }
  kernels().solve_upper(walk_.rows, factor, first_moving_, active, later);
  return total(later + first_moving_, active - first_moving_);
}

/// Adds what is left up to the cutoff and returns true if it is known: for the reasons, see
/// TruncatedSum::add_rest().
bool SurvivalTotal::add_rest(const Propagation& states) {
  const auto left = static_cast<double>(cutoff_ - states.time());
  const int last = states.length() - 1;  // the place of the state before the newest, too
  int active = states.active();
  while (active > 0 && left * left * states.unordered(active - 1)[last] < 0x1.0p-54) --active;
  double low = 1.0;
  double high = 0.0;
  double now = 0.0;
  for (int j = first_moving_; j < active; ++j) {
    const double ratio = states.current(j) / states.unordered(j)[last];
    low = std::min(low, ratio);
    high = std::max(high, ratio);
    now += states.current(j);
  }
  const double never = left * std::min(first_moving_, active);
  const double share = now / sum_;
  // Closer than there, since what a mean lacks of the cutoff may be a small part of it.
  constexpr double kAccuracy = 0x1.0p-50;
  constexpr double kRatio = 0x1.0p-53;
  constexpr double kRounding = 0x1.0p-50;
  if (share * (high - low) * left * left / 2.0 <= kAccuracy &&
      share * kRatio * left * left / 2.0 <= kRounding) {
    double powers = 0.0;
    for (std::int64_t t = states.time(); t < cutoff_; ++t)
      powers = 1.0 + (low + high) / 2.0 * powers;
    sum_ += now * powers + never;
    return true;
  }
  const double most = std::pow(high, left);
  const double least = std::pow(low, left);
  if (most <= 0.5 && share * (most - least) <= kAccuracy * (1.0 - high) &&
      share * most * left * kRatio <= kRounding * (1.0 - high)) {
    sum_ += (1.0 - (most + least) / 2.0) * all_later(states, active) + never;
    return true;
  }
  return false;
}

std::optional<double> SurvivalTotal::run() {
  if (sources_ == 0 || cutoff_ <= 0) return 0.0;
  if (!set_factors()) return std::nullopt;
  ConstMatrixView among_sources = walk_.rows;
  among_sources.rows = among_sources.cols = sources_;
  std::fill_n(part(2), sources_, 1.0);
  Propagation states(among_sources, part(0), part(1), part(2));
  states.flush_tiny();  // every node's sum is at least one
  for (;;) {
    const std::int64_t time = states.time();
    const std::int64_t until = time < kFirstSteps    ? kFirstSteps
                               : time < kSecondSteps ? kSecondSteps
                                                     : cutoff_;
    states.advance(std::min(until, cutoff_) - time);
    add_panel(states);
    if (states.time() >= cutoff_ || add_rest(states)) break;
    if (states.time() >= kMostSteps) return std::nullopt;
    int active = states.active();  // beyond, what is left is lost in rounding
    const auto left = static_cast<double>(cutoff_ - states.time());
    while (active > 0 && left * states.current(active - 1) < 0x1.0p-54) --active;
    states.restrict_to(active);
  }
  return sum_ / walk_.rows.rows;
}

}  // namespace

std::optional<double> truncated_mean(const StepWeights& walk, std::int64_t cutoff) {
  return SurvivalTotal(walk, cutoff).run();
}

}  // namespace synergraph

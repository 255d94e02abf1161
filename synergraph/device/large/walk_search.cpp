#include "synergraph/device/large/walk_search.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "synergraph/chain/bounds.h"
#include "synergraph/chain/mixing_rules.h"
#include "synergraph/chain/truncation_rules.h"
#include "synergraph/core/special_values.h"

namespace synergraph::large {
namespace {

constexpr double kNotKnown = std::numeric_limits<double>::quiet_NaN();

double leave_of(double forward, double mass) {
  return mass > 0.0 ? forward / mass : 0.0;
}

}  // namespace

bool OperatorSums::has_trap() const {
  return (!missing.empty() && !(missing_forward > 0.0)) ||
         std::any_of(forward.begin(), forward.end() - 1, [](double sum) { return !(sum > 0.0); });
}

WalkSearch::WalkSearch(const OperatorSums& sums, const std::vector<double>& eps,
                       std::int64_t cutoff)
    : sums_(sums),
      eps_(eps),
      cutoff_(cutoff),
      mixing_(eps.size(), kNotKnown),
      truncated_(static_cast<std::size_t>(nodes()), 0.0),
      summed_(cutoff <= 0) {
  const auto is_stuck = [&](int j) {
    return !((j < extra() ? sums.missing_forward
                          : sums.forward[static_cast<std::size_t>(j - extra())]) > 0.0);
  };
  while (stuck_ + 1 < nodes() && is_stuck(stuck_)) ++stuck_;
  if (stuck_ > 0) never_arrives(0);
}

void WalkSearch::never_arrives(int worst_node) {
  std::fill(mixing_.begin(), mixing_.end(), kInfinity);
  hitting_.mean = hitting_.max = kInfinity;
  hitting_.worst_node = worst_node;
}

std::int64_t WalkSearch::most_steps() const {
  return std::max<std::int64_t>(400, 4LL * nodes());
}

bool WalkSearch::is_open() const {
  return std::any_of(mixing_.begin(), mixing_.end(), [](double t) { return std::isnan(t); });
}

bool WalkSearch::wants_panel() const {
  return !failed_ && (!summed_ || (!slow_ && is_open()));
}

std::vector<double> WalkSearch::open_eps() const {
  std::vector<double> open;
  for (std::size_t k = 0; k < eps_.size(); ++k)
    if (std::isnan(mixing_[k])) open.push_back(eps_[k]);
  return open;
}

int WalkSearch::count() const {
  return summed_ ? 0 : static_cast<int>(std::min<std::int64_t>(kSteps, cutoff_ - time_));
}

double WalkSearch::mixing(double eps) const {
  return mixing_[static_cast<std::size_t>(std::find(eps_.begin(), eps_.end(), eps) - eps_.begin())];
}

void WalkSearch::take_mixing(const std::vector<double>& times) {
  std::size_t next = 0;
  for (double& time : mixing_)
    if (std::isnan(time)) time = times[next++];
}

/// The first of the nodes that may end where they would be for ever.
void WalkSearch::take_trapped(const double* trapped) {
  if (stuck_ > 0) return;
  double ends = 0.0;
  for (std::size_t i = 0; i < sums_.missing.size(); ++i) ends += sums_.missing[i] * trapped[i];
  if (ends > 0.0) return never_arrives(0);
  const double* const first = std::find_if(trapped, trapped + sums_.column.size(),
                                           [](double chance) { return chance > 0.0; });
  never_arrives(extra() + static_cast<int>(first - trapped));
}

void WalkSearch::take_hitting(const double* times) {
  if (sums_.has_trap()) return take_trapped(times);
  std::vector<double> all(times, times + sums_.column.size());
  if (extra() == 1) {
    double flow = sums_.missing_mass;
    for (std::size_t i = 0; i < all.size(); ++i) flow += sums_.missing[i] * all[i];
    all.insert(all.begin(), flow / sums_.missing_forward);
  }
  hitting_ = summarise_hitting(std::move(all));
  failed_ = failed_ || !(hitting_.max < 1e300);
  const auto most = static_cast<double>(most_steps());
  for (const double eps : eps_) slow_ = slow_ || (1.0 - eps) * hitting_.max > most;
}

/// The survivals of the node for missing mass, from the panel's first step to the one behind it.
void WalkSearch::step_missing(const SurvivalPanel& panel, double (&states)[kSteps + 1]) {
  const double leave = sums_.missing_forward / sums_.missing_mass;
  const double stay = leave <= 0.5 ? 1.0 - leave : sums_.missing_own / sums_.missing_mass;
  states[0] = missing_now_;
  for (int t = 0; t < kSteps; ++t)
    states[t + 1] = panel.missing[t] / sums_.missing_mass + stay * states[t];
  missing_before_ = states[kSteps - 1];
  missing_now_ = states[kSteps];
}

void WalkSearch::take_panel(const SurvivalPanel& panel) {
  double missing[kSteps + 1] = {};
  if (extra() == 1) step_missing(panel, missing);
  for (std::size_t k = 0; k < eps_.size(); ++k) {
    if (!std::isnan(mixing_[k])) continue;
    const mixing_rules::Threshold threshold(eps_[k]);
    for (int t = time_ == 0 ? 0 : 1; t <= kSteps; ++t) {
      if (!threshold.met(std::max(panel.worst[t], missing[t]))) continue;
      mixing_[k] = static_cast<double>(time_ + t);
      break;
    }
  }
  if (!summed_) {
    for (int t = 0; t < count() && extra() == 1; ++t) truncated_.front() += missing[t];
    for (std::size_t j = 0; j < sums_.column.size(); ++j)
      truncated_[j + static_cast<std::size_t>(extra())] += panel.sum[j];
  }
  time_ += kSteps;
  summed_ = summed_ || time_ >= cutoff_ || add_rest(panel);
  const bool late = time_ >= most_steps();
  slow_ = slow_ || late;
  failed_ = failed_ || (late && !summed_);
}

/// What is left of the truncated sums, where it is known: see TruncatedSum::add_rest().
bool WalkSearch::add_rest(const SurvivalPanel& panel) {
  const auto left = static_cast<double>(cutoff_ - time_);
  const auto previous = [&](int j) {
    return j < extra() ? missing_before_ : panel.previous[j - extra()];
  };
  const auto after = [&](int j) { return j < extra() ? missing_now_ : panel.after[j - extra()]; };
  int active = nodes() - 1;
  while (active > 0 && truncation_rules::is_lost(previous(active - 1), left * left)) --active;
  truncation_rules::Shrinking shrinking;
  for (int j = stuck_; j < active; ++j)
    shrinking.look_at(after(j), previous(j), truncated_[static_cast<std::size_t>(j)]);
  if (!truncation_rules::powers_give_rest(shrinking, left)) return false;
  const double powers =
      truncation_rules::geometric_sum((shrinking.low + shrinking.high) / 2.0, cutoff_ - time_);
  for (int j = 0; j < active; ++j)
    truncated_[static_cast<std::size_t>(j)] += after(j) * (j < stuck_ ? left : powers);
  return true;
}

void WalkSearch::write(Metrics& metrics, const WalkOptions& options) const {
  double least = extra() == 1 ? sums_.missing_forward / sums_.missing_mass : 1.0;
  for (std::size_t j = 0; j + 1 < sums_.column.size(); ++j)
    least = std::min(least, leave_of(sums_.forward[j], sums_.column[j]));
  metrics.forward_probability = least;
  metrics.bound = mixing_bound(nodes(), least);
  metrics.walk.hitting = hitting_;
  metrics.walk.hitting.node.clear();
  metrics.walk.truncated = summarise_hitting(truncated_);
  metrics.walk.truncated.node.clear();
  metrics.walk.mixing.clear();
  for (const double eps : options.eps) metrics.walk.mixing.push_back(mixing(eps));
}

}  // namespace synergraph::large

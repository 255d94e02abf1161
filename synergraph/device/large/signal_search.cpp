#include "synergraph/device/large/signal_search.h"

#include <algorithm>
#include <cmath>

#include "synergraph/core/special_values.h"
#include "synergraph/diffusion/minimax_nodes.h"
#include "synergraph/diffusion/peak_rules.h"

namespace synergraph::large {

SignalSearch::SignalSearch(const OperatorSums& sums, const FidelityOptions& options)
    : sums_(sums),
      nodes_(static_cast<int>(sums.column.size()) + extra()),
      horizon_(options.horizon),
      chosen_(minimax_nodes(options, nodes_)),
      phi_(static_cast<std::size_t>(nodes_), 0.0),
      timed_(phi_.size(), 0.0),
      at_(phi_.size(), 1.0),
      now_(phi_.size(), 0.0),
      failed_(!fixed() && !sums.all_go_down),
      done_(chosen_.empty()) {
  // All of the signal ends at the first node.
  if (!fixed()) phi_.front() = 1.0;
}

int SignalSearch::last() const {
  if (!fixed()) return kSteps;
  return static_cast<int>(std::min<std::int64_t>(kSteps, horizon_ - time_));
}

void SignalSearch::look_at(int j, double value, double time, double rounding) {
  const auto k = static_cast<std::size_t>(j);
  phi_[k] = std::max(phi_[k], value);
  if (!peak_rules::is_above(value, timed_[k], rounding)) return;
  timed_[k] = value;
  at_[k] = time;
}

/// The node for missing mass keeps what it gets: its signal grows.
void SignalSearch::step_missing(const SignalPanel& panel) {
  double states[kSteps + 1];
  states[0] = now_.front();
  for (int t = 0; t < kSteps; ++t) states[t + 1] = states[t] + panel.missing[t];
  now_.front() = states[kSteps];
  if (!fixed()) return;
  const double most = states[last()];
  int place = 0;
  while (states[place] < most * (1.0 - peak_rules::kRounding)) ++place;
  look_at(0, most, static_cast<double>(time_ + place), peak_rules::kRounding);
}

void SignalSearch::take_panel(const SignalPanel& panel) {
  const bool limited = last() < kSteps;
  const double* const peak = limited ? panel.limited_peak : panel.peak;
  const int* const place = limited ? panel.limited_place : panel.place;
  if (extra() == 1) step_missing(panel);
  for (int j = fixed() ? extra() : 1; j < nodes_; ++j) {
    const double most = peak[j - extra()];
    if (most > phi_[static_cast<std::size_t>(j)])
      look_at(j, most, static_cast<double>(time_ + place[j - extra()]), peak_rules::kRounding);
  }
  std::copy(panel.after, panel.after + sums_.column.size(), now_.begin() + extra());
  time_ += kSteps;
  decide();
}

int SignalSearch::weakest() const {
  double least = kInfinity;
  for (const int j : chosen_) least = std::min(least, phi_[static_cast<std::size_t>(j)]);
  auto first = chosen_.begin();
  while (!peak_rules::is_smallest(phi_[static_cast<std::size_t>(*first)], least)) ++first;
  return *first;
}

/// Whether no later signal of the node is larger: by what is left at it and above, or by the part
/// of that which will ever be passed on to it.
bool SignalSearch::is_final(int j) const {
  if (is_known(j)) return true;
  double above = 0.0;
  double ever = 0.0;
  for (int i = j; i < nodes_; ++i) {
    const auto at = static_cast<std::size_t>(i);
    above += now_[at];
    if (passed_to_ == j) ever += now_[at] * passing_[at];
  }
  const double phi = phi_[static_cast<std::size_t>(j)];
  return peak_rules::is_final(above, phi) || (passed_to_ == j && peak_rules::is_final(ever, phi));
}

void SignalSearch::decide() {
  const int j = weakest();
  done_ = is_final(j) || (fixed() && time_ >= horizon_);
  // Few steps are left to a horizon: sharper bounds do not pay.
  asked_ = fixed() || passed_to_ == j;
  slow_ = !fixed() && asked_ && time_ >= peak_rules::steps_before_powers(nodes_);
  // When the last signal has arrived at the first node, only the CPU knows.
  failed_ = failed_ || (done_ && is_known(j) && !(sums_.diagonal.back() > 0.0));
}

void SignalSearch::take_passing(const std::vector<double>& passing) {
  passing_.assign(static_cast<std::size_t>(extra()), 0.0);
  passing_.insert(passing_.end(), passing.begin(), passing.end());
  passed_to_ = weakest();
  decide();
}

void SignalSearch::search_slowly(SlowSignal& slow) {
  std::vector<Peak> peaks;
  peaks.reserve(static_cast<std::size_t>(nodes_));
  for (int j = 0; j < nodes_; ++j)
    peaks.push_back({phi_[static_cast<std::size_t>(j)], at_[static_cast<std::size_t>(j)], 1.0});
  std::vector<bool> final(phi_.size(), false);
  final.front() = true;
  follow_smallest(
      slow, static_cast<double>(time_), nodes_, [&] { return weakest(); },
      [&](int j) { return is_known(j); },
      [&](int j, double enough) {
        const auto at = static_cast<std::size_t>(j);
        const Peak peak =
            slow.peak(j, static_cast<double>(time_), {phi_[at], at_[at], 1.0}, enough);
        phi_[at] = timed_[at] = peak.value;
        at_[at] = peak.time;
        final[at] = peak.upper == peak.value;
        return final[at] ? phi_[at] : kInfinity;
      },
      [&](int j, double value, double time) {
        if (j > 0) look_at(j, value, time, SlowSignal::kPrecision);
      });
  done_ = final[static_cast<std::size_t>(weakest())];
  failed_ = failed_ || !done_;
  latest_ = slow.latest();
}

void SignalSearch::write(Fidelity& fidelity) const {
  const auto steps = static_cast<double>(fixed() ? std::min(time_, horizon_) : time_);
  fidelity.steps = std::max(steps, latest_);
  fidelity.certified = !fixed();
  if (chosen_.empty()) return;
  const int j = weakest();
  fidelity.minimax_node = j;
  fidelity.minimax = fidelity.minimax_upper = phi_[static_cast<std::size_t>(j)];
  fidelity.minimax_time = is_known(j) ? kInfinity : at_[static_cast<std::size_t>(j)];
}

}  // namespace synergraph::large

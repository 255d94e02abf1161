#include "synergraph/diffusion/fidelity_tracker.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "synergraph/core/array_math.h"
#include "synergraph/core/error.h"
#include "synergraph/core/special_values.h"
#include "synergraph/diffusion/absorption.h"
#include "synergraph/diffusion/minimax_nodes.h"
#include "synergraph/diffusion/peak_rules.h"

namespace synergraph {
namespace {

using peak_rules::kFirstSteps;
using peak_rules::kRounding;

}  // namespace

FidelityTracker::FidelityTracker(ConstMatrixView diffusion, const Propagation& states,
                                 const FidelityOptions& options, const Execution& execution,
                                 std::unique_ptr<SlowSignal>& slow)
    : options_(options),
      execution_(execution),
      diffusion_(diffusion),
      states_(states),
      slow_(slow),
      active_(diffusion.rows) {
  if (options.horizon < 0)
    throw UsageError(fmt::format("a horizon is not negative: {}", options.horizon));
  const auto n = static_cast<std::size_t>(diffusion.rows);
  result_.node.assign(n, 0.0);
  result_.node_upper.assign(n, 1.0);
  result_.optimal_time.assign(n, 1.0);
  timed_.assign(n, 0.0);
  if (fixed())
    supremum_.assign(n, std::numeric_limits<double>::quiet_NaN());
  else
    supremum_ = absorption_probability(diffusion_);
  chosen_ = minimax_nodes(options, diffusion.rows);
}

std::int64_t FidelityTracker::most_steps() const {
  return limited() ? options_.step_limit : peak_rules::steps_before_powers(nodes());
}

std::int64_t FidelityTracker::steps_left() const {
  const std::int64_t last = fixed() ? options_.horizon : options_.step_limit;
  const std::int64_t useful = std::min<std::int64_t>(last - states_.time(), Propagation::panel());
  // A minimax is mostly final after a few steps, so do not begin with a whole panel.
  // With a step limit never: panels that are cut elsewhere round elsewhere, and the interval is to
  // be the same whether every node is asked for or not.
  const bool minimax = fixed() ? options_.minimax_alone : !options_.every_node || limited();
  return minimax && states_.time() == 0 ? std::min<std::int64_t>(useful, kFirstSteps) : useful;
}

/// Node j's fidelity is what has been found, for all times.
void FidelityTracker::set_final(int j) {
  const auto at = static_cast<std::size_t>(j);
  final_.resize(result_.node.size(), false);
  final_[at] = true;
  result_.node_upper[at] = result_.node[at];
}

void FidelityTracker::look_at(int j, double value, double time, double rounding) {
  phi(j) = std::max(phi(j), value);
  double& timed = timed_[static_cast<std::size_t>(j)];
  if (peak_rules::is_above(value, timed, rounding)) {
    timed = value;
    result_.optimal_time[static_cast<std::size_t>(j)] = time;
  }
}

/// Maxima over the newest panel's states at times 1 .. limit, and over the state after it.
void FidelityTracker::look_at_panel(std::int64_t limit) {
  const int length = states_.length();
  const std::int64_t begin = states_.time() - length;
  const auto last = static_cast<int>(std::min<std::int64_t>(length, limit - begin));
  for (int j = 0; j < states_.active(); ++j) {
    // The start, t = 0, does not count; only at the sink is it not zero.
    const int first = begin == 0 && j == nodes() - 1 ? 1 : 0;
    const double after = last == length ? states_.current(j) : 0.0;
    double inside = 0.0;  // the largest of the panel itself
    if (first == 0 && last == length) {
      inside = largest(states_.unordered(j), length, inside);
    } else {
      const int end = last == length ? length : last + 1;
      states_.find(j, first, end, [&](double value) {
        inside = std::max(inside, value);
        return false;
      });
    }
    const double most = std::max(inside, after);
    if (!(most > phi(j))) continue;
    const double tie = most * (1.0 - kRounding);
    const auto reaches = [&](double value) { return value >= tie; };
    const int place = inside < tie ? length : states_.find(j, first, length, reaches);
    look_at(j, most, static_cast<double>(begin + place), kRounding);
  }
  result_.steps = static_cast<double>(std::min(states_.time(), limit));
}

/// Can no node's maximum change any more, within rounding?
bool FidelityTracker::all_final() const {
  double above = 0.0;  // S_j: the signal at nodes >= j
  for (int j = states_.active() - 1; j >= 0; --j) {
    above += states_.current(j);
    if (!peak_rules::is_final(above, result_.node[static_cast<std::size_t>(j)])) return false;
  }
  return true;
}

/// What is left above node `active_` is lost in the rounding of every maximum below it.
void FidelityTracker::drop_dead_nodes() {
  double smallest = kInfinity;
  for (int j = 0; j < active_; ++j) smallest = std::min(smallest, phi(j));
  double above = 0.0;
  while (active_ > 0 && above + states_.current(active_ - 1) <= 0x1.0p-56 * smallest)
    above += states_.current(--active_);
}

double FidelityTracker::least() const {
  double least = kInfinity;
  for (int j = 0; j < nodes(); ++j) least = std::min(least, lower(j));
  return least;
}

/// The first of the chosen nodes whose fidelity so far is, within rounding, the smallest.
int FidelityTracker::smallest() const {
  const auto count = static_cast<int>(chosen_.size());
  const bool first_nodes = chosen_.back() + 1 == count;  // mostly: no need for the list
  const auto value = [&](int k) {
    return lower(first_nodes ? k : chosen_[static_cast<std::size_t>(k)]);
  };
  double least = kInfinity;
  for (int k = 0; k < count; ++k) least = std::min(least, value(k));
  int first = 0;
  while (!peak_rules::is_smallest(value(first), least)) ++first;
  return chosen_[static_cast<std::size_t>(first)];
}

/// Is node j's fidelity final? Tightens its upper bound in any case.
bool FidelityTracker::certify(int j) {
  if (is_final(j)) return true;
  double& upper = result_.node_upper[static_cast<std::size_t>(j)];
  double above = 0.0;
  for (int i = j; i < nodes(); ++i) above += signal(i);
  upper = std::min(upper, above);
  if (upper > phi(j)) {
    if (passed_to_ != j) {
      execution_.check();
      passing_ = passing_probability(diffusion_, j);
      passed_to_ = j;
    }
    double ever = 0.0;
    for (int i = j; i < nodes(); ++i) ever += signal(i) * passing_[static_cast<std::size_t>(i)];
    upper = std::min(upper, ever);
  }
  if (!peak_rules::is_final(upper, phi(j))) return false;
  upper = phi(j);
  if (options_.every_node) set_final(j);
  return true;
}

/// Are all nodes final? The sharper bounds of all of them cost much: they are asked for at times
/// that double.
bool FidelityTracker::certify_every() {
  bool all = true;
  double above = 0.0;
  for (int j = nodes() - 1; j >= 0; --j) {
    above += signal(j);
    if (!is_final(j) && peak_rules::is_final(above, phi(j))) set_final(j);
    all = all && is_final(j);
  }
  if (all || states_.time() < next_look_) return all;
  next_look_ = 2 * states_.time();
  all = true;
  for (int j = 0; j < nodes(); ++j) all = certify(j) && all;
  return all;
}

/// Is the node that attains the minimax final?
bool FidelityTracker::certify_minimax() {
  return chosen_.empty() || certify(smallest());
}

void FidelityTracker::look() {
  if (fixed()) {
    look_at_panel(options_.horizon);
    done_ = states_.time() >= options_.horizon ||
            (options_.minimax_alone ? certify_minimax() : all_final());
    if (!done_ && !options_.minimax_alone) drop_dead_nodes();
  } else {
    // A panel ends at whole registers: what lies behind the step limit is not looked at.
    const std::int64_t until = std::min(states_.time(), options_.step_limit);
    beyond_ = static_cast<int>(states_.time() - until);
    look_at_panel(until);
    settled_ = options_.every_node ? certify_every() : certify_minimax();
    done_ = settled_ || until >= most_steps();
  }
}

/// The peak of node j over all times that were not stepped through. Is it final?
bool FidelityTracker::peak_slowly(int j, double enough) {
  if (is_final(j)) return true;
  const auto at = static_cast<std::size_t>(j);
  const Peak before{phi(j), result_.optimal_time[at], result_.node_upper[at]};
  const Peak peak = slow_->peak(j, static_cast<double>(states_.time()), before, enough);
  phi(j) = timed_[at] = peak.value;
  result_.optimal_time[at] = peak.time;
  result_.node_upper[at] = std::max(peak.upper, peak.value);
  if (peak.upper == peak.value) set_final(j);
  return is_final(j);
}

/// Certifies by powers what stepping did not, and bounds the other nodes.
void FidelityTracker::search_slowly() {
  if (!slow_) slow_ = std::make_unique<SlowSignal>(diffusion_, execution_);
  if (options_.every_node) {
    for (int j = 0; j < nodes(); ++j) peak_slowly(j, kInfinity);
  } else {
    follow_smallest(
        *slow_, static_cast<double>(states_.time()), nodes(), [&] { return smallest(); },
        [&](int j) { return known(j); },
        [&](int j, double enough) { return peak_slowly(j, enough) ? lower(j) : kInfinity; },
        [&](int j, double value, double time) { look_at(j, value, time, SlowSignal::kPrecision); });
  }
  settled_ = chosen_.empty() || is_final(smallest());
  const std::vector<double> bounds = slow_->bounds(static_cast<double>(states_.time()));
  for (int j = 0; j < nodes(); ++j) {
    double& upper = result_.node_upper[static_cast<std::size_t>(j)];
    if (!is_final(j))
      upper = std::max(phi(j), std::min(upper, bounds[static_cast<std::size_t>(j)]));
  }
  result_.steps = std::max(result_.steps, slow_->latest());
}

/// Final values and bounds of all nodes, from the last state.
void FidelityTracker::close_bounds() {
  // A node that keeps what it gets has its supremum when the last has arrived. A sink that keeps a
  // part of what it has never stops sending, as mostly.
  const int sink = nodes() - 1;
  const bool endless = fixed() || (diffusion_(sink, sink) > 0.0 && !known(sink));
  const std::vector<double> last = endless ? std::vector<double>() : last_arrival(diffusion_);
  double above = 0.0;
  for (int j = sink; j >= 0; --j) {
    const auto at = static_cast<std::size_t>(j);
    above += signal(j);
    if (known(j)) {
      const double arrived = !endless ? last[at] : supremum_[at] > 0.0 ? kInfinity : 0.0;
      result_.node[at] = result_.node_upper[at] = supremum_[at];
      result_.optimal_time[at] = std::max(1.0, arrived);
    } else if (!is_final(j)) {
      result_.node_upper[at] = std::max(phi(j), std::min(result_.node_upper[at], above));
    }
  }
}

/// What the minimax cannot exceed, by the signal at the step limit alone: every node's S_j, and for
/// the nodes that are the weakest so far the sharper bound. These are as many as steps were taken,
/// so that they cost no more than the steps did. The bounds of nodes that other looks sharpened do
/// not count: the result is the same whatever else is asked for.
double FidelityTracker::bound_minimax() {
  std::vector<int> weakest = chosen_;
  std::stable_sort(weakest.begin(), weakest.end(),
                   [&](int a, int b) { return lower(a) < lower(b); });
  double bound = kInfinity;
  double above = 0.0;
  auto next = chosen_.rbegin();
  for (int j = nodes() - 1; j >= 0 && next != chosen_.rend(); --j) {
    above += signal(j);
    if (j != *next) continue;
    bound = std::min(bound, known(j) ? lower(j) : std::max(lower(j), above));
    ++next;
  }
  constexpr double kLeastNodes = 64.0;
  const double most = std::max(kLeastNodes, result_.steps);
  for (std::size_t k = 0; k < weakest.size() && static_cast<double>(k) < most; ++k) {
    const int j = weakest[k];
    if (lower(j) >= bound) break;
    bound =
        std::min(bound, certify(j) ? lower(j) : result_.node_upper[static_cast<std::size_t>(j)]);
  }
  return bound;
}

void FidelityTracker::finish() {
  double bound = kInfinity;  // of the minimax
  if (fixed() && !options_.minimax_alone) {
    result_.steps = static_cast<double>(options_.horizon);
    result_.node_upper = result_.node;
  } else if (!fixed() && !settled_ && limited()) {
    for (int j = 0; j < nodes(); ++j)
      if (!is_final(j)) result_.node_upper[static_cast<std::size_t>(j)] = 1.0;
    bound = bound_minimax();
    for (int j = 0; options_.every_node && j < nodes(); ++j) certify(j);
    close_bounds();
  } else {
    if (!fixed() && !settled_) search_slowly();
    close_bounds();
  }
  // Powers that were looked at last may have raised a node by a rounding.
  for (std::size_t at = 0; at < result_.node.size(); ++at)
    result_.node_upper[at] = std::max(result_.node_upper[at], result_.node[at]);
  result_.certified = !fixed() && settled_;
  if (chosen_.empty()) return;
  const int j = smallest();
  result_.minimax = lower(j);
  result_.minimax_node = j;
  result_.minimax_time = result_.optimal_time[static_cast<std::size_t>(j)];
  if (settled_ || fixed()) {
    result_.minimax_upper = result_.minimax;
    return;
  }
  if (!limited()) {
    for (const int chosen : chosen_)
      bound = std::min(bound, result_.node_upper[static_cast<std::size_t>(chosen)]);
  }
  result_.certified = peak_rules::is_final(bound, result_.minimax);
  result_.minimax_upper = result_.certified ? result_.minimax : bound;
}

}  // namespace synergraph

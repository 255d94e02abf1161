#include "synergraph/chain/survival_sweep.h"

#include <algorithm>
#include <cmath>

#include "synergraph/chain/truncation_rules.h"
#include "synergraph/chain/walk_powers.h"
#include "synergraph/core/array_math.h"

namespace synergraph {
namespace {

/// The walk among the sources: all nodes but the sink.
ConstMatrixView among_sources(const Walk& walk) {
  ConstMatrixView view = walk.step.view();
  view.rows = view.cols = walk.sink();
  return view;
}

/// n^2 a step against n^3 / 3 a squaring, of which the cutoff needs one a bit.
std::int64_t steps_before_squaring(int nodes, std::int64_t cutoff) {
  const double squarings = std::log2(static_cast<double>(std::max<std::int64_t>(cutoff, 2)));
  return std::max<std::int64_t>(400, static_cast<std::int64_t>(nodes * squarings / 3.0));
}

/// sum over t < cutoff of P^t s_0. With S(m) the sum over t < m, S(a + b) = S(a) + P^a S(b): bit by
/// bit of the cutoff, S(2^k) being doubled on the way. Nothing is subtracted.
std::vector<double> truncated_by_squaring(const Walk& walk, std::int64_t cutoff,
                                          const Execution& execution) {
  WalkPowers powers(walk, WalkPowers::Keep::kOne, execution);
  std::vector<double> doubled(static_cast<std::size_t>(walk.nodes()), 1.0);  // S(2^k)
  doubled.back() = 0.0;
  std::vector<double> sum(doubled.size(), 0.0);  // S(the lower bits)
  std::vector<double> later(doubled.size());
  const auto add_later = [&](const std::vector<double>& of, std::vector<double>& to) {
    powers.multiply(powers.top_level(), of.data(), later.data());
    for (std::size_t j = 0; j < to.size(); ++j) to[j] = doubled[j] + later[j];
  };
  for (auto bits = static_cast<std::uint64_t>(cutoff);;) {
    if ((bits & 1U) != 0) add_later(sum, sum);
    bits >>= 1U;
    if (bits == 0) return sum;
    add_later(doubled, doubled);
    powers.climb();
    // All have arrived: what is left changes no digit.
    const std::vector<double> survival = powers.survival();
    if (*std::max_element(survival.begin(), survival.end()) * static_cast<double>(cutoff) <
        0x1.0p-54)
      return doubled;
  }
}

}  // namespace

SurvivalSweep::SurvivalSweep(const Walk& walk, double start)
    : walk_(walk),
      start_(static_cast<std::size_t>(walk.nodes()), start),
      states_(among_sources(walk), start_.data()) {
  while (first_moving_ < walk.sink() && walk.leave[static_cast<std::size_t>(first_moving_)] == 0.0)
    ++first_moving_;
}

double SurvivalSweep::worst(int k) const {
  // Four maxima side by side: one would wait for itself at every node.
  double worst[4] = {};
  int j = 0;
  for (; j + 4 <= states_.active(); j += 4)
    for (int part = 0; part < 4; ++part)
      worst[part] = std::max(worst[part], states_.at(j + part, k));
  for (; j < states_.active(); ++j) worst[0] = std::max(worst[0], states_.at(j, k));
  return std::max(std::max(worst[0], worst[1]), std::max(worst[2], worst[3]));
}

double SurvivalSweep::worst_current() const {
  double worst = 0.0;
  for (int j = 0; j < states_.active(); ++j) worst = std::max(worst, states_.current(j));
  return worst;
}

double SurvivalSweep::mean(int k) const {
  double sum[4] = {};
  int j = 0;
  for (; j + 4 <= states_.active(); j += 4)
    for (int part = 0; part < 4; ++part) sum[part] += states_.at(j + part, k);
  for (; j < states_.active(); ++j) sum[0] += states_.at(j, k);
  return ((sum[0] + sum[1]) + (sum[2] + sum[3])) / static_cast<double>(walk_.nodes());
}

TruncatedSum::TruncatedSum(int nodes, std::int64_t cutoff, const Execution& execution)
    : cutoff_(cutoff),
      patience_(steps_before_squaring(nodes, cutoff)),
      execution_(execution),
      sum_(static_cast<std::size_t>(nodes), 0.0),
      complete_(cutoff <= 0 || nodes < 2) {}

void TruncatedSum::add(const SurvivalSweep& sweep) {
  add_panel(sweep.states());
  const std::int64_t time = sweep.states().time();
  complete_ = time >= cutoff_ || add_rest(sweep);
  if (complete_ || time < patience_ || cutoff_ - time < patience_) return;
  sum_ = truncated_by_squaring(sweep.walk(), cutoff_, execution_);
  complete_ = true;
}

void TruncatedSum::add_panel(const Propagation& states) {
  const std::int64_t begin = states.time() - states.length();
  const auto count = static_cast<int>(std::min<std::int64_t>(states.length(), cutoff_ - begin));
  for (int j = 0; j < states.active(); ++j) {
    double& sum = sum_[static_cast<std::size_t>(j)];
    if (count == states.length()) {
      sum += total(states.unordered(j), count);
    } else {
      states.find(j, 0, count, [&](double value) {
        sum += value;
        return false;
      });
    }
  }
}

// A survivor that the last nodes pass down is one of theirs: lower nodes lose no more by leaving it
// out.
int TruncatedSum::active(const SurvivalSweep& sweep) const {
  const Propagation& states = sweep.states();
  const auto left = static_cast<double>(cutoff_ - states.time());
  int active = states.active();
  while (active > 0 && truncation_rules::is_lost(states.current(active - 1), left)) --active;
  return active;
}

/// Survival soon shrinks by the slowest node's factor everywhere, and what is left of the sum is
/// known to rounding, in one of two ways. Adds it and returns true if it is.
bool TruncatedSum::add_rest(const SurvivalSweep& sweep) {
  const Propagation& states = sweep.states();
  const int last = states.length() - 1;
  const auto left = static_cast<double>(cutoff_ - states.time());
  int active = states.active();  // beyond: died out even before the last step
  while (active > 0 && truncation_rules::is_lost(states.at(active - 1, last), left * left))
    --active;
  truncation_rules::Shrinking shrinking;
  for (int j = sweep.first_moving(); j < active; ++j)
    shrinking.look_at(states.current(j), states.at(j, last), sum_[static_cast<std::size_t>(j)]);
  if (truncation_rules::powers_give_rest(shrinking, left)) {
    add_powers(sweep, active, (shrinking.low + shrinking.high) / 2.0);
    return true;
  }
  // The sum over all times from T on is at most s_T / (1 - high); its part from the cutoff on is
  // the whole times a number between low^left and high^left.
  const auto [low, high, share] = shrinking;
  const double most = std::pow(high, left);
  const double least = std::pow(low, left);
  if (most <= 0.5 && share * (most - least) <= truncation_rules::kAccuracy * (1.0 - high) &&
      share * most * left * truncation_rules::kRatio <=
          truncation_rules::kRounding * (1.0 - high)) {
    add_solution(sweep, active, 1.0 - (most + least) / 2.0);
    return true;
  }
  return false;
}

/// sum += s_T (1 + x + .. + x^(left - 1)).
void TruncatedSum::add_powers(const SurvivalSweep& sweep, int active, double factor) {
  const Propagation& states = sweep.states();
  const double powers = truncation_rules::geometric_sum(factor, cutoff_ - states.time());
  const auto left = static_cast<double>(cutoff_ - states.time());
  for (int j = 0; j < active; ++j)
    sum_[static_cast<std::size_t>(j)] +=
        j < sweep.first_moving() ? left : states.current(j) * powers;
}

/// sum += kept * (s_T + s_{T+1} + ...), by back substitution as in hitting_times().
void TruncatedSum::add_solution(const SurvivalSweep& sweep, int active, double kept) {
  const Propagation& states = sweep.states();
  const Walk& walk = sweep.walk();
  const auto left = static_cast<double>(cutoff_ - states.time());
  ScratchVector<double> rest(static_cast<std::size_t>(active));
  for (int j = active - 1; j >= sweep.first_moving(); --j) {
    const auto at = static_cast<std::size_t>(j);
    const double later = dot(walk.step.row(j) + j + 1, rest.data() + j + 1, active - j - 1);
    rest[at] = (states.current(j) + later) / walk.leave[at];
    sum_[at] += kept * rest[at];
  }
  for (int j = 0; j < std::min(active, sweep.first_moving()); ++j)
    sum_[static_cast<std::size_t>(j)] += left;
}

}  // namespace synergraph

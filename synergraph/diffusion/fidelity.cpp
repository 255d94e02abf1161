#include "synergraph/diffusion/fidelity.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "synergraph/core/error.h"
#include "synergraph/core/propagation.h"
#include "synergraph/core/simd.h"
#include "synergraph/core/triangular.h"
#include "synergraph/diffusion/absorption.h"

namespace synergraph {
namespace {

// A bound is met when it is met to rounding: it is a sum of up to n non-negative products.
constexpr double kRounding = 1e-14;
// Steps before the first look at whether a minimax is final.
constexpr int kFirstSteps = 8;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Diffusion as a propagation: r_{t+1} = r_t D, the row vector written as a column. `columns` is D
/// transposed.
Propagation signal(ConstMatrixView columns) {
  ScratchVector<double> start(static_cast<std::size_t>(columns.rows), 0.0);
  start.back() = 1.0;
  return {columns, start.data()};
}

Matrix transposed(ConstMatrixView diffusion) {
  Matrix columns = Matrix::uninitialised(diffusion.rows, diffusion.rows);
  transpose_lower(diffusion, columns.view());
  return columns;
}

/// Follows the signal and keeps each node's maximum.
class Tracker {
 public:
  Tracker(ConstMatrixView diffusion, const Propagation& states, const FidelityOptions& options)
      : options_(options), diffusion_(diffusion), states_(states) {
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
    chosen_ = diffusion.rows - (options.nodes == FidelityNodes::kSources ? 1 : 0);
  }

  /// Takes in the newest panel of the signal.
  void look();
  bool done() const { return done_; }
  /// Nodes from here on no longer change the result.
  int active() const { return active_; }
  /// Steps that are certainly of use.
  std::int64_t steps_left() const {
    const std::int64_t useful = fixed() ? options_.horizon - states_.time() : Propagation::kPanel;
    // A minimax is mostly final after a few steps, so do not begin with a whole panel.
    const bool minimax = fixed() ? options_.minimax_alone : !options_.every_node;
    return minimax && states_.time() == 0 ? std::min<std::int64_t>(useful, kFirstSteps) : useful;
  }
  Fidelity finish();

 private:
  bool fixed() const { return options_.horizon > 0; }
  int nodes() const { return diffusion_.rows; }
  double& phi(int j) { return result_.node[static_cast<std::size_t>(j)]; }
  bool known(int j) const { return !std::isnan(supremum_[static_cast<std::size_t>(j)]); }
  /// What node j's fidelity is at least.
  double lower(int j) const {
    const auto at = static_cast<std::size_t>(j);
    return known(j) ? supremum_[at] : result_.node[at];
  }

  /// Two maxima that differ by rounding are a tie, and the first of them gives the optimal time.
  void look_at(int j, double value, std::int64_t time) {
    phi(j) = std::max(phi(j), value);
    double& timed = timed_[static_cast<std::size_t>(j)];
    if (value > timed * (1.0 + kRounding)) {
      timed = value;
      result_.optimal_time[static_cast<std::size_t>(j)] = static_cast<double>(time);
    }
  }
  void look_at_panel(std::int64_t limit);
  bool all_final() const;
  void drop_dead_nodes();
  int smallest() const;
  bool certify(int j);
  bool certify_chosen();
  void close_bounds();
  void summarise();

  const FidelityOptions& options_;
  ConstMatrixView diffusion_;
  const Propagation& states_;
  Fidelity result_;
  bool done_ = false;
  int active_ = diffusion_.rows;
  std::vector<double> timed_;     // the signal at each node's optimal time
  int chosen_;                    // nodes that count for the minimax
  std::vector<double> supremum_;  // of nodes that keep what they get; NaN where it is not known
  // The sharper bound of one node: the probability of ever being passed on to it, from every node.
  int passed_to_ = -1;
  std::vector<double> passing_;
};

/// Maxima over the newest panel's states at times 1 .. limit, and over the state after it.
void Tracker::look_at_panel(std::int64_t limit) {
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
    look_at(j, most, begin + place);
  }
  result_.steps = std::min(states_.time(), limit);
}

/// Can no node's maximum change any more, within rounding?
bool Tracker::all_final() const {
  double above = 0.0;  // S_j: the signal at nodes >= j
  for (int j = states_.active() - 1; j >= 0; --j) {
    above += states_.current(j);
    if (above > result_.node[static_cast<std::size_t>(j)] * (1.0 + kRounding)) return false;
  }
  return true;
}

/// What is left above node `active_` is lost in the rounding of every maximum below it.
void Tracker::drop_dead_nodes() {
  double smallest = kInfinity;
  for (int j = 0; j < active_; ++j) smallest = std::min(smallest, phi(j));
  double above = 0.0;
  while (active_ > 0 && above + states_.current(active_ - 1) <= 0x1.0p-56 * smallest)
    above += states_.current(--active_);
}

/// The first of the chosen nodes whose fidelity so far is, within rounding, the smallest.
int Tracker::smallest() const {
  double least = kInfinity;
  for (int j = 0; j < chosen_; ++j) least = std::min(least, lower(j));
  int first = 0;
  while (lower(first) > least * (1.0 + kRounding)) ++first;
  return first;
}

/// Is node j's fidelity final? Tightens its upper bound in any case.
bool Tracker::certify(int j) {
  if (known(j)) return true;
  double& upper = result_.node_upper[static_cast<std::size_t>(j)];
  double above = 0.0;
  for (int i = j; i < nodes(); ++i) above += states_.current(i);
  upper = std::min(upper, above);
  if (upper > phi(j)) {
    if (passed_to_ != j) {
      passing_ = passing_probability(diffusion_, j);
      passed_to_ = j;
    }
    double ever = 0.0;
    for (int i = j; i < nodes(); ++i)
      ever += states_.current(i) * passing_[static_cast<std::size_t>(i)];
    upper = std::min(upper, ever);
  }
  if (upper > phi(j) * (1.0 + kRounding)) return false;
  upper = phi(j);
  return true;
}

/// Is everything asked for final?
bool Tracker::certify_chosen() {
  if (!options_.every_node) return chosen_ == 0 || certify(smallest());
  for (int j = 0; j < nodes(); ++j)
    if (!certify(j)) return false;
  return true;
}

void Tracker::look() {
  if (!fixed()) {
    look_at_panel(states_.time());
    result_.certified = certify_chosen();
    done_ = result_.certified || states_.time() >= options_.step_limit;
    return;
  }
  look_at_panel(options_.horizon);
  done_ = states_.time() >= options_.horizon ||
          (options_.minimax_alone ? chosen_ == 0 || certify(smallest()) : all_final());
  if (!done_ && !options_.minimax_alone) drop_dead_nodes();
}

Fidelity Tracker::finish() {
  if (fixed() && !options_.minimax_alone) {
    result_.steps = options_.horizon;
    result_.node_upper = result_.node;
  } else {
    close_bounds();
  }
  summarise();
  return std::move(result_);
}

/// Final values and bounds of all nodes, from the last state.
void Tracker::close_bounds() {
  // Once nothing moves any more, even suprema have been attained.
  double moving = 0.0;
  for (int j = 0; j < nodes(); ++j)
    if (!known(j)) moving += states_.current(j);
  double above = 0.0;
  for (int j = nodes() - 1; j >= 0; --j) {
    const auto at = static_cast<std::size_t>(j);
    above += states_.current(j);
    if (!known(j)) {
      result_.node_upper[at] = std::max(phi(j), std::min(result_.node_upper[at], above));
      continue;
    }
    if (moving > 0.0 && supremum_[at] > 0.0 && j < nodes() - 1)
      result_.optimal_time[at] = kInfinity;
    result_.node[at] = result_.node_upper[at] = supremum_[at];
  }
}

void Tracker::summarise() {
  if (chosen_ == 0) return;
  const int j = smallest();
  result_.minimax = lower(j);
  result_.minimax_node = j;
  result_.minimax_time = result_.optimal_time[static_cast<std::size_t>(j)];
  const auto upper = result_.node_upper.begin();
  result_.minimax_upper =
      result_.certified || fixed() ? result_.minimax : *std::min_element(upper, upper + chosen_);
}

/// All options from one propagation. `columns` is the diffusion transposed; both may be one matrix.
std::vector<Fidelity> follow(ConstMatrixView diffusion, ConstMatrixView columns,
                             const std::vector<FidelityOptions>& options) {
  Propagation states = signal(columns);
  std::vector<Tracker> trackers;
  trackers.reserve(options.size());
  for (const FidelityOptions& each : options) trackers.emplace_back(diffusion, states, each);
  for (;;) {
    std::int64_t steps = 0;
    int active = 0;
    for (const Tracker& tracker : trackers) {
      if (tracker.done()) continue;
      steps = std::max(steps, tracker.steps_left());
      active = std::max(active, tracker.active());
    }
    if (steps == 0) break;
    states.restrict_to(active);
    states.advance(steps);
    for (Tracker& tracker : trackers)
      if (!tracker.done()) tracker.look();
  }
  std::vector<Fidelity> results;
  results.reserve(options.size());
  for (Tracker& tracker : trackers) results.push_back(tracker.finish());
  return results;
}

}  // namespace

Matrix diffusion_matrix(const FeedforwardGraph& graph) {
  const int n = graph.nodes();
  Matrix diffusion(n, n);
  for (const Edge& edge : graph.edges()) diffusion(edge.to, edge.from) = edge.weight;
  for (int i = 0; i < n; ++i) {
    double* row = diffusion.row(i);
    const double sum = total(row, i + 1);
    if (sum > 0.0)
      for (int j = 0; j <= i; ++j) row[j] /= sum;
    else
      row[i] = 1.0;
  }
  return diffusion;
}

Matrix signal_curves(ConstMatrixView diffusion, int steps) {
  const Matrix columns = transposed(diffusion);
  Propagation states = signal(columns);
  Matrix curves(steps + 1, diffusion.rows);
  for (int begin = 0; begin <= steps; begin += Propagation::kPanel) {
    states.advance();
    const int count = std::min(Propagation::kPanel, steps + 1 - begin);
    for (int j = 0; j < diffusion.rows; ++j)
      for (int k = 0; k < count; ++k) curves(begin + k, j) = states.at(j, k);
  }
  return curves;
}

Fidelity fidelity(ConstMatrixView diffusion, const FidelityOptions& options) {
  return std::move(follow(diffusion, transposed(diffusion), {options}).front());
}

std::vector<Fidelity> fidelities(ConstMatrixView mirrored,
                                 const std::vector<FidelityOptions>& options) {
  return follow(mirrored, mirrored, options);
}

}  // namespace synergraph

#include "synergraph/heads/panel_measurement.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "synergraph/chain/bounds.h"
#include "synergraph/chain/truncation_rules.h"
#include "synergraph/core/parallel.h"
#include "synergraph/core/propagation.h"
#include "synergraph/core/special_values.h"
#include "synergraph/diffusion/minimax_nodes.h"
#include "synergraph/diffusion/peak_rules.h"
#include "synergraph/heads/cross_head_share.h"

namespace synergraph {
namespace {

/// T_mix, hitting times and truncated times of one walk, panel by panel.
class WalkSearch {
 public:
  /// A published walk never leaves node 0.
  enum class Kind { kColumns, kPublished };

  WalkSearch(const OperatorSums& sums, Kind kind, std::vector<double> eps, std::int64_t cutoff,
             int steps)
      : sums_(sums),
        kind_(kind),
        nodes_(static_cast<int>(sums.column.size())),
        steps_(steps),
        eps_(std::move(eps)),
        cutoff_(cutoff),
        mixing_(eps_.size(), kNan),
        given_up_(eps_.size(), false),
        truncated_(sums.column.size(), 0.0),
        summed_(cutoff <= 0) {
    for (const double each : eps_) threshold_.emplace_back(each);
    settle(mixing_rules::kArrival, 0.0, 0.0);
    const std::vector<double>& leave = published() ? sums.published_leave : sums.forward;
    while (first_moving_ + 1 < nodes_ && !(leave[static_cast<std::size_t>(first_moving_)] > 0.0))
      ++first_moving_;
    if (published()) take_hitting_of(std::vector<double>(1, kInfinity));
  }

  void take_hitting(const double* times) { take_hitting_of({times, times + nodes_}); }
  void take_panel(const SurvivalPanel& panel);
  void take_followed(mixing_rules::Followed of, const double* worst);
  void end_panel();

  bool follows(mixing_rules::Followed of) const {
    for (std::size_t k = 0; k < eps_.size(); ++k)
      if (open(k) && threshold_[k].of == of) return true;
    return false;
  }
  bool wants_survival() const { return !summed_ || follows(mixing_rules::kSurvival); }
  bool wants_panel() const {
    return wants_survival() || follows(mixing_rules::kLifted) || follows(mixing_rules::kArrival);
  }
  /// Survivals of the next panel that enter the truncated sum.
  int count() const {
    return summed_ ? 0 : static_cast<int>(std::min<std::int64_t>(steps_, cutoff_ - time_));
  }
  std::int64_t time() const { return time_; }
  /// T_mix for one of the eps.
  double mixing(double eps) const {
    return mixing_[static_cast<std::size_t>(std::find(eps_.begin(), eps_.end(), eps) -
                                            eps_.begin())];
  }
  /// What T_mix is not below.
  double least_mixing(double eps) const;
  void write(Metrics& metrics, const WalkOptions& options) const;

 private:
  bool published() const { return kind_ == Kind::kPublished; }
  bool open(std::size_t k) const { return std::isnan(mixing_[k]) && !given_up_[k]; }
  std::int64_t most_steps() const { return std::max<std::int64_t>(400, 4LL * nodes_); }
  void take_hitting_of(std::vector<double> times);
  void settle(mixing_rules::Followed of, double worst, double when) {
    for (std::size_t k = 0; k < eps_.size(); ++k)
      if (open(k) && threshold_[k].of == of && threshold_[k].met(worst)) mixing_[k] = when;
  }
  bool add_rest(const SurvivalPanel& panel);
  double most_mixing(double eps) const;

  const OperatorSums& sums_;
  Kind kind_;
  int nodes_;
  int steps_;
  std::vector<double> eps_;
  std::vector<mixing_rules::Threshold> threshold_;
  std::int64_t cutoff_;
  std::int64_t time_ = 0;
  HittingTimes hitting_;
  std::vector<double> mixing_;
  std::vector<bool> given_up_;  // thresholds that are too late for steps
  std::vector<double> truncated_;
  bool summed_;
  bool sum_lost_ = false;  // the truncated sum needs more steps than are affordable
  int first_moving_ = 0;   // nodes before this one are never left
};

void WalkSearch::take_hitting_of(std::vector<double> times) {
  hitting_ = summarise_hitting(std::move(times));
  if (std::isinf(hitting_.max)) {
    for (std::size_t k = 0; k < eps_.size(); ++k)
      if (open(k)) mixing_[k] = kInfinity;
    return;
  }
  const auto most = static_cast<double>(most_steps());
  for (std::size_t k = 0; k < eps_.size(); ++k)
    if (open(k) && (1.0 - eps_[k]) * hitting_.max > most) given_up_[k] = true;
}

void WalkSearch::take_followed(mixing_rules::Followed of, const double* worst) {
  for (int t = time_ == 0 ? 0 : 1; t <= steps_ && follows(of); ++t)
    settle(of, worst[t], static_cast<double>(time_ + t));
}

void WalkSearch::take_panel(const SurvivalPanel& panel) {
  take_followed(mixing_rules::kSurvival, panel.worst);
  if (summed_) return;
  for (int j = 0; j < nodes_; ++j) truncated_[static_cast<std::size_t>(j)] += panel.sum[j];
  summed_ = time_ + steps_ >= cutoff_ || add_rest(panel);
}

void WalkSearch::end_panel() {
  time_ += steps_;
  if (time_ < most_steps()) return;
  for (std::size_t k = 0; k < eps_.size(); ++k)
    if (open(k)) given_up_[k] = true;
  if (!summed_) summed_ = sum_lost_ = true;
}

/// What is left of the truncated sums, where it is known: see TruncatedSum::add_rest().
bool WalkSearch::add_rest(const SurvivalPanel& panel) {
  const std::int64_t steps = cutoff_ - time_ - steps_;
  const auto left = static_cast<double>(steps);
  const auto look = [&](int active) {
    truncation_rules::Shrinking shrinking;
    for (int j = first_moving_; j < active; ++j)
      shrinking.look_at(panel.after[j], panel.previous[j], truncated_[static_cast<std::size_t>(j)]);
    return shrinking;
  };
  int active = nodes_ - 1;
  while (active > 0 && truncation_rules::is_lost(panel.previous[active - 1], left * left)) --active;
  const truncation_rules::Shrinking shrinking = look(active);
  if (truncation_rules::powers_give_rest(shrinking, left)) {
    const double powers =
        truncation_rules::geometric_sum((shrinking.low + shrinking.high) / 2.0, steps);
    for (int j = 0; j < active; ++j)
      truncated_[static_cast<std::size_t>(j)] += j < first_moving_ ? left : panel.after[j] * powers;
    return true;
  }
  if (published() || std::isinf(hitting_.max) ||
      !truncation_rules::nothing_is_cut(look(nodes_ - 1), steps))
    return false;
  truncated_ = hitting_.node;
  return true;
}

/// E[T] is at most T_mix / (1 - eps), as s_(k T_mix) <= eps^k; and what was stepped through.
double WalkSearch::least_mixing(double eps) const {
  if (!std::isnan(mixing(eps))) return mixing(eps);
  const double stepped = time_ >= most_steps() ? static_cast<double>(time_) + 1.0 : 1.0;
  return std::max(stepped, std::floor((1.0 - eps) * hitting_.max * (1.0 - 1e-9)));
}

/// s_t <= E[T] / (t + 1), and so s_(k ceil(e E[T])) <= exp(-k).
double WalkSearch::most_mixing(double eps) const {
  const double halving = std::ceil(std::exp(1.0) * hitting_.max) * std::ceil(-std::log(eps));
  return std::ceil(std::min(hitting_.max / eps, std::max(halving, 1.0)) * (1.0 + 1e-9));
}

void WalkSearch::write(Metrics& metrics, const WalkOptions& options) const {
  double least = published() && nodes_ > 1 ? 0.0 : 1.0;
  for (int j = 0; j + 1 < nodes_ && !published(); ++j) {
    const auto at = static_cast<std::size_t>(j);
    least = std::min(least, sums_.forward[at] > 0.0 ? sums_.forward[at] / sums_.column[at] : 0.0);
  }
  metrics.forward_probability = least;
  metrics.bound = mixing_bound(nodes_, least);
  metrics.walk.hitting = hitting_;
  metrics.walk.hitting.node.clear();
  metrics.walk.truncated = summarise_hitting(truncated_);
  if (sum_lost_) metrics.walk.truncated.mean = metrics.walk.truncated.max = kNan;
  metrics.walk.truncated.node.clear();
  metrics.walk.mixing.clear();
  for (const double eps : options.eps) metrics.walk.mixing.push_back(mixing(eps));
  if (std::none_of(metrics.walk.mixing.begin(), metrics.walk.mixing.end(),
                   [](double time) { return std::isnan(time); }))
    return;
  for (const double eps : options.eps) {
    const double time = mixing(eps);
    metrics.walk.mixing_least.push_back(std::isnan(time) ? least_mixing(eps) : time);
    metrics.walk.mixing_most.push_back(std::isnan(time) ? most_mixing(eps) : time);
  }
}

/// Minimax fidelity of one operator's signal, panel by panel: see FidelityTracker.
class SignalSearch {
 public:
  SignalSearch(const PanelOperators& operators, int op, const FidelityOptions& options)
      : sums_(operators.sums(op)),
        options_(options),
        nodes_(operators.nodes()),
        steps_(operators.steps()),
        chosen_(minimax_nodes(options, nodes_)),
        phi_(sums_.column.size(), 0.0),
        timed_(sums_.column.size(), 0.0),
        at_(sums_.column.size(), 1.0) {}

  void take_panel(const SignalPanel& panel);
  void take_passing(int target, const std::vector<double>& passing);

  bool done() const { return done_; }
  /// Nodes whose passing probabilities decide what comes next.
  std::vector<int> wanted_passing() const;
  bool wants_panel() const { return !done_ && asked_; }
  int weakest() const;
  double least() const;
  /// The last step of the next panel that counts.
  int last() const { return static_cast<int>(std::min<std::int64_t>(steps_, last_step() - time_)); }
  void write(Fidelity& fidelity) const;

 private:
  bool fixed() const { return options_.horizon > 0; }
  std::int64_t last_step() const { return fixed() ? options_.horizon : options_.step_limit; }
  std::int64_t most_steps() const {
    return fixed() || options_.step_limit < std::numeric_limits<std::int64_t>::max()
               ? last_step()
               : peak_rules::steps_before_powers(nodes_);
  }
  /// The supremum of a node that keeps what it gets; otherwise NaN.
  double supremum(int j) const {
    if (fixed()) return kNan;
    if (sums_.absorbed.empty()) return j == 0 ? 1.0 : kNan;
    return sums_.absorbed[static_cast<std::size_t>(j)];
  }
  double lower(int j) const {
    const double known = supremum(j);
    return std::isnan(known) ? phi_[static_cast<std::size_t>(j)] : known;
  }
  double later_signal(int j, const std::vector<double>* passing) const;
  void decide();
  void bound_minimax();

  const OperatorSums& sums_;
  FidelityOptions options_;
  int nodes_;
  int steps_;
  std::vector<int> chosen_;
  std::vector<double> phi_;
  std::vector<double> timed_;  // the signal at each node's optimal time
  std::vector<double> at_;     // optimal times
  std::vector<double> now_;    // the newest state that counts
  std::vector<double> passing_;
  int passed_to_ = -1;
  bool asked_ = true;  // passing probabilities are at hand, or nothing has been seen yet
  bool done_ = false;
  bool settled_ = false;  // certified
  std::int64_t time_ = 0;
  // An interval, once no more steps are affordable.
  bool bounding_ = false;
  std::vector<int> to_bound_;  // nodes whose passing probabilities sharpen it
  double bound_ = kInfinity;
};

void SignalSearch::take_panel(const SignalPanel& panel) {
  for (int j = 0; j < nodes_; ++j) {
    const auto k = static_cast<std::size_t>(j);
    const double most = panel.peak[j];
    if (!(most > phi_[k])) continue;
    phi_[k] = most;
    if (peak_rules::is_above(most, timed_[k])) {
      timed_[k] = most;
      at_[k] = static_cast<double>(time_ + panel.place[j]);
    }
  }
  now_.assign(panel.after, panel.after + nodes_);
  time_ += last();
  decide();
}

int SignalSearch::weakest() const {
  double least = kInfinity;
  for (const int j : chosen_) least = std::min(least, lower(j));
  auto first = chosen_.begin();
  while (!peak_rules::is_smallest(lower(*first), least)) ++first;
  return *first;
}

double SignalSearch::least() const {
  double least = kInfinity;
  for (int j = 0; j < nodes_; ++j) least = std::min(least, lower(j));
  return least;
}

/// What no later signal of node j exceeds.
double SignalSearch::later_signal(int j, const std::vector<double>* passing) const {
  double rest = 0.0;
  for (int i = j; i < nodes_; ++i) {
    const auto at = static_cast<std::size_t>(i);
    rest += passing == nullptr ? now_[at] : now_[at] * (*passing)[at];
  }
  return rest;
}

void SignalSearch::decide() {
  if (chosen_.empty()) {
    done_ = settled_ = true;
    return;
  }
  const int j = weakest();
  const bool passed = passed_to_ == j;
  asked_ = fixed() || passed;  // a fixed horizon is near
  settled_ = !std::isnan(supremum(j)) || peak_rules::is_final(later_signal(j, nullptr), lower(j)) ||
             (passed && peak_rules::is_final(later_signal(j, &passing_), lower(j)));
  done_ = settled_ || (fixed() && time_ >= options_.horizon);
  if (!done_ && asked_ && time_ >= most_steps()) bound_minimax();
}

/// The bounds of all chosen nodes, and sharper ones of the weakest: see
/// FidelityTracker::bound_minimax().
void SignalSearch::bound_minimax() {
  constexpr std::size_t kWeakest = 64;
  bounding_ = true;
  double above = 0.0;
  auto next = chosen_.rbegin();
  for (int j = nodes_ - 1; j >= 0 && next != chosen_.rend(); --j) {
    above += now_[static_cast<std::size_t>(j)];
    if (j != *next) continue;
    bound_ = std::min(bound_, std::isnan(supremum(j)) ? std::max(lower(j), above) : lower(j));
    ++next;
  }
  to_bound_ = chosen_;
  std::stable_sort(to_bound_.begin(), to_bound_.end(),
                   [&](int a, int b) { return lower(a) < lower(b); });
  to_bound_.resize(std::min(to_bound_.size(), kWeakest));
  std::erase_if(to_bound_, [&](int j) { return lower(j) >= bound_ || !std::isnan(supremum(j)); });
  done_ = to_bound_.empty();
}

std::vector<int> SignalSearch::wanted_passing() const {
  if (done_) return {};
  if (bounding_) return to_bound_;
  return asked_ ? std::vector<int>() : std::vector<int>{weakest()};
}

void SignalSearch::take_passing(int target, const std::vector<double>& passing) {
  if (bounding_) {
    bound_ = std::min(bound_, std::max(lower(target), later_signal(target, &passing)));
    std::erase(to_bound_, target);
    done_ = to_bound_.empty();
    return;
  }
  passing_ = passing;
  passed_to_ = target;
  decide();
}

void SignalSearch::write(Fidelity& fidelity) const {
  fidelity.steps = static_cast<double>(time_);
  fidelity.certified = !fixed() && settled_;
  if (chosen_.empty()) return;
  const int j = weakest();
  fidelity.minimax_node = j;
  fidelity.minimax = fidelity.minimax_upper = lower(j);
  fidelity.minimax_time = at_[static_cast<std::size_t>(j)];
  if (!std::isnan(supremum(j))) {
    const double arrived = sums_.last_arrival.empty()
                               ? (lower(j) > 0.0 ? kInfinity : 0.0)
                               : sums_.last_arrival[static_cast<std::size_t>(j)];
    fidelity.minimax_time = std::max(1.0, arrived);
  }
  if (fixed() || settled_) return;
  fidelity.certified = peak_rules::is_final(bound_, fidelity.minimax);
  if (!fidelity.certified) fidelity.minimax_upper = bound_;
}

/// One system on its way: all operators side by side.
class PanelMeasurement {
 public:
  PanelMeasurement(PanelOperators& operators, const PanelOptions& options);

  std::vector<HeadsMetrics> run();

 private:
  const std::vector<MetricsOptions>& conventions() const { return options_.conventions; }
  bool any(Normalization normalization) const {
    return std::any_of(conventions().begin(), conventions().end(),
                       [&](const MetricsOptions& c) { return c.normalization == normalization; });
  }
  bool alone() const { return operators_.heads() == 1; }
  bool wants_signal(std::size_t op) const { return signals_[op] && signals_[op]->wants_panel(); }
  bool wants_walk(std::size_t op) const { return walks_[op] && walks_[op]->wants_panel(); }
  bool wants_published(std::size_t op) const {
    return published_[op] && published_[op]->wants_panel();
  }
  bool open() const;
  void sweep(bool first);
  void keep_tiny_signals();
  void ask_passing();
  void signals_of_heads(const std::vector<int>& heads, int node, std::int64_t time,
                        CrossHeadShare& share);
  double cross_head_share(const Fidelity& combined);
  void write(int op, const MetricsOptions& convention, Metrics& metrics) const;
  HeadsMetrics assemble(const MetricsOptions& convention);

  PanelOperators& operators_;
  const PanelOptions& options_;
  // Of every operator, where they are asked for.
  std::vector<std::optional<WalkSearch>> walks_;
  std::vector<std::optional<WalkSearch>> published_;
  std::vector<std::optional<SignalSearch>> signals_;
  std::vector<bool> tiny_kept_;
  std::vector<std::int64_t> swept_;  // steps of each signal
};

PanelMeasurement::PanelMeasurement(PanelOperators& operators, const PanelOptions& options)
    : operators_(operators), options_(options) {
  const MetricsOptions& first = conventions().front();
  std::vector<double> eps;
  for (const MetricsOptions& each : conventions())
    eps.insert(eps.end(), each.walk.eps.begin(), each.walk.eps.end());
  std::sort(eps.begin(), eps.end());
  eps.erase(std::unique(eps.begin(), eps.end()), eps.end());
  const bool by_columns = any(Normalization::kPooled) || any(Normalization::kPerHead);
  const auto count = static_cast<std::size_t>(operators.operators());
  walks_.resize(count);
  published_.resize(count);
  signals_.resize(count);
  tiny_kept_.resize(count, false);
  swept_.resize(count, 0);
  for (std::size_t op = 0; op < count; ++op) {
    const auto number = static_cast<int>(op);
    const bool head = number < operators.heads();
    const bool together = number == operators.per_head();
    const bool combined = number == operators.combined();
    // Mixing synergy needs the walks of heads and their sum, whatever the convention.
    const bool needed = (head && first.per_head_walks) || (together && first.per_head_walks) ||
                        (combined && any(Normalization::kPooled)) ||
                        (together && any(Normalization::kPerHead));
    const bool sums = by_columns && (!together || any(Normalization::kPerHead) || alone());
    if (needed)
      walks_[op].emplace(operators.sums(number), WalkSearch::Kind::kColumns,
                         by_columns ? eps : std::vector<double>{first.walk.eps.front()},
                         sums ? first.walk.cutoff : 0, operators.steps());
    if (any(Normalization::kPublished) && (combined || (head && first.per_head_walks)))
      published_[op].emplace(operators.sums(number), WalkSearch::Kind::kPublished, eps,
                             first.walk.cutoff, operators.steps());
    if (!together || alone()) signals_[op].emplace(operators, number, first.fidelity);
  }
}

bool PanelMeasurement::open() const {
  for (std::size_t op = 0; op < walks_.size(); ++op)
    if (wants_walk(op) || wants_published(op) || wants_signal(op)) return true;
  return false;
}

void PanelMeasurement::sweep(bool first) {
  std::vector<SweepTask> tasks;
  for (std::size_t op = 0; op < walks_.size(); ++op) {
    SweepTask task;
    task.op = static_cast<int>(op);
    if (wants_signal(op)) {
      task.signal = true;
      task.last = signals_[op]->last();
    }
    if (wants_walk(op)) {
      task.survival = walks_[op]->wants_survival();
      task.lifted = walks_[op]->follows(mixing_rules::kLifted);
      task.arrival = walks_[op]->follows(mixing_rules::kArrival);
      task.count = walks_[op]->count();
    }
    task.hitting = walks_[op] && first;
    if (wants_published(op)) {
      task.published = true;
      task.published_count = published_[op]->count();
    }
    if (task.signal || task.survival || task.lifted || task.arrival || task.hitting ||
        task.published)
      tasks.push_back(task);
  }
  if (tasks.empty()) return;
  options_.execution.check();
  operators_.sweep(tasks);
  parallel_for(tasks.size(), options_.execution.threads, [&](std::size_t k, int) {
    const SweepTask& task = tasks[k];
    const auto op = static_cast<std::size_t>(task.op);
    if (task.hitting) walks_[op]->take_hitting(operators_.hitting(task.op));
    if (task.survival) walks_[op]->take_panel(operators_.survival(task.op));
    for (const auto of : {mixing_rules::kLifted, mixing_rules::kArrival})
      if (of == mixing_rules::kLifted ? task.lifted : task.arrival)
        walks_[op]->take_followed(of, operators_.followed(task.op, of));
    if (task.survival || task.lifted || task.arrival) walks_[op]->end_panel();
    if (task.published) {
      published_[op]->take_panel(operators_.published(task.op));
      published_[op]->end_panel();
    }
    if (task.signal) signals_[op]->take_panel(operators_.signal(task.op));
  });
  for (const SweepTask& task : tasks)
    if (task.signal) swept_[static_cast<std::size_t>(task.op)] += operators_.steps();
  keep_tiny_signals();
}

/// Signals that may have lost digits to flushing begin again.
void PanelMeasurement::keep_tiny_signals() {
  for (std::size_t op = 0; op < signals_.size(); ++op) {
    if (!signals_[op] || !signals_[op]->done() || tiny_kept_[op] ||
        !operators_.flushed(static_cast<int>(op)) ||
        !(signals_[op]->least() < Propagation::kBeyondFlushing))
      continue;
    tiny_kept_[op] = true;
    swept_[op] = 0;
    operators_.restart_with_tiny(static_cast<int>(op));
    signals_[op].emplace(operators_, static_cast<int>(op), conventions().front().fidelity);
  }
}

/// Sharper bounds for the weakest nodes of signals that are not final.
void PanelMeasurement::ask_passing() {
  for (;;) {
    std::vector<PanelOperators::PassingTask> tasks;
    for (std::size_t op = 0; op < signals_.size(); ++op)
      if (signals_[op])
        for (const int node : signals_[op]->wanted_passing())
          tasks.push_back({static_cast<int>(op), node});
    if (tasks.empty()) return;
    options_.execution.check();
    const std::vector<std::vector<double>> found = operators_.passing(tasks);
    for (std::size_t k = 0; k < tasks.size(); ++k)
      signals_[static_cast<std::size_t>(tasks[k].op)]->take_passing(tasks[k].target, found[k]);
  }
}

/// The share of the combined signal that paths across heads carry.
double PanelMeasurement::cross_head_share(const Fidelity& combined) {
  static const Matrix no_rows;
  CrossHeadShare share(options_.weights, no_rows, combined.minimax_node, combined.minimax_time,
                       combined.minimax, options_.execution);
  std::vector<int> wanted;
  for (int h = 0; h < operators_.heads(); ++h)
    if (share.wants(h)) wanted.push_back(h);
  if (!wanted.empty())  // then the time is finite
    signals_of_heads(wanted, combined.minimax_node,
                     static_cast<std::int64_t>(combined.minimax_time), share);
  // Beyond, digits would be lost.
  return share.share_within(0.99).value_or(kNan);
}

/// Adds the signals of heads, which are made again unless they are at hand.
void PanelMeasurement::signals_of_heads(const std::vector<int>& heads, int node, std::int64_t time,
                                        CrossHeadShare& share) {
  const int steps = operators_.steps();
  const auto swept = [&](int h) -> std::int64_t& { return swept_[static_cast<std::size_t>(h)]; };
  const auto at_hand = [&](int h) {
    return swept(h) >= time && swept(h) - steps <= time && operators_.keeps_states(h);
  };
  const auto make_again = [&](const std::vector<SweepTask>& tasks) {
    for (const SweepTask& task : tasks) {
      operators_.restart_signal(task.op);
      swept(task.op) = 0;
    }
    for (std::int64_t begin = 0; begin < time; begin += steps) {
      options_.execution.check();
      operators_.sweep(tasks);
      for (const SweepTask& task : tasks) swept(task.op) += steps;
    }
  };
  for (const int h : heads) {
    if (!at_hand(h)) make_again({{.op = h, .signal = true, .last = steps}});
    share.add_signal(h, operators_.signal_at(h, node, static_cast<int>(time - swept(h)) + steps));
  }
}

void PanelMeasurement::write(int op, const MetricsOptions& convention, Metrics& metrics) const {
  const auto at = static_cast<std::size_t>(op);
  const auto& walk = convention.normalization == Normalization::kPublished ? published_ : walks_;
  if (walk[at]) walk[at]->write(metrics, convention.walk);
  if (signals_[at]) signals_[at]->write(metrics.fidelity);
}

HeadsMetrics PanelMeasurement::assemble(const MetricsOptions& convention) {
  const bool per_head = convention.normalization == Normalization::kPerHead;
  const double eps = convention.walk.eps.front();
  HeadsMetrics system;
  std::vector<FidelityRange> ranges;
  std::vector<double> forward;
  double fastest = kInfinity;         // of the heads whose T_mix is known
  double fastest_of_all = kInfinity;  // not above that of any head
  for (int h = 0; h < operators_.heads(); ++h) {
    Metrics& head = system.heads.emplace_back();
    write(h, convention, head);
    ranges.push_back({head.fidelity.minimax, head.fidelity.minimax_upper});
    forward.push_back(head.forward_probability);
    if (!convention.per_head_walks) continue;
    const WalkSearch& walk = *walks_[static_cast<std::size_t>(h)];
    if (!std::isnan(walk.mixing(eps))) fastest = std::min(fastest, walk.mixing(eps));
    fastest_of_all = std::min(fastest_of_all, walk.least_mixing(eps));
  }
  if (fastest > fastest_of_all) fastest = kNan;
  if (alone()) {
    system.combined = system.heads.front();
    if (!convention.per_head_walks) {
      system.heads.front() = Metrics{};
      system.heads.front().fidelity = system.combined.fidelity;
    }
  } else {
    write(operators_.combined(), convention, system.combined);
    if (per_head) {
      Metrics walk;
      write(operators_.per_head(), convention, walk);
      walk.fidelity = system.combined.fidelity;
      system.combined = walk;
    }
  }
  system.synergy = compare_with_best(
      ranges, {system.combined.fidelity.minimax, system.combined.fidelity.minimax_upper});
  system.cross_head_share = cross_head_share(system.combined.fidelity);
  if (!convention.per_head_walks) return system;
  const int nodes = operators_.nodes();
  system.effective_forward_probability = combined_forward_probability(forward, options_.weights);
  system.effective_bound = mixing_bound(nodes, system.effective_forward_probability);
  system.adaptive = adaptive_bound(nodes, forward);
  const double together = walks_[static_cast<std::size_t>(operators_.per_head())]->mixing(eps);
  if (alone())  // the head is the combination, whether or not its time is known
    system.mixing_synergy = std::isinf(together) ? kNan : 1.0;
  else
    system.mixing_synergy =
        std::isnan(fastest) || std::isnan(together) ? kNan : ratio(fastest, together);
  return system;
}

std::vector<HeadsMetrics> PanelMeasurement::run() {
  for (bool first = true;; first = false) {
    if (!first && !open()) break;
    sweep(first);
    ask_passing();
  }
  std::vector<HeadsMetrics> systems;
  for (const MetricsOptions& convention : conventions()) systems.push_back(assemble(convention));
  return systems;
}

}  // namespace

std::vector<HeadsMetrics> measure_by_panels(PanelOperators& operators,
                                            const PanelOptions& options) {
  return PanelMeasurement(operators, options).run();
}

}  // namespace synergraph

#include "synergraph/device/cuda/large_systems.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "synergraph/chain/bounds.h"
#include "synergraph/chain/mixing_rules.h"
#include "synergraph/chain/truncation_rules.h"
#include "synergraph/core/parallel.h"
#include "synergraph/diffusion/minimax_nodes.h"
#include "synergraph/diffusion/peak_rules.h"

namespace synergraph::cuda {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNotKnown = std::numeric_limits<double>::quiet_NaN();
// Parts of a signal below exp(-42) of it are lost in its rounding.
constexpr double kLost = -42.0;

/// T_mix, hitting times and truncated times of one operator's walk, panel by panel.
class WalkSearch {
 public:
  WalkSearch(const OperatorSums& sums, const std::vector<double>& eps, std::int64_t cutoff)
      : sums_(sums),
        nodes_(static_cast<int>(sums.column.size())),
        eps_(eps),
        cutoff_(cutoff),
        mixing_(eps.size(), kNotKnown),
        truncated_(sums.column.size(), 0.0),
        summed_(cutoff <= 0) {}

  void take_hitting(const double* times) {
    hitting_ = summarise_hitting({times, times + nodes_});
    failed_ = failed_ || !(hitting_.max < 1e300);
    const auto most = static_cast<double>(most_steps());
    for (const double eps : eps_) failed_ = failed_ || (1.0 - eps) * hitting_.max > most;
  }
  void take_panel(const SurvivalPanel& panel);

  bool failed() const { return failed_; }
  bool wants_panel() const {
    return !failed_ && (!summed_ || std::any_of(mixing_.begin(), mixing_.end(),
                                                [](double t) { return std::isnan(t); }));
  }
  /// Survivals of the next panel that enter the truncated sum.
  int count() const {
    return summed_ ? 0 : static_cast<int>(std::min<std::int64_t>(kSteps, cutoff_ - time_));
  }
  double mixing(std::size_t k) const { return mixing_[k]; }
  void write(Metrics& metrics, const WalkOptions& options) const;

 private:
  std::int64_t most_steps() const { return std::max<std::int64_t>(400, 4LL * nodes_); }
  bool add_rest(const SurvivalPanel& panel);

  const OperatorSums& sums_;
  int nodes_;
  std::vector<double> eps_;
  std::int64_t cutoff_;
  std::int64_t time_ = 0;
  HittingTimes hitting_;
  std::vector<double> mixing_;
  std::vector<double> truncated_;
  bool summed_;
  bool failed_ = false;
};

void WalkSearch::take_panel(const SurvivalPanel& panel) {
  for (std::size_t k = 0; k < eps_.size(); ++k) {
    if (!std::isnan(mixing_[k])) continue;
    const mixing_rules::Threshold threshold(eps_[k]);
    for (int t = time_ == 0 ? 0 : 1; t <= kSteps; ++t) {
      if (!threshold.met(panel.worst[t])) continue;
      mixing_[k] = static_cast<double>(time_ + t);
      break;
    }
  }
  if (!summed_)
    for (int j = 0; j < nodes_; ++j) truncated_[static_cast<std::size_t>(j)] += panel.sum[j];
  time_ += kSteps;
  summed_ = summed_ || time_ >= cutoff_ || add_rest(panel);
  failed_ = failed_ || time_ >= most_steps();
}

/// What is left of the truncated sums, where it is known: see TruncatedSum::add_rest().
bool WalkSearch::add_rest(const SurvivalPanel& panel) {
  const auto left = static_cast<double>(cutoff_ - time_);
  int active = nodes_ - 1;
  while (active > 0 && truncation_rules::is_lost(panel.previous[active - 1], left)) --active;
  truncation_rules::Shrinking shrinking;
  for (int j = 0; j < active; ++j)
    shrinking.look_at(panel.after[j], panel.previous[j], truncated_[static_cast<std::size_t>(j)]);
  if (!truncation_rules::powers_give_rest(shrinking, left)) return false;
  const double powers =
      truncation_rules::geometric_sum((shrinking.low + shrinking.high) / 2.0, cutoff_ - time_);
  for (int j = 0; j < active; ++j)
    truncated_[static_cast<std::size_t>(j)] += panel.after[j] * powers;
  return true;
}

void WalkSearch::write(Metrics& metrics, const WalkOptions& options) const {
  double least = 1.0;
  for (int j = 0; j + 1 < nodes_; ++j) {
    const auto at = static_cast<std::size_t>(j);
    least = std::min(least, sums_.forward[at] / sums_.column[at]);
  }
  metrics.forward_probability = least;
  metrics.bound = mixing_bound(nodes_, least);
  metrics.walk.hitting = hitting_;
  metrics.walk.hitting.node.clear();
  metrics.walk.truncated = summarise_hitting(truncated_);
  metrics.walk.truncated.node.clear();
  metrics.walk.mixing.clear();
  for (const double eps : options.eps)
    metrics.walk.mixing.push_back(
        mixing_[static_cast<std::size_t>(std::find(eps_.begin(), eps_.end(), eps) - eps_.begin())]);
}

/// Minimax fidelity of one operator's signal, panel by panel: see FidelityTracker.
class SignalSearch {
 public:
  SignalSearch(const OperatorSums& sums, const FidelityOptions& options)
      : nodes_(static_cast<int>(sums.column.size())),
        chosen_(minimax_nodes(options, nodes_)),
        phi_(sums.column.size(), 0.0),
        timed_(sums.column.size(), 0.0),
        at_(sums.column.size(), 1.0),
        failed_(!sums.all_go_down || !(sums.diagonal.back() > 0.0)) {
    // All of the signal ends at node 0.
    if (!failed_) phi_.front() = 1.0;
  }

  void take_panel(const SignalPanel& panel);
  void take_passing(const std::vector<double>& passing);

  bool failed() const { return failed_; }
  bool done() const { return done_; }
  bool wants_passing() const { return !failed_ && !done_ && !asked_; }
  bool wants_panel() const { return !failed_ && !done_ && asked_; }
  int weakest() const;

  void write(Fidelity& fidelity) const;

 private:
  bool final_by(const std::vector<double>* passing, int j) const;
  void decide();

  int nodes_;
  std::vector<int> chosen_;
  std::vector<double> phi_;
  std::vector<double> timed_;  // the signal at each node's optimal time
  std::vector<double> at_;     // optimal times
  std::vector<double> now_;    // the newest state
  std::vector<double> passing_;
  int passed_to_ = -1;
  bool asked_ = true;  // passing probabilities are at hand, or nothing has been seen yet
  bool failed_;
  bool done_ = false;
  std::int64_t time_ = 0;
};

void SignalSearch::take_panel(const SignalPanel& panel) {
  for (int j = 1; j < nodes_; ++j) {
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

bool SignalSearch::final_by(const std::vector<double>* passing, int j) const {
  double rest = 0.0;
  for (int i = j; i < nodes_; ++i) {
    const auto at = static_cast<std::size_t>(i);
    rest += passing == nullptr ? now_[at] : now_[at] * (*passing)[at];
  }
  return peak_rules::is_final(rest, phi_[static_cast<std::size_t>(j)]);
}

void SignalSearch::decide() {
  const int j = weakest();
  asked_ = passed_to_ == j;
  done_ = chosen_.empty() || j == 0 || final_by(nullptr, j) || (asked_ && final_by(&passing_, j));
  failed_ = failed_ || (!done_ && asked_ && time_ >= peak_rules::steps_before_powers(nodes_));
}

void SignalSearch::take_passing(const std::vector<double>& passing) {
  passing_ = passing;
  passed_to_ = weakest();
  decide();
}

void SignalSearch::write(Fidelity& fidelity) const {
  fidelity.steps = static_cast<double>(time_);
  fidelity.certified = true;
  const int j = weakest();
  fidelity.minimax_node = j;
  fidelity.minimax = fidelity.minimax_upper = phi_[static_cast<std::size_t>(j)];
  fidelity.minimax_time = j == 0 ? kInfinity : at_[static_cast<std::size_t>(j)];
}

/// One system on its way: all operators side by side.
class LargeMeasurement {
 public:
  LargeMeasurement(LargeOperators& operators, const LargeHeads& heads, const BatchOptions& options)
      : operators_(operators), heads_(heads), options_(options) {
    const MetricsOptions& first = conventions().front();
    std::vector<double> eps;
    for (const MetricsOptions& each : conventions())
      eps.insert(eps.end(), each.walk.eps.begin(), each.walk.eps.end());
    std::sort(eps.begin(), eps.end());
    eps.erase(std::unique(eps.begin(), eps.end()), eps.end());
    for (int op = 0; op < operators.operators(); ++op) {
      const bool head = op < operators.heads();
      const bool alone = operators.heads() == 1;
      const bool walks = first.per_head_walks || !head || alone;
      walks_.emplace_back(operators.sums(op), eps, walks ? first.walk.cutoff : 0);
      has_walk_.push_back(walks);
      signals_.emplace_back(operators.sums(op), first.fidelity);
      has_signal_.push_back(op != operators.per_head() || alone);
    }
    swept_.resize(walks_.size(), 0);
  }

  std::optional<std::vector<HeadsMetrics>> run();

 private:
  const std::vector<MetricsOptions>& conventions() const { return options_.conventions; }
  bool wants_walk(std::size_t op) const { return has_walk_[op] && walks_[op].wants_panel(); }
  bool wants_signal(std::size_t op) const { return has_signal_[op] && signals_[op].wants_panel(); }
  bool failed() const;
  void sweep(bool first);
  void ask_passing();
  double signal_of_head(int h, int node, int time);
  std::optional<double> cross_head_share(const Fidelity& combined);
  void write(int op, const MetricsOptions& convention, Metrics& metrics) const;
  std::optional<HeadsMetrics> assemble(const MetricsOptions& convention);

  LargeOperators& operators_;
  const LargeHeads& heads_;
  const BatchOptions& options_;
  std::vector<WalkSearch> walks_;
  std::vector<bool> has_walk_;
  std::vector<SignalSearch> signals_;
  std::vector<bool> has_signal_;
  std::vector<std::int64_t> swept_;
};

bool LargeMeasurement::failed() const {
  for (std::size_t op = 0; op < walks_.size(); ++op)
    if ((has_walk_[op] && walks_[op].failed()) || (has_signal_[op] && signals_[op].failed()))
      return true;
  return false;
}

void LargeMeasurement::sweep(bool first) {
  std::vector<SweepTask> tasks;
  for (std::size_t op = 0; op < walks_.size(); ++op) {
    SweepTask task;
    task.op = static_cast<int>(op);
    task.signal = wants_signal(op);
    task.survival = wants_walk(op);
    task.hitting = has_walk_[op] && first;
    task.count = walks_[op].count();
    if (task.signal || task.survival || task.hitting) tasks.push_back(task);
  }
  if (tasks.empty()) return;
  options_.execution.check();
  operators_.sweep(tasks);
  parallel_for(tasks.size(), options_.execution.threads, [&](std::size_t k, int) {
    const SweepTask& task = tasks[k];
    const auto op = static_cast<std::size_t>(task.op);
    if (task.hitting) walks_[op].take_hitting(operators_.hitting(task.op));
    if (task.survival) walks_[op].take_panel(operators_.survival(task.op));
    if (!task.signal) return;
    signals_[op].take_panel(operators_.signal(task.op));
  });
  for (const SweepTask& task : tasks)
    if (task.signal) swept_[static_cast<std::size_t>(task.op)] += kSteps;
}

/// Sharper bounds for the weakest nodes of signals that are not final.
void LargeMeasurement::ask_passing() {
  for (;;) {
    std::vector<LargeOperators::PassingTask> tasks;
    for (std::size_t op = 0; op < signals_.size(); ++op)
      if (has_signal_[op] && signals_[op].wants_passing())
        tasks.push_back({static_cast<int>(op), signals_[op].weakest()});
    if (tasks.empty()) return;
    options_.execution.check();
    const std::vector<std::vector<double>> found = operators_.passing(tasks);
    for (std::size_t k = 0; k < tasks.size(); ++k)
      signals_[static_cast<std::size_t>(tasks[k].op)].take_passing(found[k]);
  }
}

/// The share of the combined signal that paths across heads carry: see CrossHeadShare.
std::optional<double> LargeMeasurement::cross_head_share(const Fidelity& combined) {
  const double whole = combined.minimax;
  const double time = combined.minimax_time;
  const auto used = std::count_if(heads_.weights.begin(), heads_.weights.end(),
                                  [](double weight) { return weight > 0.0; });
  if (!(whole > 0.0)) return kNotKnown;
  if (used == 1 || time <= 1.0) return 0.0;
  if (std::isinf(time)) return 1.0;
  double pure = 0.0;
  for (int h = 0; h < operators_.heads(); ++h) {
    const double weight = heads_.weights[static_cast<std::size_t>(h)];
    const double stays = weight > 0.0 ? time * std::log(weight) : -kInfinity;
    if (stays < std::log(whole) + kLost) continue;
    if (time > kSteps) return std::nullopt;
    pure += std::exp(stays) * signal_of_head(h, combined.minimax_node, static_cast<int>(time));
  }
  // Beyond, digits would be lost.
  if (pure > 0.99 * whole) return std::nullopt;
  return 1.0 - pure / whole;
}

/// The signal of a head within the first panel, which is made again if it is gone.
double LargeMeasurement::signal_of_head(int h, int node, int time) {
  const auto at = static_cast<std::size_t>(h);
  if (swept_[at] != kSteps) {
    std::vector<SweepTask> tasks;
    for (int op = 0; op < operators_.heads(); ++op) {
      operators_.restart_signal(op);
      swept_[static_cast<std::size_t>(op)] = kSteps;
      tasks.push_back({.op = op, .signal = true});
    }
    operators_.sweep(tasks);
  }
  return operators_.signal_at(h, node, time);
}

void LargeMeasurement::write(int op, const MetricsOptions& convention, Metrics& metrics) const {
  const auto at = static_cast<std::size_t>(op);
  if (has_walk_[at]) walks_[at].write(metrics, convention.walk);
  if (has_signal_[at]) signals_[at].write(metrics.fidelity);
}

std::optional<HeadsMetrics> LargeMeasurement::assemble(const MetricsOptions& convention) {
  const bool alone = operators_.heads() == 1;
  const bool per_head = convention.normalization == Normalization::kPerHead;
  HeadsMetrics system;
  std::vector<FidelityRange> ranges;
  std::vector<double> forward;
  double fastest = kInfinity;
  for (int h = 0; h < operators_.heads(); ++h) {
    Metrics& head = system.heads.emplace_back();
    write(h, convention, head);
    ranges.push_back({head.fidelity.minimax, head.fidelity.minimax_upper});
    forward.push_back(head.forward_probability);
    if (convention.per_head_walks) fastest = std::min(fastest, head.walk.mixing.front());
  }
  if (alone) {
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
  const std::optional<double> share = cross_head_share(system.combined.fidelity);
  if (!share) return std::nullopt;
  system.cross_head_share = *share;
  if (!convention.per_head_walks) return system;
  const int nodes = operators_.nodes();
  system.effective_forward_probability = combined_forward_probability(forward, heads_.weights);
  system.effective_bound = mixing_bound(nodes, system.effective_forward_probability);
  system.adaptive = adaptive_bound(nodes, forward);
  Metrics together;
  if (!alone) write(operators_.per_head(), convention, together);
  system.mixing_synergy =
      ratio(fastest, alone ? system.combined.walk.mixing.front() : together.walk.mixing.front());
  return system;
}

std::optional<std::vector<HeadsMetrics>> LargeMeasurement::run() {
  for (bool first = true;; first = false) {
    if (failed()) return std::nullopt;
    bool open = false;
    for (std::size_t op = 0; op < walks_.size(); ++op)
      open = open || wants_walk(op) || wants_signal(op);
    if (!first && !open) break;
    sweep(first);
    ask_passing();
  }
  std::vector<HeadsMetrics> systems;
  for (const MetricsOptions& convention : conventions()) {
    std::optional<HeadsMetrics> system = assemble(convention);
    if (!system) return std::nullopt;
    systems.push_back(std::move(*system));
  }
  return systems;
}

}  // namespace

std::string large_refusal(const BatchOptions& options) {
  if (options.nodes) return "numbers of every node";
  if (options.missing_mass != MissingMass::kError) return "a node for missing mass";
  const MetricsOptions& first = options.conventions.front();
  for (const MetricsOptions& each : options.conventions) {
    if (each.normalization == Normalization::kPublished) return "the published walk";
    if (each.fidelity.horizon != 0) return "a fixed horizon";
    if (each.fidelity.step_limit < std::numeric_limits<std::int64_t>::max()) return "a step limit";
    if (each.fidelity.every_node) return "certificates of every node";
    if (each.fidelity.nodes != FidelityNodes::kSources) return "the sink's own fidelity";
    if (each.walk.cutoff != first.walk.cutoff || each.walk.cutoff > 1000000) return "such cutoffs";
    for (const double eps : each.walk.eps)
      if (!(eps <= 0.5 && eps >= 1e-200)) return "eps outside of 1e-200 to 0.5";
  }
  return {};
}

std::optional<std::vector<HeadsMetrics>> measure_large(const LargeHeads& heads,
                                                       const BatchOptions& options,
                                                       double row_tolerance,
                                                       LargeWorkspace& workspace,
                                                       cudaStream_t stream) {
  LargeOperators operators(heads, workspace, stream);
  for (int h = 0; h < heads.heads; ++h) {
    const OperatorSums& sums = operators.sums(h);
    if (sums.bad_rows > 0) return std::nullopt;
    for (const double whole : sums.whole)
      if (!(std::abs(whole - 1.0) <= row_tolerance)) return std::nullopt;
    for (std::size_t j = 0; j + 1 < sums.forward.size(); ++j)
      if (!(sums.forward[j] > 1e-290)) return std::nullopt;
  }
  return LargeMeasurement(operators, heads, options).run();
}

}  // namespace synergraph::cuda

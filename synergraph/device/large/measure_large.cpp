#include "synergraph/device/large/measure_large.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "synergraph/core/parallel.h"
#include "synergraph/core/special_values.h"
#include "synergraph/device/device_full.h"
#include "synergraph/device/large/signal_search.h"
#include "synergraph/device/large/walk_search.h"
#include "synergraph/heads/cross_head_share.h"

namespace synergraph::large {
namespace {

// Of a share 1 - x, x is at most this: beyond, digits would be lost.
constexpr double kMostPure = 0.99;
// The latest time at which a head's signal is followed by panels; later, powers have it.
constexpr double kLatestPanels = 4096.0;
constexpr std::int64_t kMostCutoff = 1000000;

/// One system on its way: all operators side by side.
class Measurement {
 public:
  Measurement(Operators& operators, const std::vector<double>& weights, const BatchOptions& options,
              Operators* own_walks);

  std::optional<std::vector<HeadsMetrics>> run();

 private:
  void tell_done();
  using Of = Operators::PowersOf;

  const std::vector<MetricsOptions>& conventions() const { return options_.conventions; }
  bool alone() const { return operators_.heads() == 1; }
  bool per_head_walks() const { return conventions().front().per_head_walks; }
  bool any(Normalization normalization) const;
  /// The place of a walk of its own among the walks.
  int own(int op) const { return own_walks_ == nullptr ? op : 2 * operators_.operators() + op; }
  Operators& operators_of(std::size_t walk) const {
    return walk < signals_.size() * 2 ? operators_ : *own_walks_;
  }
  int operator_of(std::size_t walk) const {
    return static_cast<int>(walk < signals_.size() * 2 ? walk : walk - signals_.size() * 2);
  }
  void add_walks(const std::vector<double>& eps);
  void add_signals();
  bool failed() const;
  bool wants_signal(std::size_t op) const;
  void sweep(bool first);
  void sweep(Operators& operators, const std::vector<SweepTask>& tasks, std::size_t first_walk);
  void ask_passing();
  bool use_powers();
  bool use_powers(std::size_t op);
  std::optional<std::vector<double>> signals_of_heads(const std::vector<int>& wanted, int node,
                                                      double time);
  std::optional<double> signal_by_powers(int h, int node, double time);
  std::optional<double> cross_head_share(const Fidelity& combined);
  int walk_of(int op, Normalization normalization) const;
  std::optional<HeadsMetrics> assemble(std::size_t convention);

  Operators& operators_;
  Operators* own_walks_;
  const std::vector<double>& weights_;
  const BatchOptions& options_;
  int extra_;
  /// Of every operator; then published walks; then walks of their own. Nothing where it is not
  /// wanted.
  std::vector<std::optional<WalkSearch>> walks_;
  std::vector<std::vector<SignalSearch>> signals_;  ///< [operator][convention]
  std::vector<int> panels_;                         ///< of every operator's signal, since its start
};

Measurement::Measurement(Operators& operators, const std::vector<double>& weights,
                         const BatchOptions& options, Operators* own_walks)
    : operators_(operators),
      own_walks_(own_walks),
      weights_(weights),
      options_(options),
      extra_(extra_nodes(options.missing_mass)),
      walks_(static_cast<std::size_t>((own_walks == nullptr ? 2 : 3) * operators.operators())),
      signals_(static_cast<std::size_t>(operators.operators())),
      panels_(signals_.size(), 0) {
  std::vector<double> eps;
  for (const MetricsOptions& each : conventions())
    eps.insert(eps.end(), each.walk.eps.begin(), each.walk.eps.end());
  std::sort(eps.begin(), eps.end());
  eps.erase(std::unique(eps.begin(), eps.end()), eps.end());
  add_walks(eps);
  add_signals();
}

bool Measurement::any(Normalization normalization) const {
  return std::any_of(conventions().begin(), conventions().end(),
                     [&](const MetricsOptions& c) { return c.normalization == normalization; });
}

void Measurement::add_walks(const std::vector<double>& eps) {
  const std::int64_t cutoff = conventions().front().walk.cutoff;
  const auto add = [&](int walk) {
    const auto at = static_cast<std::size_t>(walk);
    if (!walks_[at]) walks_[at].emplace(operators_of(at).sums(operator_of(at)), eps, cutoff);
  };
  for (const Normalization each :
       {Normalization::kPooled, Normalization::kPerHead, Normalization::kPublished}) {
    // Mixing synergies are of the heads' own walks, whatever the conventions are.
    const bool synergies = each == Normalization::kPerHead && per_head_walks();
    if (!any(each) && !synergies) continue;
    add(walk_of(operators_.combined(), each));
    for (int h = 0; h < operators_.heads() && per_head_walks(); ++h) add(walk_of(h, each));
  }
}

void Measurement::add_signals() {
  for (int op = 0; op < operators_.operators(); ++op) {
    if (op == operators_.per_head() && !alone()) continue;
    for (const MetricsOptions& each : conventions())
      signals_[static_cast<std::size_t>(op)].emplace_back(operators_.sums(op), each.fidelity);
  }
}

bool Measurement::failed() const {
  for (const auto& walk : walks_)
    if (walk && walk->failed()) return true;
  for (const auto& signals : signals_)
    for (const SignalSearch& signal : signals)
      if (signal.failed()) return true;
  return false;
}

bool Measurement::wants_signal(std::size_t op) const {
  return op < signals_.size() &&
         std::any_of(signals_[op].begin(), signals_[op].end(),
                     [](const SignalSearch& signal) { return signal.wants_panel(); });
}

void Measurement::sweep(bool first) {
  const auto shared = static_cast<std::size_t>(operators_.published(operators_.operators()));
  std::vector<SweepTask> tasks[2];  // of the operators, and of walks of their own
  for (std::size_t walk = 0; walk < walks_.size(); ++walk) {
    SweepTask task;
    task.op = operator_of(walk);
    task.signal = wants_signal(walk);
    for (std::size_t c = 0; task.signal && c < signals_[walk].size(); ++c)
      if (signals_[walk][c].wants_panel())
        task.last = std::min(task.last, signals_[walk][c].last());
    task.survival = walks_[walk] && walks_[walk]->wants_panel();
    // The published walk stays at the first node for ever: it has no hitting times.
    task.hitting = walks_[walk] && first && task.op < operators_.operators();
    task.count = walks_[walk] ? walks_[walk]->count() : 0;
    if (task.signal || task.survival || task.hitting) tasks[walk < shared ? 0 : 1].push_back(task);
  }
  sweep(operators_, tasks[0], 0);
  if (own_walks_ != nullptr) sweep(*own_walks_, tasks[1], shared);
}

void Measurement::sweep(Operators& operators, const std::vector<SweepTask>& tasks,
                        std::size_t first_walk) {
  if (tasks.empty()) return;
  options_.execution.check();
  operators.sweep(tasks);
  parallel_for(tasks.size(), options_.execution.threads, [&](std::size_t k, int) {
    const SweepTask& task = tasks[k];
    const std::size_t walk = first_walk + static_cast<std::size_t>(task.op);
    if (task.hitting) walks_[walk]->take_hitting(operators.hitting(task.op));
    if (task.survival) walks_[walk]->take_panel(operators.survival(task.op));
    if (!task.signal) return;
    ++panels_[walk];
    for (SignalSearch& signal : signals_[walk])
      if (signal.wants_panel()) signal.take_panel(operators.signal(task.op));
  });
}

/// Sharper bounds for the weakest nodes of signals that are not final.
void Measurement::ask_passing() {
  for (;;) {
    std::vector<Operators::PassingTask> tasks;
    std::vector<SignalSearch*> asking;
    for (std::size_t op = 0; op < signals_.size(); ++op)
      for (SignalSearch& signal : signals_[op]) {
        if (!signal.wants_passing()) continue;
        // One list at a time of an operator.
        if (!tasks.empty() && tasks.back().op == static_cast<int>(op)) continue;
        tasks.push_back({static_cast<int>(op), signal.weakest_of_operator()});
        asking.push_back(&signal);
      }
    if (tasks.empty()) return;
    options_.execution.check();
    const std::vector<std::vector<double>> found = operators_.passing(tasks);
    for (std::size_t k = 0; k < tasks.size(); ++k) asking[k]->take_passing(found[k]);
  }
}

/// What panels left open of an operator. False where there is too little memory.
bool Measurement::use_powers(std::size_t op) {
  if (walks_[op] && !walks_[op]->open_eps().empty()) {
    options_.execution.check();
    const auto powers = operators_of(op).powers(operator_of(op), Of::kWalk, options_.execution);
    if (!powers) return false;
    walks_[op]->take_mixing(mixing_times_by_squaring(*powers, walks_[op]->open_eps()));
  }
  if (op >= signals_.size()) return true;
  std::unique_ptr<SlowSignal> slow;
  for (SignalSearch& signal : signals_[op]) {
    if (!signal.wants_powers()) continue;
    options_.execution.check();
    if (!slow) {
      auto powers = operators_.powers(static_cast<int>(op), Of::kSignal, options_.execution);
      if (!powers) return false;
      slow = std::make_unique<SlowSignal>(
          std::move(powers),
          [this, op](int node) {
            const Operators::PassingTask task{static_cast<int>(op), node - extra_};
            std::vector<double> passing = std::move(operators_.passing({&task, 1}).front());
            passing.insert(passing.begin(), static_cast<std::size_t>(extra_), 0.0);
            return passing;
          },
          options_.execution);
    }
    signal.search_slowly(*slow);
  }
  return true;
}

bool Measurement::use_powers() try {
  for (std::size_t op = 0; op < walks_.size(); ++op)
    if (!use_powers(op)) return false;
  return !failed();
} catch (const DeviceFull&) {
  return false;
}

/// The signals of heads, from the first panel if it is still there, or from panels that are made
/// again.
std::optional<std::vector<double>> Measurement::signals_of_heads(const std::vector<int>& wanted,
                                                                 int node, double time) {
  std::vector<double> signals(wanted.size(), 0.0);
  if (time > kLatestPanels) {
    for (std::size_t k = 0; k < wanted.size(); ++k) {
      const std::optional<double> signal = signal_by_powers(wanted[k], node, time);
      if (!signal) return std::nullopt;
      signals[k] = *signal;
    }
    return signals;
  }
  const auto panels_of = [&](int h) -> int& { return panels_[static_cast<std::size_t>(h)]; };
  const bool there = time <= kSteps && std::all_of(wanted.begin(), wanted.end(),
                                                   [&](int h) { return panels_of(h) == 1; });
  std::vector<SweepTask> tasks;
  for (const int h : wanted) {
    tasks.push_back({.op = h, .signal = true});
    if (!there) operators_.restart_signal(h);
    if (!there) panels_of(h) = 0;
  }
  for (double left = time; left > 0.0; left -= kSteps) {
    options_.execution.check();
    if (!there) operators_.sweep(tasks);
    const int steps = static_cast<int>(std::min<double>(left, kSteps));
    for (std::size_t k = 0; k < wanted.size(); ++k) {
      if (!there) ++panels_of(wanted[k]);
      if (node >= extra_) {
        if (left <= kSteps) signals[k] = operators_.signal_at(wanted[k], node - extra_, steps);
      } else {
        const double* const missing = operators_.signal(wanted[k]).missing;
        for (int t = 0; t < steps; ++t) signals[k] += missing[t];
      }
    }
  }
  return signals;
}

std::optional<double> Measurement::signal_by_powers(int h, int node, double time) {
  const auto powers = operators_.powers(h, Of::kSignal, options_.execution);
  if (!powers) return std::nullopt;
  const int nodes = powers->nodes();
  std::vector<double> target(static_cast<std::size_t>(nodes), 0.0);
  target[static_cast<std::size_t>(nodes - 1 - node)] = 1.0;  // the way back
  return multiply_power(*powers, time, std::move(target)).front();
}

/// The share of the combined signal that paths across heads carry.
std::optional<double> Measurement::cross_head_share(const Fidelity& combined) {
  static const Matrix same_in_every_row;
  CrossHeadShare share(weights_, same_in_every_row, combined.minimax_node, combined.minimax_time,
                       combined.minimax, options_.execution);
  std::vector<int> wanted;
  for (int h = 0; h < operators_.heads(); ++h)
    if (share.wants(h)) wanted.push_back(h);
  const auto signals = signals_of_heads(wanted, combined.minimax_node, combined.minimax_time);
  if (!signals) return std::nullopt;
  for (std::size_t k = 0; k < wanted.size(); ++k) share.add_signal(wanted[k], (*signals)[k]);
  return share.share_within(kMostPure);
}

/// The place of the walk of a head, or of all heads together.
int Measurement::walk_of(int op, Normalization normalization) const {
  if (normalization == Normalization::kPublished) return operators_.published(op);
  if (normalization == Normalization::kPooled) return op;
  return own(op == operators_.combined() ? operators_.per_head() : op);
}

std::optional<HeadsMetrics> Measurement::assemble(std::size_t c) {
  const MetricsOptions& convention = conventions()[c];
  HeadsMetrics system;
  std::vector<FidelityRange> ranges;
  std::vector<double> forward;
  double fastest = kInfinity;
  const double eps = convention.walk.eps.front();
  const auto walk = [&](int op, Normalization of) -> const WalkSearch& {
    return *walks_[static_cast<std::size_t>(walk_of(op, of))];
  };
  const auto mixing = [&](int op) { return walk(op, Normalization::kPerHead).mixing(eps); };
  for (int h = 0; h < operators_.heads(); ++h) {
    Metrics& head = system.heads.emplace_back();
    signals_[static_cast<std::size_t>(h)][c].write(head.fidelity);
    ranges.push_back({head.fidelity.minimax, head.fidelity.minimax_upper});
    if (!per_head_walks()) continue;
    walk(h, convention.normalization).write(head, convention.walk);
    forward.push_back(head.forward_probability);
    fastest = std::min(fastest, mixing(h));
  }
  signals_[static_cast<std::size_t>(operators_.combined())][c].write(system.combined.fidelity);
  walk(operators_.combined(), convention.normalization).write(system.combined, convention.walk);
  const Fidelity& fidelity = system.combined.fidelity;
  system.synergy = compare_with_best(ranges, {fidelity.minimax, fidelity.minimax_upper});
  const std::optional<double> share = cross_head_share(fidelity);
  if (!share) return std::nullopt;
  system.cross_head_share = *share;
  if (!per_head_walks()) return system;
  const int nodes = operators_.nodes() + extra_;
  system.effective_forward_probability = combined_forward_probability(forward, weights_);
  system.effective_bound = mixing_bound(nodes, system.effective_forward_probability);
  system.adaptive = adaptive_bound(nodes, forward);
  system.mixing_synergy = ratio(fastest, mixing(operators_.combined()));
  return system;
}

/// Says how many heads need no more panels.
void Measurement::tell_done() {
  const auto& listener = options_.execution.progress.listener;
  if (!listener) return;
  int done = 0;
  for (std::size_t h = 0; h < static_cast<std::size_t>(operators_.heads()); ++h)
    if (!(walks_[h] && walks_[h]->wants_panel()) && !wants_signal(h)) ++done;
  listener(static_cast<std::uint64_t>(done), static_cast<std::uint64_t>(operators_.heads()), "");
}

std::optional<std::vector<HeadsMetrics>> Measurement::run() {
  for (bool first = true;; first = false) {
    if (failed()) return std::nullopt;
    bool open = first;
    for (std::size_t op = 0; op < walks_.size() && !open; ++op)
      open = (walks_[op] && walks_[op]->wants_panel()) || wants_signal(op);
    if (!open) break;
    sweep(first);
    ask_passing();
    tell_done();
  }
  if (!use_powers()) return std::nullopt;
  std::vector<HeadsMetrics> systems;
  for (std::size_t c = 0; c < conventions().size(); ++c) {
    std::optional<HeadsMetrics> system = assemble(c);
    if (!system) return std::nullopt;
    systems.push_back(std::move(*system));
  }
  return systems;
}

}  // namespace

std::string refusal(const BatchOptions& options) {
  if (options.nodes) return "numbers of every node";
  const MetricsOptions& first = options.conventions.front();
  std::int64_t horizon = 0;
  for (const MetricsOptions& each : options.conventions) {
    const FidelityOptions& fidelity = each.fidelity;
    if (fidelity.step_limit < std::numeric_limits<std::int64_t>::max()) return "a step limit";
    if (fidelity.every_node) return "certificates of every node";
    if (each.backward) return "averaged and backward times";
    if (fidelity.horizon > kMostCutoff ||
        (fidelity.horizon > 0 && horizon > 0 && fidelity.horizon != horizon))
      return "such horizons";
    horizon = std::max(horizon, fidelity.horizon);
    if (each.walk.cutoff != first.walk.cutoff || each.walk.cutoff > kMostCutoff)
      return "such cutoffs";
    for (const double eps : each.walk.eps)
      if (!(eps <= 0.5 && eps >= 1e-200)) return "eps outside of 1e-200 to 0.5";
  }
  return {};
}

bool wants_published(const BatchOptions& options) {
  return std::any_of(options.conventions.begin(), options.conventions.end(), [](const auto& each) {
    return each.normalization == Normalization::kPublished;
  });
}

bool is_good(const Operators& operators, double row_tolerance) {
  for (int h = 0; h < operators.heads(); ++h) {
    const OperatorSums& sums = operators.sums(h);
    if (sums.bad_rows > 0) return false;
    for (std::size_t i = 0; i < sums.whole.size(); ++i) {
      const bool misses = !sums.missing.empty() && sums.missing[i] > 0.0;
      if (misses ? !(sums.whole[i] <= 1.0 + row_tolerance)
                 : !(std::abs(sums.whole[i] - 1.0) <= row_tolerance))
        return false;
    }
    // Sums so small that digits would be lost; none at all is another thing.
    for (std::size_t j = 0; j + 1 < sums.forward.size(); ++j)
      if (sums.forward[j] > 0.0 && !(sums.forward[j] > 1e-290)) return false;
  }
  return true;
}

std::optional<std::vector<HeadsMetrics>> measure(Operators& operators,
                                                 const std::vector<double>& weights,
                                                 const BatchOptions& options,
                                                 Operators* own_walks) {
  return Measurement(operators, weights, options, own_walks).run();
}

}  // namespace synergraph::large

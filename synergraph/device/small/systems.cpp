#include "synergraph/device/small/systems.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <future>
#include <limits>
#include <system_error>
#include <utility>

#include "synergraph/chain/mixing_rules.h"
#include "synergraph/core/parallel.h"
#include "synergraph/core/special_values.h"
#include "synergraph/diffusion/minimax_nodes.h"
#include "synergraph/graph/attention_rounding.h"
#include "synergraph/heads/cross_head_share.h"

namespace synergraph::small {
namespace {

// Of a share 1 - x, x is at most this, so that no more than a digit is lost.
constexpr double kMostPure = 0.9;
// Systems that one thread puts together at a time.
constexpr std::size_t kSystemsATask = 64;
// Pieces that the sequences are measured in, if each has so many jobs.
constexpr std::size_t kPieces = 4;
constexpr std::size_t kJobsAPiece = 2048;
constexpr int kNone = -1;

/// Which tasks a convention gives, by their places in the list of tasks.
struct ConventionTasks {
  int combined = kNone;
  int head = kNone;        ///< of every head
  int head_walks = kNone;  ///< of the sum of the heads' walks
};

/// Nodes that count for the minimax of a sequence of `nodes` nodes.
struct ChosenNodes {
  int nodes = 0;
  std::array<std::uint32_t, kMostNodes / 32> bits = {};
};

ChosenNodes chosen_nodes(const FidelityOptions& fidelity, int nodes) {
  ChosenNodes chosen;
  chosen.nodes = nodes;
  for (const int node : minimax_nodes(fidelity, nodes))
    chosen.bits[static_cast<std::size_t>(node / 32)] |= 1U << static_cast<unsigned>(node % 32);
  return chosen;
}

/// What is measured of every system, in the order of its jobs: under each convention first all
/// heads together, then the sum of their walks, then each head; then what the mixing synergy needs
/// beside.
class Plan {
 public:
  Plan(const BatchOptions& options, int heads) : options_(options), heads_(heads) {
    for (const MetricsOptions& convention : options.conventions) add(convention);
    if (!walks()) return;
    const MetricsOptions& first = options.conventions.front();
    mixing_of_heads_ =
        find([](const MetricsOptions& c) { return c.normalization != Normalization::kPublished; });
    if (mixing_of_heads_ == kNone) extra_head_ = add_mixing(first, WalkOf::kColumns);
    mixing_together_ =
        find([](const MetricsOptions& c) { return c.normalization == Normalization::kPerHead; });
    if (heads_ > 1 && mixing_together_ == kNone)
      extra_together_ = add_mixing(first, WalkOf::kHeadWalks);
  }

  bool alone() const { return heads_ == 1; }
  bool walks() const { return options_.conventions.front().per_head_walks; }
  const std::vector<Task>& tasks() const { return tasks_; }
  int jobs_per_system() const;
  void add_jobs(const TokenSpan& sequence, int weights, std::vector<Job>& jobs);
  std::optional<std::vector<HeadsMetrics>> assemble(std::span<const Result> results, int nodes,
                                                    const std::vector<double>& weights) const;

 private:
  template <class Is>
  int find(Is is) const {
    const auto& all = options_.conventions;
    const auto found = std::find_if(all.begin(), all.end(), is);
    return found == all.end() ? kNone : static_cast<int>(found - all.begin());
  }
  int add_task(const MetricsOptions& convention, WalkOf walk, bool signal);
  int add_mixing(const MetricsOptions& convention, WalkOf walk);
  void add(const MetricsOptions& convention);
  void choose(Job& job, std::size_t c);

  const BatchOptions& options_;
  int heads_;
  std::vector<Task> tasks_;
  std::vector<ConventionTasks> conventions_;
  std::vector<ChosenNodes> chosen_;  // of every convention, for the newest sequence
  int mixing_of_heads_ = kNone;      // the convention that has T_mix of the heads' own walks
  int mixing_together_ = kNone;      // the one that has T_mix of their sum
  int extra_head_ = kNone;           // tasks, where no convention has it
  int extra_together_ = kNone;
};

int Plan::add_task(const MetricsOptions& convention, WalkOf walk, bool signal) {
  Task task;
  task.walk = walk;
  task.signal = signal;
  task.horizon = convention.fidelity.horizon;
  task.cutoff = convention.walk.cutoff;
  for (const double eps : convention.walk.eps)
    task.threshold[task.eps++] = mixing_rules::Threshold(eps).value;
  tasks_.push_back(task);
  return static_cast<int>(tasks_.size()) - 1;
}

/// T_mix for the first eps alone.
int Plan::add_mixing(const MetricsOptions& convention, WalkOf walk) {
  const int added = add_task(convention, walk, false);
  tasks_.back().eps = 1;
  tasks_.back().cutoff = 0;
  return added;
}

void Plan::add(const MetricsOptions& convention) {
  ConventionTasks tasks;
  const bool published = convention.normalization == Normalization::kPublished;
  const bool per_head = convention.normalization == Normalization::kPerHead;
  const WalkOf own = published ? WalkOf::kPublished : WalkOf::kColumns;
  tasks.combined = add_task(convention, per_head && !alone() ? WalkOf::kNone : own, true);
  if (!alone()) {
    tasks.head = add_task(convention, walks() ? own : WalkOf::kNone, true);
    if (per_head) tasks.head_walks = add_task(convention, WalkOf::kHeadWalks, false);
  }
  conventions_.push_back(tasks);
  chosen_.emplace_back();
}

int Plan::jobs_per_system() const {
  int jobs = 0;
  for (const ConventionTasks& tasks : conventions_)
    jobs += 1 + (tasks.head == kNone ? 0 : heads_) + (tasks.head_walks == kNone ? 0 : 1);
  return jobs + (extra_head_ == kNone ? 0 : heads_) + (extra_together_ == kNone ? 0 : 1);
}

/// Sequences of one length have the same nodes.
void Plan::choose(Job& job, std::size_t c) {
  ChosenNodes& known = chosen_[c];
  if (known.nodes != job.nodes) known = chosen_nodes(options_.conventions[c].fidelity, job.nodes);
  std::copy(known.bits.begin(), known.bits.end(), job.chosen);
}

void Plan::add_jobs(const TokenSpan& sequence, int weights, std::vector<Job>& jobs) {
  Job job;
  job.sample = sequence.sample;
  job.begin = static_cast<int>(sequence.begin);
  job.nodes = static_cast<int>(sequence.end - sequence.begin);
  job.weights = weights;
  const auto push = [&](int task, int head, int combined) {
    job.task = task;
    job.head = head;
    job.combined = combined;
    jobs.push_back(job);
    return static_cast<int>(jobs.size()) - 1;
  };
  for (std::size_t c = 0; c < conventions_.size(); ++c) {
    const ConventionTasks& tasks = conventions_[c];
    choose(job, c);
    const int combined = push(tasks.combined, alone() ? 0 : -1, -1);
    if (tasks.head_walks != kNone) push(tasks.head_walks, -1, -1);
    for (int h = 0; tasks.head != kNone && h < heads_; ++h) push(tasks.head, h, combined);
  }
  if (extra_together_ != kNone) push(extra_together_, -1, -1);
  for (int h = 0; extra_head_ != kNone && h < heads_; ++h) push(extra_head_, h, -1);
}

void set_walk(Metrics& metrics, const Result& result, const Task& task, int nodes) {
  metrics.forward_probability = result.forward_probability;
  metrics.bound = mixing_bound(nodes, result.forward_probability);
  metrics.walk.hitting.mean = result.hitting_mean;
  metrics.walk.hitting.max = result.hitting_max;
  metrics.walk.hitting.worst_node = result.hitting_worst;
  metrics.walk.truncated.mean = result.truncated_mean;
  metrics.walk.truncated.max = result.truncated_max;
  metrics.walk.truncated.worst_node = result.truncated_worst;
  metrics.walk.mixing.assign(result.mixing, result.mixing + task.eps);
}

void set_fidelity(Metrics& metrics, const Result& result, const Task& task) {
  Fidelity& fidelity = metrics.fidelity;
  fidelity.minimax = fidelity.minimax_upper = result.minimax;
  fidelity.minimax_node = result.minimax_node;
  fidelity.minimax_time = result.minimax_time;
  fidelity.certified = task.horizon == 0;
  fidelity.steps = result.signal_steps;
}

Metrics metrics_of(const Result& result, const Task& task, int nodes) {
  Metrics metrics;
  if (task.walk != WalkOf::kNone) set_walk(metrics, result, task, nodes);
  if (task.signal) set_fidelity(metrics, result, task);
  return metrics;
}

FidelityRange range_of(const Metrics& metrics) {
  return {metrics.fidelity.minimax, metrics.fidelity.minimax_upper};
}

/// One system under all conventions, from the results of its jobs: see Measurement::finish() of
/// heads/measure.cpp. Nothing where a job is undecided, or a share.
std::optional<std::vector<HeadsMetrics>> Plan::assemble(std::span<const Result> results, int nodes,
                                                        const std::vector<double>& weights) const {
  if (std::any_of(results.begin(), results.end(),
                  [](const Result& result) { return result.undecided != 0; }))
    return std::nullopt;
  static const Matrix same_in_every_row;
  static const Execution serial{.threads = 1};
  std::vector<HeadsMetrics> systems;
  systems.reserve(conventions_.size());
  const Result* next = results.data();
  const auto task_at = [&](int task) -> const Task& {
    return tasks_[static_cast<std::size_t>(task)];
  };
  for (const ConventionTasks& tasks : conventions_) {
    HeadsMetrics& system = systems.emplace_back();
    system.combined = metrics_of(*next++, task_at(tasks.combined), nodes);
    if (tasks.head_walks != kNone)
      set_walk(system.combined, *next++, task_at(tasks.head_walks), nodes);
    const Fidelity& fidelity = system.combined.fidelity;
    CrossHeadShare share(weights, same_in_every_row, fidelity.minimax_node, fidelity.minimax_time,
                         fidelity.minimax, serial);
    system.heads.reserve(static_cast<std::size_t>(heads_));
    for (int h = 0; tasks.head != kNone && h < heads_; ++h, ++next) {
      system.heads.push_back(metrics_of(*next, task_at(tasks.head), nodes));
      if (!share.wants(h)) continue;
      if (std::isnan(next->signal)) return std::nullopt;
      share.add_signal(h, next->signal);
    }
    if (alone()) {
      system.heads.emplace_back();
      if (walks())
        system.heads.front() = system.combined;
      else
        system.heads.front().fidelity = fidelity;
    }
    const std::optional<double> known = share.share_within(kMostPure);
    if (!known) return std::nullopt;
    system.cross_head_share = *known;
    std::vector<FidelityRange> ranges;
    ranges.reserve(system.heads.size());
    for (const Metrics& head : system.heads) ranges.push_back(range_of(head));
    system.synergy = compare_with_best(ranges, range_of(system.combined));
    if (!walks()) continue;
    std::vector<double> forward;
    forward.reserve(system.heads.size());
    for (const Metrics& head : system.heads) forward.push_back(head.forward_probability);
    system.effective_forward_probability = combined_forward_probability(forward, weights);
    system.effective_bound = mixing_bound(nodes, system.effective_forward_probability);
    system.adaptive = adaptive_bound(nodes, forward);
  }
  if (!walks()) return systems;
  const auto of = [&](int c) -> const HeadsMetrics& {
    return systems[static_cast<std::size_t>(c)];
  };
  double together = extra_together_ != kNone    ? (next++)->mixing[0]
                    : mixing_together_ != kNone ? of(mixing_together_).combined.walk.mixing.front()
                                                : 0.0;
  double fastest = kInfinity;
  for (int h = 0; h < heads_; ++h)
    fastest = std::min(
        fastest, extra_head_ != kNone
                     ? next[h].mixing[0]
                     : of(mixing_of_heads_).heads[static_cast<std::size_t>(h)].walk.mixing.front());
  if (alone()) together = fastest;
  for (HeadsMetrics& system : systems) system.mixing_synergy = ratio(fastest, together);
  return systems;
}

/// Some of the sequences: what the runner measures at a time.
struct Piece {
  std::span<const TokenSpan> sequences;
  std::span<const double> weights;
  std::vector<Job> jobs;
  std::vector<std::size_t> begin;  // of each sequence's jobs
  std::span<const Result> results;
  std::vector<Result> kept;

  void take(std::span<const TokenSpan> sequences_taken, std::span<const double> weights_taken,
            Plan& plan);
  /// The runner overwrites its results when it measures the next piece.
  void keep_results() {
    kept.assign(results.begin(), results.end());
    results = kept;
  }
  void assemble(const Plan& plan, int threads,
                std::optional<std::vector<HeadsMetrics>>* measured) const;
};

void Piece::take(std::span<const TokenSpan> sequences_taken, std::span<const double> weights_taken,
                 Plan& plan) {
  sequences = sequences_taken;
  weights = weights_taken;
  const std::size_t heads = weights.size() / sequences.size();
  jobs.clear();
  jobs.reserve(sequences.size() * static_cast<std::size_t>(plan.jobs_per_system()));
  begin.clear();
  begin.reserve(sequences.size() + 1);
  for (std::size_t k = 0; k < sequences.size(); ++k) {
    begin.push_back(jobs.size());
    const std::int64_t nodes = sequences[k].end - sequences[k].begin;
    if (nodes >= 2 && nodes <= kMostNodes)
      plan.add_jobs(sequences[k], static_cast<int>(k * heads), jobs);
  }
  begin.push_back(jobs.size());
}

void Piece::assemble(const Plan& plan, int threads,
                     std::optional<std::vector<HeadsMetrics>>* measured) const {
  const std::size_t heads = weights.size() / sequences.size();
  const std::size_t tasks = (sequences.size() + kSystemsATask - 1) / kSystemsATask;
  parallel_for(tasks, threads, [&](std::size_t task, int) {
    const std::size_t end = std::min(sequences.size(), (task + 1) * kSystemsATask);
    for (std::size_t k = task * kSystemsATask; k < end; ++k) {
      if (begin[k + 1] == begin[k]) continue;
      const std::span<const double> own = weights.subspan(k * heads, heads);
      measured[k] = plan.assemble(results.subspan(begin[k], begin[k + 1] - begin[k]),
                                  static_cast<int>(sequences[k].end - sequences[k].begin),
                                  {own.begin(), own.end()});
    }
  });
}

/// Pieces are large enough to keep a device busy. A single thread waits for nothing.
std::size_t sequences_a_piece(std::size_t sequences, int jobs_per_system, int threads) {
  if (threads < 2) return sequences;
  const std::size_t least = (kJobsAPiece - 1) / static_cast<std::size_t>(jobs_per_system) + 1;
  return std::max(least, (sequences + kPieces - 1) / kPieces);
}

}  // namespace

Attention attention_of(const AttentionView& view, const BatchOptions& options) {
  const auto tokens = static_cast<int>(view.tokens);
  const AttentionCheck check = attention_check(view.type, tokens, options.row_tolerance);
  Attention attention;
  attention.data = view.data;
  attention.type = view.type;
  attention.sample = view.strides.sample;
  attention.head = view.strides.head;
  attention.query = view.strides.query;
  attention.key = view.strides.key;
  attention.tokens = tokens;
  attention.heads = static_cast<int>(view.heads);
  attention.row_tolerance = check.row_tolerance;
  attention.causal_tolerance = check.causal_tolerance;
  return attention;
}

std::string refusal(const BatchOptions& options) {
  if (options.nodes) return "numbers of every node";
  if (options.missing_mass != MissingMass::kError) return "a node for missing mass";
  for (const MetricsOptions& each : options.conventions) {
    if (each.fidelity.step_limit < std::numeric_limits<std::int64_t>::max()) return "a step limit";
    if (each.fidelity.every_node) return "certificates of every node";
    if (each.backward) return "averaged and backward times";
    if (each.walk.stepping >= 0) return "a number of single steps";
    if (each.walk.eps.size() > kMostEps) return "so many eps";
    for (const double eps : each.walk.eps)
      if (mixing_rules::followed_for(eps) != mixing_rules::kSurvival)
        return "eps above 1/2, or next to nothing";
  }
  return {};
}

std::vector<std::optional<std::vector<HeadsMetrics>>> measure_sequences(
    Runner& runner, const Attention& attention, std::span<const TokenSpan> sequences,
    std::span<const double> weights, const BatchOptions& options) {
  std::vector<std::optional<std::vector<HeadsMetrics>>> measured(sequences.size());
  if (sequences.empty() || !refusal(options).empty()) return measured;
  const auto heads = static_cast<std::size_t>(attention.heads);
  Plan plan(options, attention.heads);
  const int threads = options.execution.thread_count();
  const std::size_t size = sequences_a_piece(sequences.size(), plan.jobs_per_system(), threads);
  Piece pieces[2];  // one is put together while the runner measures the other
  std::future<void> assembly;
  for (std::size_t first = 0, turn = 0; first < sequences.size(); first += size, turn ^= 1U) {
    const std::size_t count = std::min(size, sequences.size() - first);
    const bool is_last = first + count == sequences.size();
    Piece& piece = pieces[turn];
    piece.take(sequences.subspan(first, count), weights.subspan(first * heads, count * heads),
               plan);
    piece.results = runner.run(attention, plan.tasks(), piece.jobs, piece.weights);
    if (!is_last) piece.keep_results();
    if (assembly.valid()) assembly.get();
    const auto assemble = [&piece, &plan, threads, into = measured.data() + first] {
      piece.assemble(plan, threads, into);
    };
    try {
      if (!is_last) assembly = std::async(std::launch::async, assemble);
    } catch (const std::system_error&) {  // no thread to be had
    }
    if (!assembly.valid()) assemble();
  }
  return measured;
}

}  // namespace synergraph::small

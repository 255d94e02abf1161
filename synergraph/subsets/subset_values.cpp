#include "synergraph/subsets/subset_values.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <mutex>

#include "synergraph/core/error.h"
#include "synergraph/core/parallel.h"
#include "synergraph/heads/measure_systems.h"
#include "synergraph/heads/sample_heads.h"
#include "synergraph/subsets/head_sums.h"
#include "synergraph/subsets/subset.h"

namespace synergraph {
namespace {

void check(const HeadSource& heads, const SubsetOptions& options) {
  if (heads.heads() < 1 || heads.nodes() < 1)
    throw InputError(
        fmt::format("{} heads of {} nodes: nothing to measure", heads.heads(), heads.nodes()));
  if (!options.fidelity && !options.speed)
    throw InputError("neither the fidelity nor the speed of subsets is asked for");
  check_convention(options.convention);
}

/// A table being filled. The last heads are put in and left out along a binary tree, each node of
/// which is one addition; a task is such a tree on top of one subset of the other heads, which is
/// summed up for it. So tasks need nothing of each other, and however many heads a tree has, the
/// sum of a subset is made in the order of its heads.
class Table {
 public:
  Table(const HeadSums& sums, const SubsetOptions& options)
      : sums_(sums), options_(options), nothing_(sums.empty()) {
    const std::size_t size = std::size_t{1} << static_cast<unsigned>(sums.heads());
    values_.heads = sums.heads();
    if (options.fidelity) values_.fidelity.resize(size);
    if (options.speed) values_.speed.resize(size);
    divide();
  }

  SubsetValues fill();

 private:
  struct Worker {
    std::vector<HeadSum> sums;  // of the heads so far, as heads were put in
    std::vector<int> heads;
    Subset subset = 0;
    double gap = 0.0;
    std::uint64_t uncertified = 0;
  };

  void divide();
  void fill_task(Subset first_heads, Worker& worker);
  void visit(const HeadSum& sum, int head, std::size_t level, Worker& worker);
  void put_in(int head, Worker& worker) const;

  const HeadSums& sums_;
  const SubsetOptions& options_;
  const HeadSum nothing_;
  SubsetValues values_;
  int workers_ = 1;
  int tree_heads_ = 0;
  Execution each_;  // of each value
};

/// How many threads there are and how large their trees, by the memory for their sums.
void Table::divide() {
  constexpr int kMostTreeHeads = 6;
  const int heads = sums_.heads();
  const int threads =
      std::min(options_.execution.thread_count(), 1 << static_cast<unsigned>(heads));
  const double room = 0.5 * static_cast<double>(options_.execution.memory.bytes()) /
                      static_cast<double>(sums_.sum_bytes());
  workers_ = static_cast<int>(std::clamp(room, 1.0, static_cast<double>(threads)));
  // Some tasks for every worker.
  const int others =
      workers_ == 1 ? 0 : static_cast<int>(std::bit_width(static_cast<unsigned>(4 * workers_)));
  tree_heads_ = std::clamp(heads - others, 0, kMostTreeHeads);
  tree_heads_ = static_cast<int>(std::clamp(room / workers_ - 1.0, 0.0, tree_heads_ + 0.0));
  each_ = execution_of_each(options_.execution, workers_);
}

void Table::visit(const HeadSum& sum, int head, std::size_t level, Worker& worker) {
  if (head == sums_.heads()) {
    each_.check();
    const SubsetValue value = sums_.value(sum, worker.heads, each_);
    if (options_.fidelity) values_.fidelity[worker.subset] = value.fidelity;
    if (options_.speed) values_.speed[worker.subset] = value.speed;
    if (value.fidelity_upper > value.fidelity) {
      worker.gap = std::max(worker.gap, value.fidelity_upper - value.fidelity);
      ++worker.uncertified;
    }
    return;
  }
  visit(sum, head + 1, level, worker);
  HeadSum& with = worker.sums[level];
  sums_.add(sum, head, with);
  put_in(head, worker);
  visit(with, head + 1, level + 1, worker);
  worker.heads.pop_back();
  worker.subset &= ~(Subset{1} << static_cast<unsigned>(head));
}

void Table::put_in(int head, Worker& worker) const {
  worker.heads.push_back(head);
  worker.subset |= Subset{1} << static_cast<unsigned>(head);
}

void Table::fill_task(Subset first_heads, Worker& worker) {
  while (worker.sums.size() <= static_cast<std::size_t>(tree_heads_))
    worker.sums.push_back(sums_.empty());
  worker.heads.clear();
  worker.subset = 0;
  const HeadSum* sum = &nothing_;
  for (const int head : heads_in(first_heads)) {
    sums_.add(*sum, head, worker.sums.front());
    put_in(head, worker);
    sum = &worker.sums.front();
  }
  visit(*sum, sums_.heads() - tree_heads_, 1, worker);
}

SubsetValues Table::fill() {
  const auto first_heads = static_cast<unsigned>(sums_.heads() - tree_heads_);
  std::vector<Worker> workers(static_cast<std::size_t>(workers_));
  std::mutex mutex;
  std::uint64_t done = 0;
  parallel_for(std::size_t{1} << first_heads, workers_, [&](std::size_t task, int worker) {
    fill_task(static_cast<Subset>(task), workers[static_cast<std::size_t>(worker)]);
    if (!options_.subsets_done) return;
    const std::lock_guard lock(mutex);
    options_.subsets_done(done += std::uint64_t{1} << static_cast<unsigned>(tree_heads_));
  });
  for (const Worker& worker : workers) {
    values_.fidelity_gap = std::max(values_.fidelity_gap, worker.gap);
    values_.uncertified += worker.uncertified;
  }
  return std::move(values_);
}

}  // namespace

SubsetValues subset_values(HeadSource& heads, std::span<const double> weights,
                           const SubsetOptions& options) {
  check(heads, options);
  if (heads.heads() > kMaxExactHeads)
    throw InputError(fmt::format("{} heads: all subsets of at most {} can be measured",
                                 heads.heads(), kMaxExactHeads));
  const HeadSums sums(heads, weights, options);
  return Table(sums, options).fill();
}

SubsetValues subset_values(const AttentionView& attention, std::int64_t sample,
                           std::span<const double> weights, const SubsetOptions& options) {
  check_view(attention);
  if (sample < 0 || sample >= attention.samples)
    throw InputError(
        fmt::format("sample {} was asked for, there are 0:{}", sample, attention.samples));
  SampleHeads heads(static_cast<int>(attention.heads), static_cast<int>(attention.tokens),
                    options.execution.memory);
  heads.start(head_reader(attention, {sample, 0, attention.tokens}));
  const std::vector<double> equal(static_cast<std::size_t>(attention.heads), 1.0);
  return subset_values(heads, weights.empty() ? equal : weights, options);
}

HeadSubsets::HeadSubsets(HeadSource& heads, std::span<const double> weights,
                         const SubsetOptions& options)
    : execution_(execution_of_each(options.execution, options.execution.thread_count())) {
  check(heads, options);
  sums_ = std::make_shared<HeadSums>(heads, weights, options);
}

int HeadSubsets::heads() const {
  return sums_->heads();
}

std::vector<SubsetValue> HeadSubsets::prefix_values(std::span<const int> order, int begin,
                                                    int step) const {
  check_heads(order);
  if (begin < 0 || step < 1)
    throw InputError(
        fmt::format("the first {} heads in steps of {}: expected at least 0 and 1", begin, step));
  std::vector<SubsetValue> values;
  HeadSum sum = sums_->empty();
  for (int k = 0; k <= static_cast<int>(order.size()); ++k) {
    if (k > 0) sums_->add(sum, order[static_cast<std::size_t>(k - 1)], sum);
    if (k < begin || (k - begin) % step != 0) continue;
    execution_.check();
    values.push_back(sums_->value(sum, order.first(static_cast<std::size_t>(k)), execution_));
  }
  return values;
}

SubsetValue HeadSubsets::value(std::span<const int> heads) const {
  check_heads(heads);
  HeadSum sum = sums_->empty();
  for (const int head : heads) sums_->add(sum, head, sum);
  return sums_->value(sum, heads, execution_);
}

void HeadSubsets::check_heads(std::span<const int> list) const {
  std::vector<bool> seen(static_cast<std::size_t>(heads()), false);
  for (const int head : list) {
    if (head < 0 || head >= heads())
      throw InputError(fmt::format("head {} was asked for, there are 0:{}", head, heads()));
    if (seen[static_cast<std::size_t>(head)])
      throw InputError(fmt::format("head {} was asked for twice", head));
    seen[static_cast<std::size_t>(head)] = true;
  }
}

}  // namespace synergraph

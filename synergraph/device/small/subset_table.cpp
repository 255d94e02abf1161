#include "synergraph/device/small/subset_table.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "synergraph/core/parallel.h"
#include "synergraph/device/small/systems.h"
#include "synergraph/diffusion/minimax_nodes.h"
#include "synergraph/heads/sample_heads.h"
#include "synergraph/subsets/subset.h"

namespace synergraph::small {
namespace {

/// A sample where the CPU reaches it.
class SampleOnCpu {
 public:
  SampleOnCpu(const AttentionView& attention, std::int64_t sample, const FetchHead& fetch)
      : view_(attention) {
    if (!fetch) return;
    view_ = attention_view(nullptr, view_.type, view_.samples, view_.heads, view_.tokens);
    held_.resize(static_cast<std::size_t>(view_.strides.sample));
    for (std::int64_t h = 0; h < view_.heads; ++h)
      fetch(sample, h, held_.data() + h * view_.strides.head);
    view_.data = held_.data();
    view_.strides.sample = 0;
  }
  const AttentionView& view() const { return view_; }

 private:
  AttentionView view_;
  std::vector<std::byte> held_;
};

/// Measures undecided subsets on the CPU.
void measure_left(const std::vector<Subset>& left, const AttentionView& attention,
                  std::int64_t sample, std::span<const double> weights,
                  const SubsetOptions& options, SubsetValues& values) {
  SampleHeads heads(static_cast<int>(attention.heads), static_cast<int>(attention.tokens),
                    options.execution.memory);
  heads.start(head_reader(attention, {sample, 0, attention.tokens}));
  const HeadSubsets subsets(heads, weights, options);
  std::vector<SubsetValue> found(left.size());
  parallel_for(left.size(), options.execution.threads, [&](std::size_t k, int) {
    options.execution.check();
    found[k] = subsets.value(heads_in(left[k]));
  });
  for (std::size_t k = 0; k < left.size(); ++k) {
    if (options.fidelity) values.fidelity[left[k]] = found[k].fidelity;
    if (options.speed) values.speed[left[k]] = found[k].speed;
    if (!(found[k].fidelity_upper > found[k].fidelity)) continue;
    values.fidelity_gap =
        std::max(values.fidelity_gap, found[k].fidelity_upper - found[k].fidelity);
    ++values.uncertified;
  }
}

Task task_of(const SubsetOptions& options) {
  Task task;
  task.signal = options.fidelity;
  task.horizon = options.convention.fidelity.horizon;
  task.cutoff = options.convention.walk.cutoff;
  task.walk = !options.speed                                                  ? WalkOf::kNone
              : options.convention.normalization == Normalization::kPublished ? WalkOf::kPublished
                                                                              : WalkOf::kColumns;
  return task;
}

}  // namespace

std::string refusal(const AttentionView& attention, const SubsetOptions& options) {
  if (attention.tokens < 2 || attention.tokens > kMostNodes) return "so many tokens";
  if (attention.heads > kMaxExactHeads) return "so many heads";
  if (!options.fidelity && !options.speed) return "no value";
  if (options.speed && options.convention.normalization == Normalization::kPerHead)
    return "sums of walks";
  if (options.convention.fidelity.step_limit < std::numeric_limits<std::int64_t>::max())
    return "a step limit";
  return {};
}

SubsetValues subset_values(Runner& runner, const AttentionView& attention, std::int64_t sample,
                           std::span<const double> weights, const SubsetOptions& options,
                           const FetchHead& fetch) {
  check_view(attention);
  const bool exists = sample >= 0 && sample < attention.samples;
  const auto on_cpu = [&] {
    const SampleOnCpu held(attention, exists ? sample : 0, fetch);
    return synergraph::subset_values(held.view(), sample, weights, options);
  };
  if (!exists || !refusal(attention, options).empty()) return on_cpu();
  check_convention(options.convention);
  const auto heads = static_cast<std::size_t>(attention.heads);
  const std::vector<double> raw = weights.empty()
                                      ? std::vector<double>(heads, 1.0)
                                      : std::vector<double>(weights.begin(), weights.end());
  const std::vector<double> convex = normalised_weights(raw, heads);
  Job job;
  job.sample = sample;
  job.nodes = static_cast<int>(attention.tokens);
  for (const int node : minimax_nodes(options.convention.fidelity, job.nodes))
    job.chosen[node / 32] |= 1U << static_cast<unsigned>(node % 32);
  const std::span<const SubsetFound> found =
      runner.run_subsets(attention_of(attention, {}), task_of(options), job, convex);
  if (found.empty()) return on_cpu();
  SubsetValues values;
  values.heads = static_cast<int>(heads);
  if (options.fidelity) values.fidelity.resize(found.size());
  if (options.speed) values.speed.resize(found.size());
  const auto cutoff = static_cast<double>(options.convention.walk.cutoff);
  std::vector<Subset> left;
  for (std::size_t s = 1; s < found.size(); ++s) {
    if (found[s].undecided != 0) {
      left.push_back(static_cast<Subset>(s));
      continue;
    }
    if (options.fidelity) values.fidelity[s] = found[s].minimax;
    if (options.speed) values.speed[s] = 1.0 - found[s].truncated_mean / cutoff;
  }
  if (!left.empty()) {
    const SampleOnCpu held(attention, sample, fetch);
    measure_left(left, held.view(), sample, raw, options, values);
  }
  if (options.subsets_done) options.subsets_done(found.size());
  return values;
}

}  // namespace synergraph::small

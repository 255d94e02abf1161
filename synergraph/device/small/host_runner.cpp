#include <algorithm>

#include "synergraph/device/small/host_team.h"
#include "synergraph/device/small/measure_matrix.h"
#include "synergraph/device/small/measure_subset.h"
#include "synergraph/device/small/runner.h"

namespace synergraph::small {
void HostTeam::square(const double* matrix, double* square, int nodes) const {
  std::fill_n(square, triangle_of(nodes), 0.0);
  for (int i = 0; i < nodes; ++i)
    for (int k = 0; k <= i; ++k)
      for (int j = 0; j <= k; ++j)
        square[triangle_of(i) + j] += matrix[triangle_of(i) + k] * matrix[triangle_of(k) + j];
}

double* HostRunner::memory() {
  memory_.resize(static_cast<std::size_t>(Memory::doubles(kMostNodes, true)) + 2);
  // Pairs lie on boundaries of 16 bytes.
  return memory_.data() + reinterpret_cast<std::uintptr_t>(memory_.data()) % 16 / 8;
}

std::span<const Result> HostRunner::run(const Attention& attention, std::span<const Task> tasks,
                                        std::span<const Job> jobs,
                                        std::span<const double> weights) {
  results_.assign(jobs.size(), {});
  const Work work{attention, tasks.data(), jobs.data(), weights.data(), results_.data()};
  for (std::size_t k = 0; k < jobs.size(); ++k) {
    HostTeam team;
    measure_job(team, work, static_cast<int>(k), memory(), nullptr);
    if (results_[k].undecided != 0 || results_[k].squares == 0) continue;
    powers_.resize(static_cast<std::size_t>(kMostPowers) *
                   static_cast<std::size_t>(triangle_of(jobs[k].nodes)));
    measure_job(team, work, static_cast<int>(k), memory(), powers_.data());
  }
  return results_;
}

std::span<const SubsetFound> HostRunner::run_subsets(const Attention& attention, const Task& task,
                                                     const Job& job,
                                                     std::span<const double> weights) {
  const auto entries = static_cast<std::size_t>(triangle_of(job.nodes));
  std::vector<double> heads(entries * weights.size());
  HostTeam team;
  for (int h = 0; h < attention.heads; ++h)
    if (load_head(team, attention, job, h, weights[static_cast<std::size_t>(h)],
                  heads.data() + static_cast<std::size_t>(h) * entries))
      return {};
  const SubsetSplit split(attention.heads);
  std::vector<double> low(split.low_subsets() * entries);
  std::vector<double> high(split.high_subsets() * entries);
  std::vector<double> low_weight(split.low_subsets());
  std::vector<double> high_weight(split.high_subsets());
  const auto add_up = [&](std::size_t subset, int first, const double* of, std::size_t size) {
    return [=](std::size_t e) {
      return sum_of_subset(of + e, size, first, static_cast<unsigned>(subset));
    };
  };
  for (std::size_t s = 0; s < low_weight.size(); ++s) {
    low_weight[s] = add_up(s, 0, weights.data(), 1)(0);
    for (std::size_t e = 0; e < entries; ++e)
      low[s * entries + e] = add_up(s, 0, heads.data(), entries)(e);
  }
  for (std::size_t s = 0; s < high_weight.size(); ++s) {
    high_weight[s] = add_up(s, split.low_heads, weights.data(), 1)(0);
    for (std::size_t e = 0; e < entries; ++e)
      high[s * entries + e] = add_up(s, split.low_heads, heads.data(), entries)(e);
  }
  const SubsetSums sums{low.data(), high.data(), low_weight.data(), high_weight.data(),
                        split.low_heads};
  found_.assign(low_weight.size() * high_weight.size(), {});
  for (std::size_t subset = 1; subset < found_.size(); ++subset) {
    Result result;
    found_[subset] =
        measure_subset(team, sums, task, job, static_cast<unsigned>(subset), result, memory());
  }
  return found_;
}

}  // namespace synergraph::small

#pragma once

#include <cstddef>

#include "synergraph/device/small/measure_matrix.h"
#include "synergraph/subsets/head_sums.h"

// All subsets of the heads of a small system. The sums of all subsets of the first heads and of all
// subsets of the others are made once; they fit the second-level cache. Each subset of all heads is
// then one addition of two of them, by the team that measures it. Nothing is subtracted, and the
// sum of a subset depends on the subset alone.

namespace synergraph::small {

/// Which heads make the first sums, and which the others.
struct SubsetSplit {
  int low_heads = 0;
  int high_heads = 0;

  constexpr explicit SubsetSplit(int heads)
      : low_heads((heads + 1) / 2), high_heads(heads - (heads + 1) / 2) {}
  constexpr std::size_t low_subsets() const {
    return std::size_t{1} << static_cast<unsigned>(low_heads);
  }
  constexpr std::size_t high_subsets() const {
    return std::size_t{1} << static_cast<unsigned>(high_heads);
  }
};

/// Sums the numbers of the heads in a subset, in the order of the heads. Bit b is head first + b,
/// whose number is at of[(first + b) * stride].
SYNERGRAPH_HD_INLINE double sum_of_subset(const double* of, std::size_t stride, int first,
                                          unsigned subset) {
  double sum = 0.0;
  for (int head = first; subset != 0; ++head, subset >>= 1U)
    if ((subset & 1U) != 0) sum += of[static_cast<std::size_t>(head) * stride];
  return sum;
}

/// Measures the weighted mean of a subset that is not empty. `result` is the team's own.
template <class Team>
SYNERGRAPH_HD_INLINE SubsetFound measure_subset(Team& team, const SubsetSums& sums,
                                                const Task& task, const Job& job, unsigned subset,
                                                Result& result, double* shared) {
  const unsigned low = subset & ((1U << static_cast<unsigned>(sums.low_heads)) - 1U);
  const unsigned high = subset >> static_cast<unsigned>(sums.low_heads);
  const int entries = triangle_of(job.nodes);
  const Memory memory = Memory::at(shared, job.nodes);
  const double weight = sums.low_weight[low] + sums.high_weight[high];
  SubsetFound found;
  if (!(weight >= kLeastSumWeight)) {
    found.undecided = kOutOfRange;
    return found;
  }
  const double factor = 1.0 / weight;
  const double* a = sums.low + static_cast<std::size_t>(low) * static_cast<std::size_t>(entries);
  const double* b = sums.high + static_cast<std::size_t>(high) * static_cast<std::size_t>(entries);
  constexpr int kTogether = 8;  // entries that a thread reads at a time: memory is far
  for (int first = team.rank(); first < entries; first += kTogether * team.size()) {
    double sum[kTogether];
    SYNERGRAPH_UNROLL
    for (int k = 0; k < kTogether; ++k) {
      const int e = first + k * team.size();
      sum[k] = e < entries ? a[e] + b[e] : 0.0;
    }
    SYNERGRAPH_UNROLL
    for (int k = 0; k < kTogether; ++k) {
      const int e = first + k * team.size();
      if (e < entries) memory.matrix[e] = sum[k] * factor;
    }
  }
  team.sync();
  MatrixMeasurement<Team> measurement(team, memory, task, job);
  found.undecided = measurement.run(false, result);
  team.sync();
  found.minimax = result.minimax;
  found.truncated_mean = result.truncated_mean;
  return found;
}

}  // namespace synergraph::small

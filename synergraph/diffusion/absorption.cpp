#include "synergraph/diffusion/absorption.h"

#include <algorithm>
#include <limits>

#include "synergraph/core/array_math.h"
#include "synergraph/core/safe_range.h"

namespace synergraph {
namespace {

/// The passing probability of node i, which passes on so little that products with it vanish.
[[gnu::noinline, gnu::cold]] double passing_next_to_nothing(const double* row, int i, int target,
                                                            const double* passing) {
  std::vector<double> scaled(static_cast<std::size_t>(i));
  scale_to_safe_range(row, i, scaled.data());
  return dot(scaled.data() + target, passing, i - target) / total(scaled.data(), i);
}

}  // namespace

std::vector<double> absorption_probability(ConstMatrixView diffusion) {
  const int n = diffusion.rows;
  const auto size = static_cast<std::size_t>(n);
  std::vector<double> result(size, std::numeric_limits<double>::quiet_NaN());
  // Where every node passes something on to node 0, as softmax attention does, all ends there.
  int passes = 1;
  while (passes < n && diffusion(passes, 0) > 0.0) ++passes;
  if (passes == n) {
    result.front() = 1.0;
    return result;
  }
  // arrival[j]: probability that the way back from the sink ever comes through j. From j it leaves
  // to k < j with probability D(j, k) / sum of row j below the diagonal.
  std::vector<double> arrival(size, 0.0);
  arrival.back() = 1.0;
  for (int j = n - 1; j >= 0; --j) {
    const double* row = diffusion.row(j);
    const double down = total(row, j);
    const double here = arrival[static_cast<std::size_t>(j)];
    if (!(down > 0.0)) {
      result[static_cast<std::size_t>(j)] = here;
      continue;
    }
    if (in_safe_range(down)) {
      add_scaled(row, here / down, j, arrival.data());
    } else {
      for (int k = 0; k < j; ++k) arrival[static_cast<std::size_t>(k)] += here * (row[k] / down);
    }
  }
  return result;
}

std::vector<double> last_arrival(ConstMatrixView diffusion) {
  const int n = diffusion.rows;
  std::vector<double> last(static_cast<std::size_t>(n), -1.0);
  last.back() = 0.0;
  for (int i = n - 1; i > 0; --i) {
    if (last[static_cast<std::size_t>(i)] < 0.0) continue;
    const double next = diffusion(i, i) > 0.0 ? std::numeric_limits<double>::infinity()
                                              : last[static_cast<std::size_t>(i)] + 1.0;
    const double* row = diffusion.row(i);
    for (int j = 0; j < i; ++j)
      if (row[j] > 0.0)
        last[static_cast<std::size_t>(j)] = std::max(last[static_cast<std::size_t>(j)], next);
  }
  return last;
}

double passing_of_row(const double* row, int i, int target, const double* passing) {
  const double down = total(row, i);
  if (in_safe_range(down)) return dot(row + target, passing + target, i - target) / down;
  return down > 0.0 ? passing_next_to_nothing(row, i, target, passing + target) : 0.0;
}

std::vector<double> passing_probability(ConstMatrixView diffusion, int target) {
  std::vector<double> passing(static_cast<std::size_t>(diffusion.rows), 0.0);
  passing[static_cast<std::size_t>(target)] = 1.0;
  for (int i = target + 1; i < diffusion.rows; ++i)
    passing[static_cast<std::size_t>(i)] =
        passing_of_row(diffusion.row(i), i, target, passing.data());
  return passing;
}

}  // namespace synergraph

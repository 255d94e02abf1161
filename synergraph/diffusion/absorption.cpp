#include "synergraph/diffusion/absorption.h"

#include <limits>

#include "synergraph/core/simd.h"

namespace synergraph {

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
    const double share = here / down;
    for (int k = 0; k < j; ++k) arrival[static_cast<std::size_t>(k)] += share * row[k];
  }
  return result;
}

std::vector<double> passing_probability(ConstMatrixView diffusion, int target) {
  std::vector<double> passing(static_cast<std::size_t>(diffusion.rows), 0.0);
  passing[static_cast<std::size_t>(target)] = 1.0;
  for (int i = target + 1; i < diffusion.rows; ++i) {
    const double* row = diffusion.row(i);
    const double down = total(row, i);
    if (down > 0.0)
      passing[static_cast<std::size_t>(i)] =
          dot(row + target, passing.data() + target, i - target) / down;
  }
  return passing;
}

}  // namespace synergraph

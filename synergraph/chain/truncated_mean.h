#pragma once

#include <cstdint>
#include <optional>

#include "synergraph/core/matrix.h"

namespace synergraph {

/// A walk given by step weights in any units: P(j, i) = rows(j, i) / mass[j] for i > j. Entries
/// below the diagonal are never read.
struct StepWeights {
  ConstMatrixView rows;   ///< n x n
  const double* mass;     ///< sums of the rows from the diagonal on
  const double* forward;  ///< sums beyond the diagonal; where the sum is 0, the walk stays
};

/// Returns the mean over all start nodes of E[min(T, cutoff)], as truncated_hitting_times() does,
/// without making a Walk. truncated_mean() serves many walks of moderate size. The result is empty
/// if steps alone do not determine the mean, or if a mass is not in_safe_range().
std::optional<double> truncated_mean(const StepWeights& walk, std::int64_t cutoff);

}  // namespace synergraph

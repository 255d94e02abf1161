#pragma once

#include <cstdint>
#include <optional>

#include "synergraph/core/matrix.h"

namespace synergraph {

/// A walk by weights of its steps, in any units: P(j, i) = rows(j, i) / mass[j] for i > j. What is
/// below the diagonal is never read.
struct StepWeights {
  ConstMatrixView rows;   ///< n x n
  const double* mass;     ///< sums of the rows from their diagonals on
  const double* forward;  ///< beyond them: where it is 0, the walk stays
};

/// The mean over all start nodes of E[min(T, cutoff)], as truncated_hitting_times() has it, without
/// a walk being made: for many walks of moderate size. Nothing where steps alone do not find it, or
/// a mass is not in_safe_range().
std::optional<double> truncated_mean(const StepWeights& walk, std::int64_t cutoff);

}  // namespace synergraph

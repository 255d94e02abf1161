#include "synergraph/graph/attention.h"

#include <fmt/core.h>

#include <cmath>

#include "synergraph/core/error.h"
#include "synergraph/core/simd.h"

namespace synergraph {
namespace {

[[noreturn]] void reject_entry(const AttentionCheck& check, int row, int col, double value) {
  const char* why = !std::isfinite(value) ? "is not finite"
                    : value < 0.0         ? "is negative"
                                          : "is above the diagonal: a token attends to a later one";
  throw InputError(
      fmt::format("{}: entry {} in row {}, column {} {}", check.name, value, row, col, why));
}

}  // namespace

double checked_row_sum(const double* row, int i, int cols, const AttentionCheck& check) {
  bool good = true;
  for (int j = 0; j <= i; ++j) good = good & (row[j] >= 0.0) & (row[j] <= 1e300);
  for (int j = i + 1; j < cols; ++j)
    good = good & (row[j] >= -check.causal_tolerance) & (row[j] <= check.causal_tolerance);
  if (!good) {
    for (int j = 0; j < cols; ++j) {
      const double tolerance = j > i ? check.causal_tolerance : 1e300;
      if (!(row[j] <= tolerance) || !(row[j] >= (j > i ? -tolerance : 0.0)))
        reject_entry(check, i, j, row[j]);
    }
  }
  const double sum = total(row, i + 1);
  if (!(std::abs(sum - 1.0) <= check.row_tolerance))
    throw InputError(fmt::format("{}: row {} sums to {}, expected 1 within {:.2g}", check.name, i,
                                 sum, check.row_tolerance));
  return sum;
}

void normalise_attention(MatrixView attention, const AttentionCheck& check) {
  if (attention.rows != attention.cols || attention.rows < 1)
    throw InputError(fmt::format("{}: expected a square matrix, got {} x {}", check.name,
                                 attention.rows, attention.cols));
  const int n = attention.rows;
  for (int i = 0; i < n; ++i) {
    double* row = attention.row(i);
    const double sum = checked_row_sum(row, i, n, check);
    for (int j = 0; j <= i; ++j) row[j] /= sum;
    for (int j = i + 1; j < n; ++j) row[j] = 0.0;
  }
}

}  // namespace synergraph

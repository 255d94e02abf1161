#include "synergraph/graph/attention.h"

#include <fmt/core.h>

#include <cmath>

#include "synergraph/core/array_math.h"
#include "synergraph/core/error.h"

namespace synergraph {
namespace {

[[noreturn]] void reject_entry(const AttentionCheck& check, int row, int col, double value) {
  const std::string why =
      !std::isfinite(value) ? "is not finite"
      : value < 0.0         ? "is negative"
      : col <= row          ? "is no share of a row"
                            : "is above the diagonal: a token attends to a later one" + check.axes;
  throw InputError(
      fmt::format("{}: entry {} in row {}, column {} {}", check.name, value, row, col, why));
}

}  // namespace

double checked_row_sum(const double* row, int i, int cols, const AttentionCheck& check) {
  const bool good =
      within(row, i + 1, 0.0, 1e300) &&
      within(row + i + 1, cols - i - 1, -check.causal_tolerance, check.causal_tolerance);
  if (!good) {
    for (int j = 0; j < cols; ++j) {
      const double tolerance = j > i ? check.causal_tolerance : 1e300;
      if (!(row[j] <= tolerance) || !(row[j] >= (j > i ? -tolerance : 0.0)))
        reject_entry(check, i, j, row[j]);
    }
  }
  const double sum = total(row, i + 1);
  if (std::abs(sum - 1.0) <= check.row_tolerance) return sum;
  if (sum == 0.0)
    throw InputError(fmt::format(
        "{}: row {} gives nothing to any token: padding must be left out of the range of tokens",
        check.name, i));
  RowTolerance tolerance{check.row_tolerance};
  if (check.second_look) tolerance = check.second_look(row, i + 1);
  if (std::abs(sum - 1.0) <= tolerance.value) return sum;
  throw InputError(fmt::format("{}: row {} sums to {}, expected 1 within {:.2g}{}", check.name, i,
                               sum, tolerance.value, tolerance.reason));
}

void normalise_row(double* row, int i, int cols, const AttentionCheck& check) {
  const double sum = checked_row_sum(row, i, cols, check);
  for (int j = 0; j <= i; ++j) row[j] /= sum;
  for (int j = i + 1; j < cols; ++j) row[j] = 0.0;
}

void normalise_attention(MatrixView attention, const AttentionCheck& check) {
  if (attention.rows != attention.cols || attention.rows < 1)
    throw InputError(fmt::format("{}: expected a square matrix, got {} x {}", check.name,
                                 attention.rows, attention.cols));
  for (int i = 0; i < attention.rows; ++i)
    normalise_row(attention.row(i), i, attention.cols, check);
}

void cut_attention(const std::function<const double*(int i)>& row, int columns, int begin,
                   const AttentionCheck& check, Matrix& into) {
  for (int i = 0; i < into.rows(); ++i) {
    const double* whole = row(begin + i);
    double sum = checked_row_sum(whole, begin + i, columns, check);
    const double* kept = whole + begin;
    if (begin > 0) sum = total(kept, i + 1);
    if (!(sum > 0.0))
      throw InputError(fmt::format("{}: row {} gives nothing to the keys from {} on", check.name,
                                   begin + i, begin));
    double* to = into.row(i);
    for (int j = 0; j <= i; ++j) to[j] = kept[j] / sum;
  }
}

}  // namespace synergraph

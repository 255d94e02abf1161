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

/// What row i gives to tokens, and what is missing: 0 where only rounding may have taken it.
struct RowMass {
  double sum = 0.0;
  double missing = 0.0;
};

RowMass checked_row(const double* row, int i, int cols, const AttentionCheck& check,
                    MissingMass missing) {
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
  if (std::abs(sum - 1.0) <= check.row_tolerance) return {sum};
  if (sum == 0.0 && missing == MissingMass::kError)
    throw InputError(fmt::format(
        "{}: row {} gives nothing to any token: padding must be left out of the range of tokens",
        check.name, i));
  RowTolerance tolerance{check.row_tolerance};
  if (check.second_look) tolerance = check.second_look(row, i + 1);
  if (std::abs(sum - 1.0) <= tolerance.value) return {sum};
  if (sum < 1.0 && missing == MissingMass::kNode) return {sum, 1.0 - sum};
  throw InputError(fmt::format("{}: row {} sums to {}, expected 1 within {:.2g}{}{}", check.name, i,
                               sum, tolerance.value, tolerance.reason,
                               sum < 1.0 ? check.missing_hint : ""));
}

}  // namespace

double checked_row_sum(const double* row, int i, int cols, const AttentionCheck& check) {
  return checked_row(row, i, cols, check, MissingMass::kError).sum;
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
                   const AttentionCheck& check, Matrix& into, MissingMass missing) {
  const int extra = extra_nodes(missing);
  if (extra == 1) into(0, 0) = 1.0;
  for (int i = 0; i + extra < into.rows(); ++i) {
    const double* whole = row(begin + i);
    const RowMass mass = checked_row(whole, begin + i, columns, check, missing);
    const double* kept = whole + begin;
    const double sum = (begin > 0 ? total(kept, i + 1) : mass.sum) + mass.missing;
    if (!(sum > 0.0))
      throw InputError(fmt::format("{}: row {} gives nothing to the keys from {} on", check.name,
                                   begin + i, begin));
    double* to = into.row(i + extra);
    if (extra == 1) *to++ = mass.missing / sum;
    for (int j = 0; j <= i; ++j) to[j] = kept[j] / sum;
  }
}

}  // namespace synergraph

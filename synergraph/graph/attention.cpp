#include "synergraph/graph/attention.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "synergraph/core/array_math.h"
#include "synergraph/core/error.h"
#include "synergraph/graph/attention_diagnosis.h"

namespace synergraph {
namespace {

/// Says what is wrong and what to do about it: what the whole matrix tells, or else `hint`.
[[noreturn]] void refuse(const AttentionCheck& check, const std::string& what,
                         const std::string& hint) {
  const std::string advice = check.diagnosis ? check.diagnosis() : std::string();
  throw InputError(
      fmt::format("{}: {}{}{}", check.name, what, advice.empty() ? hint : ". ", advice));
}

[[noreturn]] void reject_entry(const AttentionCheck& check, int row, int col, double value) {
  const bool ahead = std::isfinite(value) && value >= 0.0 && col > row;
  const std::string why = !std::isfinite(value) ? "is not finite"
                          : value < 0.0         ? "is negative"
                          : ahead ? "is above the diagonal, where causal attention is 0"
                                  : "is above 1: attention weights lie in [0, 1]";
  refuse(check, fmt::format("entry {} in row {}, column {} {}", value, row, col, why),
         ahead ? check.axes : "");
}

/// What row i gives to tokens, and what is missing that has a node.
struct RowMass {
  double sum = 0.0;
  double missing = 0.0;
};

/// 1 less the sum of the row, rounded once: a small part is missing to full precision (Neumaier's
/// sum).
double missing_from(const double* row, int count) {
  double left = 1.0;
  double rest = 0.0;  // what the roundings of `left` lost
  for (int j = 0; j < count; ++j) {
    const double next = left - row[j];
    rest += std::abs(left) >= row[j] ? (left - next) - row[j] : left - (row[j] + next);
    left = next;
  }
  return left + rest;
}

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
  // Where mass is missing on purpose, nothing tells rounding from it: all of it is missing.
  if (missing == MissingMass::kNode)
    if (const double rest = missing_from(row, i + 1); rest > 0.0) return {sum, rest};
  if (std::abs(sum - 1.0) <= check.row_tolerance) return {sum};
  if (sum == 0.0) refuse(check, fmt::format("row {} gives nothing to any token", i), "");
  RowTolerance tolerance{check.row_tolerance};
  if (check.second_look) tolerance = check.second_look(row, i + 1);
  if (std::abs(sum - 1.0) <= tolerance.value) return {sum};
  refuse(check,
         fmt::format("row {} sums to {}, expected 1 within {:.2g}{}", i, sum, tolerance.value,
                     tolerance.reason),
         (sum <= 2.0 ? tolerance.remedy : "") + (sum < 1.0 ? check.missing_hint : ""));
}

}  // namespace

AttentionCheck with_diagnosis(const AttentionCheck& check,
                              const std::function<const double*(int i)>& row, int begin, int end) {
  AttentionCheck diagnosing = check;
  diagnosing.diagnosis = [&row, &check, begin, end] {
    const std::string known = check.diagnosis ? check.diagnosis() : std::string();
    return known.empty() ? advice_on(diagnose_attention(row, begin, end), check.options) : known;
  };
  return diagnosing;
}

RowCut checked_cut(const double* row, int i, int columns, int begin, const AttentionCheck& check,
                   MissingMass missing) {
  const RowMass mass = checked_row(row, i, columns, check, missing);
  const double sum = (begin > 0 ? total(row + begin, i - begin + 1) : mass.sum) + mass.missing;
  if (!(sum > 0.0))
    throw InputError(
        fmt::format("{}: row {} gives nothing to the keys from {} on", check.name, i, begin));
  return {sum, mass.missing};
}

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
  const std::function row = [&](int i) -> const double* { return attention.row(i); };
  const AttentionCheck diagnosing = with_diagnosis(check, row, 0, attention.rows);
  for (int i = 0; i < attention.rows; ++i)
    normalise_row(attention.row(i), i, attention.cols, diagnosing);
}

void clear_padding(double* row, int begin, int end, int columns) {
  const auto is_no_share = [](double entry) { return !(entry >= 0.0 && entry < 2.0); };
  std::replace_if(row, row + begin, is_no_share, 0.0);
  std::replace_if(row + end, row + columns, is_no_share, 0.0);
}

void cut_attention(const std::function<const double*(int i)>& row, int columns, int begin,
                   const AttentionCheck& check, Matrix& into, MissingMass missing) {
  const int extra = extra_nodes(missing);
  const AttentionCheck diagnosing = with_diagnosis(check, row, begin, begin + into.rows() - extra);
  if (extra == 1) into(0, 0) = 1.0;
  for (int i = 0; i + extra < into.rows(); ++i) {
    const double* whole = row(begin + i);
    const double* kept = whole + begin;
    const auto [sum, left_out] = checked_cut(whole, begin + i, columns, begin, diagnosing, missing);
    double* to = into.row(i + extra);
    if (extra == 1) *to++ = left_out / sum;
    for (int j = 0; j <= i; ++j) to[j] = kept[j] / sum;
  }
}

}  // namespace synergraph

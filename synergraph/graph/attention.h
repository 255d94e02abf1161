#pragma once

#include <functional>
#include <string>

#include "synergraph/core/matrix.h"
#include "synergraph/core/names.h"
#include "synergraph/graph/advice_options.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// How far a row's sum may be from 1, why as far as that, and what allows more: both end the
/// message, the latter where nothing better is known.
struct RowTolerance {
  double value = 0.0;
  std::string reason = {};
  std::string remedy = {};
};

/// What a row means that sums to less than 1.
enum class MissingMass {
  /// Rounding, as far as that explains it: the row is renormalised. Beyond that, an error.
  kError,
  /// It is so on purpose (a model with a learned sink logit). There is one more node, the first,
  /// which keeps what it gets and takes all that is missing from each row: no part of it counts as
  /// rounding. A sum above 1 can only be rounding, and is treated as under kError.
  kNode,
};

template <>
inline constexpr NameTable<MissingMass, 2> kNamesOf<MissingMass>{
    {{MissingMass::kError, "error"}, {MissingMass::kNode, "node"}}};

/// How many nodes there are beside the tokens.
constexpr int extra_nodes(MissingMass missing) {
  return missing == MissingMass::kNode ? 1 : 0;
}

/// What an attention matrix may deviate from, and how errors name it.
struct AttentionCheck {
  /// How far a row's sum may be from 1; what is within is renormalised. With MissingMass::kNode
  /// only sums above 1 are asked about.
  double row_tolerance = 1e-6;
  /// The largest entry above the diagonal that is taken for zero.
  double causal_tolerance = 0.0;
  /// The matrix's name in error messages, e.g. "layer 2, sample 0, head 3".
  std::string name = "attention";
  /// What the message about an entry above the diagonal ends with.
  std::string axes = {};
  AdviceOptions options = {};
  /// Asked about the entries of a row that fails row_tolerance: how they were rounded may allow
  /// more. Nothing: row_tolerance is final.
  std::function<RowTolerance(const double* row, int count)> second_look = {};
  /// What the message about a row that sums to less than 1 ends with.
  std::string missing_hint = {};
  /// Asked when a matrix is about to be refused: a sentence that says what it looks like and what
  /// to do, which then stands in place of the hints above; empty: that is not known.
  std::function<std::string()> diagnosis = {};
};

/// Checks row i of a causal attention matrix with `cols` columns, and returns the sum of its
/// entries up to the diagonal.
double checked_row_sum(const double* row, int i, int cols, const AttentionCheck& check = {});

/// Checks row i and divides it by its sum; above the diagonal it becomes zero.
void normalise_row(double* row, int i, int cols, const AttentionCheck& check = {});

/// Checks a causal attention matrix A[i][j] (query i, key j) and makes it exact in double
/// precision: square, finite, non-negative, nothing above the diagonal, rows divided by their sums.
/// InputError names the matrix, the row and the value.
void normalise_attention(MatrixView attention, const AttentionCheck& check = {});

/// Clears a row of `columns` entries outside of the tokens begin .. end - 1, where padding may hold
/// anything: entries that are no shares of a row, NaN among them, become zero.
void clear_padding(double* row, int begin, int end, int columns);

/// Cuts tokens begin .. begin + into.rows() - 1 out of `attention` and makes the rows that remain
/// exact: rows are checked whole, then what they give to the remaining keys is divided by its sum.
/// InputError also when a row gives nothing to the remaining keys. The part of `into` above the
/// diagonal is left alone. `row(i)` returns row i of the attention, `columns` entries, valid until
/// the next call. With MissingMass::kNode the first row and column of `into` are that node's: what
/// is missing from a row counts like a key that remains.
void cut_attention(const std::function<const double*(int i)>& row, int columns, int begin,
                   const AttentionCheck& check, Matrix& into,
                   MissingMass missing = MissingMass::kError);

}  // namespace synergraph
#pragma GCC visibility pop

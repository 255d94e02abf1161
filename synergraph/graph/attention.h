#pragma once

#include <functional>
#include <string>

#include "synergraph/core/matrix.h"
#include "synergraph/core/names.h"
#include "synergraph/graph/advice_options.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// The tolerance of a row sum: the largest distance from 1, the reason for this value, and a way to
/// allow more. The error message ends with `reason` and `remedy`. `remedy` appears only where no
/// better advice is known.
struct RowTolerance {
  double value = 0.0;
  std::string reason = {};
  std::string remedy = {};
};

/// The meaning of a row that sums to less than 1.
enum class MissingMass {
  /// Rounding: a row within the tolerance is renormalised. A larger difference is an error.
  kError,
  /// The model leaves mass out on purpose (a learned sink logit). The graph gets one more node, the
  /// first. This node keeps what it receives and takes all missing mass of each row. No missing
  /// mass counts as rounding. A sum above 1 can only be rounding and is treated as under kError.
  kNode,
};

template <>
inline constexpr NameTable<MissingMass, 2> kNamesOf<MissingMass>{
    {{MissingMass::kError, "error"}, {MissingMass::kNode, "node"}}};

/// Returns the number of nodes in addition to the tokens.
constexpr int extra_nodes(MissingMass missing) {
  return missing == MissingMass::kNode ? 1 : 0;
}

/// The tolerances of an attention matrix, and the texts of error messages.
struct AttentionCheck {
  /// The largest distance of a row sum from 1. Rows within this distance are renormalised. With
  /// MissingMass::kNode, the tolerance applies only to sums above 1.
  double row_tolerance = 1e-6;
  /// The largest absolute value above the diagonal that counts as zero.
  double causal_tolerance = 0.0;
  /// The matrix's name in error messages, e.g. "layer 2, sample 0, head 3".
  std::string name = "attention";
  /// The end of the message about an entry above the diagonal.
  std::string axes = {};
  AdviceOptions options = {};
  /// Returns a second tolerance for a row that fails row_tolerance: the rounding of its entries may
  /// allow more. If second_look is empty, row_tolerance is final.
  std::function<RowTolerance(const double* row, int count)> second_look = {};
  /// The end of the message about a row that sums to less than 1.
  std::string missing_hint = {};
  /// Called before a matrix is rejected. Returns a sentence that says what the matrix looks like
  /// and what to do. This sentence replaces the hints above. An empty text means that the cause is
  /// unknown.
  std::function<std::string()> diagnosis = {};
};

/// Checks row i of a causal attention matrix with `cols` columns. Returns the sum of the entries up
/// to the diagonal.
double checked_row_sum(const double* row, int i, int cols, const AttentionCheck& check = {});

/// Checks row i, divides the row by its sum, and sets entries above the diagonal to zero.
void normalise_row(double* row, int i, int cols, const AttentionCheck& check = {});

/// Checks a causal attention matrix A[i][j] (query i, key j) and normalises the matrix in double
/// precision. The matrix must be square, finite, non-negative and zero above the diagonal. Each row
/// is divided by its sum. InputError names the matrix, the row and the value.
void normalise_attention(MatrixView attention, const AttentionCheck& check = {});

/// Clears a row of `columns` entries outside of the tokens begin .. end - 1, where padding may hold
/// anything. Entries there that are not valid attention weights, such as NaN, become zero.
void clear_padding(double* row, int begin, int end, int columns);

/// What the kept entries of a row are divided by, and what the row gives to the extra node.
struct RowCut {
  double sum = 0.0;
  double missing = 0.0;
};

/// Checks row i of attention whole, as cut_attention() does, and returns how the row is cut: the
/// keys before `begin` are left out.
RowCut checked_cut(const double* row, int i, int columns, int begin, const AttentionCheck& check,
                   MissingMass missing);

/// The same check, which also says what the whole matrix looks like: rows begin .. end - 1 of
/// `row`, which must outlive the result as must `check`.
AttentionCheck with_diagnosis(const AttentionCheck& check,
                              const std::function<const double*(int i)>& row, int begin, int end);

/// Copies tokens begin .. begin + into.rows() - 1 from `attention` to `into` and normalises the
/// remaining rows. Each row is first checked whole. Then the weights of the remaining keys are
/// divided by their sum. InputError also if a row gives no weight to the remaining keys. Entries of
/// `into` above the diagonal stay unchanged. `row(i)` returns row i of the attention with `columns`
/// entries, valid until the next call. With MissingMass::kNode, the first row and column of `into`
/// belong to the extra node. The missing mass of a row then counts like a remaining key.
void cut_attention(const std::function<const double*(int i)>& row, int columns, int begin,
                   const AttentionCheck& check, Matrix& into,
                   MissingMass missing = MissingMass::kError);

}  // namespace synergraph
#pragma GCC visibility pop

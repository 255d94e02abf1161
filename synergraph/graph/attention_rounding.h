#pragma once

#include <optional>
#include <string_view>

#include "synergraph/core/float_type.h"
#include "synergraph/graph/attention.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// Returns the tolerances of attention of this element type against exact softmax rows of `columns`
/// entries. The tolerance of row sums is 4 u + columns (v + s/2). The tolerance above the diagonal
/// is u / columns per entry. u is the rounding unit of the type: 2^-11 for float16, 2^-8 for
/// bfloat16, 2^-24 for float32, 2^-53 otherwise. v is the rounding unit of the type in which
/// softmax sums (float32 for the short types). s is the smallest subnormal number.
AttentionCheck rounding_check(FloatType type, int columns);

/// Returns the row tolerance of a row that may have been rounded to a shorter type before storage.
/// Candidate types are the element type and every floating-point type that holds all entries of the
/// row exactly. The result is the largest row tolerance among the candidate types.
RowTolerance rounding_shown(FloatType type, int columns, const double* row, int count);

/// Returns the check for attention of this element type. Row sums may differ from 1 by
/// `row_tolerance`. Without `row_tolerance`, the limit is rounding_shown(), and the error message
/// names `option`, which allows more.
AttentionCheck attention_check(FloatType type, int columns, std::optional<double> row_tolerance,
                               std::string_view option = "row_tolerance");

}  // namespace synergraph
#pragma GCC visibility pop

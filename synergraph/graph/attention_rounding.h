#pragma once

#include <optional>
#include <string_view>

#include "synergraph/core/float_type.h"
#include "synergraph/graph/attention.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// How far attention of this element type may deviate from exact softmax rows of `columns` entries.
/// Row sums: 4 u + columns (v + s/2), with u the type's rounding unit (2^-11 float16, 2^-8
/// bfloat16, 2^-24 float32, 2^-53 otherwise), v the rounding unit of the type that softmax sums in
/// (float32 for the short types) and s the smallest subnormal. Above the diagonal: u / columns an
/// entry.
AttentionCheck rounding_check(FloatType type, int columns);

/// The same for a row that was perhaps rounded to a shorter type before it was stored: the largest
/// row tolerance among those of the element type and of the floating-point types that hold every
/// entry of the row exactly.
RowTolerance rounding_shown(FloatType type, int columns, const double* row, int count);

/// The check of attention of this element type. Row sums may be within `row_tolerance` of 1;
/// nothing: as far as rounding_shown() allows, and a message tells of `option`, which allows more.
AttentionCheck attention_check(FloatType type, int columns, std::optional<double> row_tolerance,
                               std::string_view option = "row_tolerance");

}  // namespace synergraph
#pragma GCC visibility pop

#pragma once

#include <string>
#include <string_view>

#include "synergraph/analysis/comparison.h"
#include "synergraph/report/analyze_report.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// Whether a file that begins so is a result of `analyze`: its document (JSON) or its table of
/// samples (CSV).
bool begins_like_result(std::string_view beginning);

/// Reads such a result, or both forms of it, the document first: then the numbers are those of the
/// table, and the document says how they were measured. `name` is what messages and reports call
/// it; every `sinks` rows of a table are one sample. InputError says what is wrong, and where.
ComparedSide parse_result(std::string_view text, const std::string& name, int sinks = 1);

/// The side of a comparison that was measured just now.
ComparedSide compared_side(const AnalyzeReport& report, const std::string& name);

}  // namespace synergraph
#pragma GCC visibility pop

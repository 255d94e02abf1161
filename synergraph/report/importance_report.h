#pragma once

#include <optional>
#include <string>
#include <vector>

#include "synergraph/analysis/head_importance.h"
#include "synergraph/analysis/stack_analysis.h"
#include "synergraph/report/input_report.h"
#include "synergraph/report/table.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// What subsets of heads say, and what is needed to read it.
struct ImportanceReport : InputReport {
  Importance importance;
  std::optional<StackAnalysis> stack = {};  ///< where it was asked for
  Convention convention = Convention::kExact;
  std::vector<std::string> head_names = {};   ///< of a graph; empty: numbers from 0
  std::vector<std::string> token_names = {};  ///< likewise
};

/// For a terminal of so many columns: a summary in about ten lines, then the tables of every layer,
/// or one with a row a layer where there are many.
std::string format_report(const ImportanceReport& report, std::size_t columns = kUnlimited);

/// One row a layer, value and head, numbers in full.
Table csv_table(const ImportanceReport& report);

/// Everything, as docs/formats.md describes it. What does not exist is null.
std::string json_report(const ImportanceReport& report);

}  // namespace synergraph
#pragma GCC visibility pop

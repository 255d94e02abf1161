#pragma once

#include <cstddef>
#include <string>

#include "synergraph/report/heads_results.h"
#include "synergraph/report/table.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// For a terminal of so many columns: a summary that fits a screen of 24 lines of 80 columns.
/// Verbose: then the tables of every layer, or one with a row a layer where there are many.
std::string format_report(const HeadsReport& report, std::size_t columns = kUnlimited);

/// One row a layer, value and head, numbers in full.
Table csv_table(const HeadsReport& report);

/// Everything, as docs/formats.md describes it. What does not exist is null.
std::string json_report(const HeadsReport& report);

}  // namespace synergraph
#pragma GCC visibility pop

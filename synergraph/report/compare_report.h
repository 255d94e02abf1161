#pragma once

#include <string>

#include "synergraph/analysis/comparison.h"
#include "synergraph/report/table.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// A comparison, and how much of it is shown.
struct CompareReport {
  Comparison comparison;
  bool verbose = false;  ///< every head, not only those that are clear of chance
};

/// What was compared, a table of all heads together for every quantity, and one of the heads that
/// are clear of chance.
std::string format_report(const CompareReport& report, std::size_t columns = kUnlimited);

/// One row a layer, head and quantity; "combined" stands for all heads together. Numbers in full.
Table csv_table(const CompareReport& report);

std::string json_report(const CompareReport& report);

}  // namespace synergraph
#pragma GCC visibility pop

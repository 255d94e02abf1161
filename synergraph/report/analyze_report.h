#pragma once

#include <string>
#include <vector>

#include "synergraph/analysis/analysis.h"
#include "synergraph/report/input_report.h"
#include "synergraph/report/table.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// An analysis and what is needed to read it.
struct AnalyzeReport : InputReport {
  Analysis analysis;
  std::vector<Convention> conventions;  ///< names of analysis.conventions
  bool per_head = false;                ///< show each head alone
};

/// For a terminal of so many columns: for every convention a table with a row a layer (mean ±
/// population standard deviation over the samples; samples that never reach the sink are counted
/// beside), and one with a row a head if they are wanted.
std::string format_report(const AnalyzeReport& report, std::size_t columns = kUnlimited);

/// One row a convention, layer, sample and head, and one for all heads together; numbers in full.
Table csv_table(const AnalyzeReport& report);

/// Everything over samples, as docs/formats.md describes it.
std::string json_report(const AnalyzeReport& report);

}  // namespace synergraph
#pragma GCC visibility pop

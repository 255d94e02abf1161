#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "synergraph/report/table.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// A table in a report.
struct ReportTable {
  std::string caption;
  Table table;
  std::vector<std::size_t> rules = {};  ///< rows before which a rule stands
  bool titled = true;                   ///< the caption is a title and no sentence
};

/// A part of a report, whatever it becomes.
struct ReportSection {
  std::string title;
  std::vector<std::string> paragraphs = {};
  std::vector<ReportTable> tables = {};
};

}  // namespace synergraph
#pragma GCC visibility pop

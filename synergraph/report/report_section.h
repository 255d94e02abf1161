#pragma once

#include <string>
#include <vector>

#include "synergraph/report/table.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// A table in a report.
struct ReportTable {
  std::string title;
  std::string caption;  ///< what the numbers are; may be empty
  Table table;
};

/// A titled group of tables.
struct ReportSection {
  std::string title;
  std::vector<ReportTable> tables = {};
};

/// A figure as the text of an SVG file.
struct ReportFigure {
  std::string caption;
  std::string svg;
};

}  // namespace synergraph
#pragma GCC visibility pop

#pragma once

#include <vector>

#include "synergraph/report/report_section.h"
#include "synergraph/study/findings.h"
#include "synergraph/study/grid.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// Tables of a report that its document does not have: those beside the published values, the table
/// of worst cases, and the settings.
std::vector<ReportSection> study_sections(const GridSettings& grid,
                                          const std::vector<CellResult>& results,
                                          const Findings& findings);

}  // namespace synergraph
#pragma GCC visibility pop

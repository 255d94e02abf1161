#pragma once

#include <vector>

#include "synergraph/report/report_section.h"
#include "synergraph/report/reproduce_report.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// What a report on a study has beside statements and figures: tables with the published values,
/// statistics, models, settings.
std::vector<ReportSection> study_sections(const ReproduceReport& report);

}  // namespace synergraph
#pragma GCC visibility pop

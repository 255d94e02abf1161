#pragma once

#include <string>
#include <vector>

#include "synergraph/core/terminal.h"
#include "synergraph/report/figure.h"
#include "synergraph/study/findings.h"
#include "synergraph/study/grid.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// A study that has been run, and what is needed to read it.
struct ReproduceReport {
  GridSettings grid;
  std::vector<CellResult> results;
  Findings findings;
};

/// Everything, as docs/formats.md describes it. The same study gives the same bytes.
std::string json_report(const ReproduceReport& report);

/// A short summary for a terminal of so many columns: our means over seeds beside the published
/// ones, and which claims the data support.
std::string format_report(const ReproduceReport& report, std::size_t columns = kUnlimited);

/// Which figures a study gets, and how they look.
struct StudyFigures {
  bool draw = true;
  FigureOptions options = {};
};

/// To fail before long work: UsageError or InputError unless the figures of such a study can be
/// drawn.
void check_study_figures(const GridSettings& grid, const StudyFigures& figures);

/// Writes results.json, tables/NAME.{md,csv,tex}, figures/NAME.{svg,pdf,png} and report.html (the
/// interactive page) into a directory, in this order, each atomically.
void write_study(const ReproduceReport& report, const std::string& directory,
                 const StudyFigures& figures);

}  // namespace synergraph
#pragma GCC visibility pop

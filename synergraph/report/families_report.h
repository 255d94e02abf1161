#pragma once

#include <string>
#include <vector>

#include "synergraph/analysis/family_study.h"
#include "synergraph/report/figure.h"
#include "synergraph/report/table.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// One row for each family and size, for people: means over the seeds.
Table families_table(const std::vector<FamilyGraph>& graphs);

/// One row for each graph, for programs.
Table csv_table(const std::vector<FamilyGraph>& graphs);

/// Draws the normalised fidelity of each family against its averaged mixing time, both logarithmic:
/// a line for each family, a mark for each size. Graphs that never mix, or have no fidelity, have
/// no mark; a note below counts them.
void draw_families_figure(const std::string& path, const std::vector<FamilyGraph>& graphs,
                          const FigureOptions& options = {});

}  // namespace synergraph
#pragma GCC visibility pop

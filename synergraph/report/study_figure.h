#pragma once

#include <string>
#include <vector>

#include "synergraph/report/figure.h"
#include "synergraph/study/cell.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// Draws mixing time (upper panels) and minimax fidelity (lower) along the layers, a column a task,
/// a line a head count, all tasks on the same scales. Several seeds: every seed is a mark, the line
/// their mean. One seed: bars are from the 10 % to the 90 % quantile over samples. By the published
/// convention the paper's values stand beside, as open marks.
void draw_study_figure(const std::string& path, const std::vector<CellResult>& results,
                       Convention convention, const FigureOptions& options = {});

/// To fail before long work: UsageError unless draw_study_figure() can follow the options.
void check_study_figure(std::size_t tasks, const FigureOptions& options);

}  // namespace synergraph
#pragma GCC visibility pop

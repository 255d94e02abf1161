#pragma once

#include <string>
#include <vector>

#include "synergraph/study/cell.h"

namespace synergraph {

/// Draws mixing time (upper panels) and minimax fidelity (lower) along the layers, a column a task,
/// a line a head count. Several seeds: every seed is a dot, the line their mean. One seed: bars are
/// the standard deviation over samples. By the published convention the paper's values stand
/// beside, as open diamonds.
void draw_study_figure(const std::string& path, const std::vector<CellResult>& results,
                       Convention convention);

}  // namespace synergraph

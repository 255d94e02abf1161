#pragma once

#include <string>

#include "synergraph/report/layer_report.h"

namespace synergraph {

/// Draws speed and fidelity along the layers: a row of two panels a convention, means with their
/// standard deviation over the samples. Left the truncated and the untruncated mean hitting time,
/// right the minimax fidelity of all heads together and of the best head. Single heads are faint
/// dots where they were measured.
void draw_layer_figure(const std::string& path, const LayerReport& report);

}  // namespace synergraph

#pragma once

#include <string>

#include "synergraph/report/analyze_report.h"
#include "synergraph/report/figure.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// Draws speed and fidelity along the layers, two panels a convention, all conventions on the same
/// scales: medians over the samples, with bars from the 10 % to the 90 % quantile. First the
/// truncated and the untruncated mean hitting time, then the minimax fidelity of all heads together
/// and of the best head. Single heads are faint crosses where they were measured. `options.names`
/// are the layers'.
void draw_layer_figure(const std::string& path, const AnalyzeReport& report,
                       const FigureOptions& options);

/// To fail before long work: UsageError unless draw_layer_figure() can follow the options.
void check_layer_figure(const std::vector<AttentionLayer>& layers, std::size_t conventions,
                        const FigureOptions& options);

}  // namespace synergraph
#pragma GCC visibility pop

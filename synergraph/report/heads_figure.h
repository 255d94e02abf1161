#pragma once

#include <string>
#include <vector>

#include "synergraph/report/figure.h"
#include "synergraph/report/heads_report.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// Draws for every layer and value the pruning curves (what the best heads, those that greedy
/// removal leaves and those of the largest Shapley values keep of the value of all) and a map of
/// the interactions of pairs; below, where the stack was measured, through which heads a token's
/// signal passes. Of more than twelve layers one panel shows the best heads' curves of all, and
/// another all heads' Shapley values. `options.names` are the layers'.
void draw_heads_figure(const std::string& path, const HeadsReport& report,
                       const FigureOptions& options);

/// To fail before long work: UsageError unless draw_heads_figure() can follow the options.
void check_heads_figure(const std::vector<AttentionLayer>& layers,
                        const HeadValueOptions& head_values, bool stack,
                        const FigureOptions& options);

}  // namespace synergraph
#pragma GCC visibility pop

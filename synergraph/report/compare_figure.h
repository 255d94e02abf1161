#pragma once

#include <string>

#include "synergraph/report/compare_report.h"
#include "synergraph/report/figure.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// A row for each quantity: the differences of all heads together by layer, with their intervals
/// and filled marks where they are clear of chance, and a map of the differences of single heads,
/// with dots where these are clear. Drawn like every figure: draw_figure().
void draw_comparison_figure(const std::string& path, const CompareReport& report,
                            const FigureOptions& options);

}  // namespace synergraph
#pragma GCC visibility pop

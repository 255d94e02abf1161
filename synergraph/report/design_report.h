#pragma once

#include <string>

#include "synergraph/analysis/graph_design.h"
#include "synergraph/report/figure.h"
#include "synergraph/report/table.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// One row for each design, the most faithful first; a star marks those of the front.
Table designs_table(const DesignOutcome& outcome);

/// What was searched and found, in sentences.
std::string designs_summary(const DesignSettings& settings, const DesignOutcome& outcome);

/// The document synergraph.design.
std::string json_report(const DesignSettings& settings, const DesignOutcome& outcome);

/// Writes the designs of the front into a directory: design-K.txt has all heads for the command
/// graph, and design-K-head-H.npz one head in SciPy's format.
void write_designs(const std::string& directory, const DesignOutcome& outcome);

/// Draws the adjacency matrix of each head of the most faithful design; see draw_gallery().
void draw_design(const std::string& path, const DesignOutcome& outcome,
                 const FigureOptions& options = {});

}  // namespace synergraph
#pragma GCC visibility pop

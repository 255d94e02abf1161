#pragma once

#include <string>
#include <vector>

#include "synergraph/heads/head.h"
#include "synergraph/report/figure.h"

#pragma GCC visibility push(default)
namespace synergraph {

struct DiffusionFigureOptions {
  int steps = 20;                       ///< of diffusion, on the x axis
  std::vector<std::string> node_names;  ///< one a node
  FigureOptions figure = {};            ///< its names are the heads'
};

/// Draws the paper's diffusion figure for any heads: one panel a head and one for all together, all
/// on the same scale; a solid line for each source node's signal at the sink, a dashed line for the
/// minimax fidelity within the steps so far. Many nodes are coloured by position instead of named.
/// At most 19 heads fit a page: of more, the first 19 are drawn and the figure says so.
void draw_diffusion_figure(const std::string& path, const std::vector<Head>& heads,
                           const std::vector<double>& weights,
                           const DiffusionFigureOptions& options);

/// To fail before long work: UsageError unless draw_diffusion_figure() can follow the options.
void check_diffusion_figure(const std::vector<Head>& heads, const DiffusionFigureOptions& options);

}  // namespace synergraph
#pragma GCC visibility pop

#pragma once

#include <string>
#include <vector>

#include "synergraph/report/figure_layout.h"

namespace synergraph {

/// Colours of maps: of numbers above 0 and below it.
inline constexpr const char* kMapAbove = "#0072B2";
inline constexpr const char* kMapBelow = "#D55E00";

/// Cells in rows and columns, coloured by their numbers.
struct FigureMap {
  std::vector<std::vector<double>> rows;  ///< may differ in length; NaN: not drawn
  bool both_signs = false;                ///< colours around 0; else from 0 on
  bool first_below = false;               ///< the first row stands at the bottom
  std::vector<std::string> row_tics = {};
  std::vector<std::string> column_tics = {};
  bool slanted = false;  ///< the columns' labels
};

/// The commands that draw a map into a panel with this corner and size, its colours beside it, and
/// what `plots` draws over it: columns and rows count from 0. `block` names its data.
std::string map_panel(const FigureMap& map, const Canvas& canvas, const FigurePlace& corner,
                      const FigureSize& panel, const std::string& block,
                      const std::string& plots = {});

/// The box of the present colours, right of a panel.
std::string colour_box(const Canvas& canvas, const FigurePlace& corner, const FigureSize& panel);

}  // namespace synergraph

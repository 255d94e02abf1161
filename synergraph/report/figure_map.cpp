#include "synergraph/report/figure_map.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "synergraph/report/figure_axis.h"

namespace synergraph {
namespace {

constexpr const char* kNothing = "#dddddd";  // behind cells that are not drawn

/// A round distance of tics up to a number, one or two of them.
double tic_step(double most) {
  const double power = std::pow(10.0, std::floor(std::log10(most)));
  const double first = most / power;
  return power * (first >= 5.0 ? 5.0 : first >= 2.0 ? 2.0 : 1.0);
}

/// As many labels as have room, `each` taking so many inches.
std::string tics(char axis, const std::vector<std::string>& labels, double length, double each,
                 bool slanted) {
  const auto count = static_cast<double>(labels.size());
  const auto every = static_cast<std::size_t>(std::max(1.0, std::ceil(each * count / length)));
  std::string list;
  for (std::size_t k = 0; k < labels.size(); k += every)
    list += fmt::format("{}{} {}", k == 0 ? "" : ", ", gnuplot_tic(labels[k]), k);
  return fmt::format("set {}tics {} ({})\n", axis, slanted ? "rotate by 35 right" : "norotate",
                     list);
}

}  // namespace

std::string colour_box(const Canvas& canvas, const FigurePlace& corner, const FigureSize& panel) {
  return fmt::format(
      "set colorbox user origin {} size screen {:.4f},{:.4f}\nset cbtics scale 0.3 offset -0.7,0\n",
      canvas.screen({corner.x + panel.width + 0.06, corner.y - panel.height}),
      0.08 / canvas.size.width, panel.height / canvas.size.height);
}

std::string map_panel(const FigureMap& map, const Canvas& canvas, const FigurePlace& corner,
                      const FigureSize& panel, const std::string& block, const std::string& plots) {
  double most = 0.0;
  std::size_t columns = 1;
  std::string cells;
  for (std::size_t y = 0; y < map.rows.size(); ++y) {
    columns = std::max(columns, map.rows[y].size());
    for (std::size_t x = 0; x < map.rows[y].size(); ++x) {
      const double number = map.rows[y][x];
      if (std::isnan(number)) continue;
      most = std::max(most, std::abs(number));
      cells += fmt::format("{} {} {}\n", x, y, gnuplot_number(number));
    }
  }
  std::string text = fmt::format("unset grid\nset border 15\nset xrange [-0.5:{}-0.5]\n", columns);
  text += fmt::format(
      fmt::runtime(map.first_below ? "set yrange [-0.5:{}-0.5]\n" : "set yrange [{}-0.5:-0.5]\n"),
      map.rows.size());
  text += tics('x', map.column_tics, panel.width, 0.2, map.slanted);
  text += tics('y', map.row_tics, panel.height, 0.14, false);
  text += fmt::format(
      "set object 1 rectangle from graph 0,0 to graph 1,1 behind fc rgb '{}' fs solid noborder\n",
      kNothing);
  if (map.both_signs)
    text +=
        fmt::format("set palette defined (-1 '{}', 0 '#f7f7f7', 1 '{}')\n", kMapBelow, kMapAbove);
  else
    text += fmt::format("set palette defined (0 '#f7f7f7', 1 '{}')\n", kMapAbove);
  if (most > 0.0)
    text += colour_box(canvas, corner, panel) +
            fmt::format("set cbtics autofreq {:.6g}\nset cbrange [{:.6g}:{:.6g}]\n", tic_step(most),
                        map.both_signs ? -most : 0.0, most);
  else
    text += "unset colorbox\nset cbrange [-1:1]\n";
  if (cells.empty()) cells = "0 0 NaN\n";
  return text + fmt::format(
                    "${0} << EOD\n{1}EOD\nplot ${0} using 1:2:(0.5):(0.5):3 with boxxyerror fs "
                    "solid lc palette notitle{2}{3}\nunset colorbox\nunset object 1\n",
                    block, cells, plots.empty() ? "" : ", ", plots);
}

}  // namespace synergraph

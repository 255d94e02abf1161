#include "synergraph/report/compare_figure.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "synergraph/core/terminal.h"
#include "synergraph/report/figure_axis.h"
#include "synergraph/report/figure_layout.h"
#include "synergraph/report/figure_map.h"
#include "synergraph/report/layer_labels.h"

namespace synergraph {
namespace {

constexpr double kAxisRoom = 0.35;  // of the axis's name beside the layers'
constexpr double kPerLayer = 0.13;  // inches

std::set<Quantity> quantities_of(const Comparison& of) {
  std::set<Quantity> found;
  for (const LayerComparison& layer : of.layers)
    for (const auto& [quantity, number] : layer.all) found.insert(quantity);
  return found;
}

std::string quantity_title(const Quantity& quantity) {
  std::string text = key_of(quantity);
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

/// A round distance of tics on an axis to this edge, at most two on each side.
double edge_tic_step(double edge) {
  const double power = std::pow(10.0, std::floor(std::log10(0.45 * edge)));
  const double first = 0.45 * edge / power;
  return power * (first > 5.0 ? 10.0 : first > 2.0 ? 5.0 : first > 1.0 ? 2.0 : 1.0);
}

/// Labels of rows: as many as have room.
std::string row_tics(const std::vector<std::string>& labels, double height) {
  const auto every = static_cast<std::size_t>(
      std::max(1.0, std::ceil(kPerLayer * static_cast<double>(labels.size()) / height)));
  std::string list;
  for (std::size_t k = 0; k < labels.size(); k += every)
    list += fmt::format("{}{} {}", k == 0 ? "" : ", ", gnuplot_tic(labels[k]), k);
  return fmt::format("set ytics norotate ({})\n", list);
}

/// The differences of the layers, one above the other as in the map beside them.
std::string layer_panel(const Comparison& of, const Quantity& quantity, const LayerLabels& labels,
                        const Canvas& canvas, std::size_t index) {
  std::string bars;
  std::string marks[2];
  double most = 0.0;
  for (std::size_t l = 0; l < of.layers.size(); ++l) {
    const auto found = of.layers[l].all.find(quantity);
    if (found == of.layers[l].all.end()) continue;
    const MeanDifference& numbers = found->second.numbers;
    if (!std::isfinite(numbers.difference)) continue;
    for (const double one : {numbers.difference, numbers.low, numbers.high})
      if (std::isfinite(one)) most = std::max(most, std::abs(one));
    if (std::isfinite(numbers.low))
      bars += fmt::format("{} {} {}\n", gnuplot_number(numbers.low), l,
                          gnuplot_number(numbers.high - numbers.low));
    marks[of.clear(found->second) ? 1 : 0] +=
        fmt::format("{} {}\n", gnuplot_number(numbers.difference), l);
  }
  const double edge = most > 0.0 ? 1.1 * most : 1.0;
  const SeriesStyle& style = series_style(0);
  std::string blocks = fmt::format("$bars{} << EOD\n{}EOD\n", index, bars);
  std::string plots =
      fmt::format("$bars{} using 1:2:3:(0) with vectors nohead lw 1.2 lc rgb '{}' notitle", index,
                  style.colour);
  for (std::size_t k = 0; k < 2; ++k) {
    if (marks[k].empty()) continue;
    blocks += fmt::format("$marks{}_{} << EOD\n{}EOD\n", index, k, marks[k]);
    plots += fmt::format(", $marks{}_{} using 1:2 with points pt {} ps 0.5 lc rgb '{}' notitle",
                         index, k, k == 1 ? style.mark : style.open_mark, style.colour);
  }
  return blocks + panel_title(canvas, index, 0.12, quantity_title(quantity)) +
         fmt::format(
             "unset grid\nset grid xtics\nset border 3\nset xrange [{0:.6g}:{1:.6g}]\n"
             "set yrange [-0.5:{2}-0.5]\nset xtics norotate autofreq {4:.6g}\nset arrow from first "
             "0,graph 0 to first 0,graph 1 nohead lw 0.8 lc rgb 'black'\n{3}",
             -edge, edge, of.layers.size(), row_tics(labels.tics, canvas.panel.height),
             edge_tic_step(edge)) +
         fmt::format(
             "set ylabel {}\n",
             gnuplot_text(cut_end(
                 labels.axis, static_cast<std::size_t>(canvas.panel.height / kCharacterWidth)))) +
         "plot " + plots + '\n' + kEndPanel;
}

/// The map of the heads' differences; no panel where heads do not have the quantity.
std::string head_panel(const Comparison& of, const Quantity& quantity, const LayerLabels& labels,
                       const Canvas& canvas, std::size_t index) {
  std::size_t heads = 0;
  std::string dots;
  FigureMap map;
  for (std::size_t l = 0; l < of.layers.size(); ++l) {
    std::vector<double>& row = map.rows.emplace_back();
    for (const NumberComparisons& head : of.layers[l].heads) {
      const auto found = head.find(quantity);
      row.push_back(found == head.end() ? std::nan("") : found->second.numbers.difference);
      if (found == head.end()) continue;
      heads = std::max(heads, row.size());
      if (of.clear(found->second)) dots += fmt::format("{} {}\n", row.size() - 1, l);
    }
  }
  if (heads == 0) return "set multiplot next\n";
  map.both_signs = true;
  map.first_below = true;
  map.row_tics = labels.tics;
  for (std::size_t h = 0; h < heads; ++h) map.column_tics.push_back(fmt::format("{}", h));
  std::string blocks;
  std::string plots;
  if (!dots.empty()) {
    blocks = fmt::format("$dots{} << EOD\n{}EOD\n", index, dots);
    plots = fmt::format("$dots{} using 1:2 with points pt 7 ps 0.25 lc rgb 'black' notitle", index);
  }
  return blocks + panel_title(canvas, index, 0.12, "single heads, B - A") +
         "unset ylabel\nset xlabel 'head' offset 0,0.5\n" +
         map_panel(map, canvas, canvas.corner(index), canvas.panel, fmt::format("cells{}", index),
                   plots) +
         kEndPanel;
}

}  // namespace

void draw_comparison_figure(const std::string& path, const CompareReport& report,
                            const FigureOptions& options) {
  const Comparison& of = report.comparison;
  check_names(options, of.layers.size(), "layer");
  std::vector<AttentionLayer> layers;
  for (const LayerComparison& layer : of.layers) {
    layers.emplace_back();
    layers.back().name = layer.name;
  }
  const LayerLabels labels = layer_labels(layers, options.names);
  std::size_t longest = 0;
  for (const std::string& tic : labels.tics) longest = std::max(longest, display_width(tic));
  const std::set<Quantity> quantities = quantities_of(of);
  FigureLayout layout;
  layout.rows = static_cast<int>(quantities.size());
  layout.columns = 2;
  layout.panel = {2.5, std::clamp(kPerLayer * static_cast<double>(layers.size()), 1.2, 4.0)};
  layout.left = kAxisRoom + 0.1 + kCharacterWidth * static_cast<double>(longest);
  layout.right = 0.7;
  layout.top = 0.35;
  layout.bottom = 0.6;
  layout.across = 0.3 + kCharacterWidth * static_cast<double>(longest);
  layout.down = 0.75;
  layout.note = fmt::format("{:.4g} % intervals, {}; filled marks and dots: p < {:.4g} (Holm)",
                            100.0 * of.level, of.paired ? "paired" : "not paired", 1.0 - of.level);
  const Canvas canvas = begin_figure(layout, options);
  std::string commands = canvas.commands;
  std::size_t index = 0;
  for (const Quantity& quantity : quantities) {
    commands +=
        "set xlabel 'B - A' offset 0,0.5\n" + layer_panel(of, quantity, labels, canvas, index);
    commands += head_panel(of, quantity, labels, canvas, index + 1);
    index += 2;
  }
  draw_figure(path, canvas.size, commands + "unset multiplot\n", canvas.named_by);
}

}  // namespace synergraph

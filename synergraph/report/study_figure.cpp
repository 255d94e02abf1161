#include "synergraph/report/study_figure.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "synergraph/report/figure_axis.h"
#include "synergraph/report/figure_layout.h"
#include "synergraph/study/findings.h"
#include "synergraph/study/published.h"

namespace synergraph {
namespace {

/// What is drawn of one layer of the models of a task with so many heads.
struct Point {
  double mean = 0.0;          ///< over seeds
  std::vector<double> seeds;  ///< the means over samples
  double low = 0.0;           ///< of the bar, for a single seed
  double high = 0.0;
  std::optional<double> paper;
};

/// Points by layer.
using Line = std::vector<Point>;
/// Lines by head count.
using StudyPanel = std::map<int, Line>;

Point point_of(const std::vector<const CellResult*>& results, Convention convention,
               const Quantity& quantity, std::size_t layer) {
  Point point;
  for (const CellResult* result : results) {
    const Summary& summary = result->layers(convention)[layer][quantity];
    point.seeds.push_back(summary.mean);
    point.mean += summary.mean / static_cast<double>(results.size());
    point.low = summary.quantile_10;
    point.high = summary.quantile_90;
  }
  if (results.size() > 1) point.low = point.high = point.mean;
  if (convention == Convention::kPublished) {
    const std::string& task = results.front()->cell.train.task;
    const int heads = results.front()->cell.train.model.heads;
    const auto paper = published_value(quantity, task, heads, static_cast<int>(layer));
    if (paper) point.paper = paper->mean / published_unit(quantity);
  }
  return point;
}

StudyPanel panel_of(const ResultsByHeads& cells, Convention convention, const Quantity& quantity) {
  StudyPanel panel;
  for (const auto& [heads, results] : cells)
    for (std::size_t l = 0; l < results.front()->layers(convention).size(); ++l)
      panel[heads].push_back(point_of(results, convention, quantity, l));
  return panel;
}

void add_to(FigureAxis& axis, const StudyPanel& panel) {
  for (const auto& [heads, line] : panel)
    for (const Point& point : line) {
      for (const double number : {point.mean, point.low, point.high}) axis.add(number);
      for (const double seed : point.seeds) axis.add(seed);
      if (point.paper) axis.add(*point.paper);
    }
}

/// The data blocks of a line and, in `plots`, what is drawn of them. The line ends where a number
/// stands at an edge.
std::string draw_line(const Line& line, const FigureAxis& axis, const SeriesStyle& style,
                      double shift, const std::string& block, std::string& plots) {
  std::string means;
  std::string seeds;
  std::string paper;
  for (std::size_t l = 0; l < line.size(); ++l) {
    const Point& point = line[l];
    const auto x = fmt::format("{:.4f}", static_cast<double>(l + 1) + shift);
    const auto place = [&](double number) { return gnuplot_number(axis.position(number)); };
    means += fmt::format("{} {} {} {}\n", x,
                         gnuplot_number(axis.at_edge(point.mean) ? std::nan("") : point.mean),
                         place(point.low), place(point.high));
    for (const double seed : point.seeds) seeds += fmt::format("{} {}\n", x, place(seed));
    if (point.paper) paper += fmt::format("{} {}\n", x, place(*point.paper));
  }
  plots += fmt::format("{}$m{} using 1:2 with lines lw 1.3 lc rgb '{}' notitle",
                       plots.empty() ? "" : ", ", block, style.colour);
  if (line.front().seeds.size() == 1)
    plots +=
        fmt::format(", $m{} using 1:3:(0):($4-$3) with vectors nohead lw 1 lc rgb '{}' notitle",
                    block, style.colour);
  plots += fmt::format(", $s{} using 1:2 with points pt {} ps 0.5 lc rgb '{}' notitle", block,
                       style.mark, style.colour);
  if (!paper.empty())
    plots += fmt::format(", $p{} using 1:2 with points pt {} ps 1 lw 0.9 lc rgb '{}' notitle",
                         block, style.open_mark, style.colour);
  return fmt::format("$m{0} << EOD\n{1}EOD\n$s{0} << EOD\n{2}EOD\n$p{0} << EOD\n{3}EOD\n", block,
                     means, seeds, paper);
}

/// Which mark is which head count.
std::vector<LegendEntry> legend_entries(const std::vector<int>& heads, bool paper) {
  std::vector<LegendEntry> entries = {{"heads:"}};
  for (std::size_t k = 0; k < heads.size(); ++k)
    entries.push_back({fmt::format("{}", heads[k]), series_style(k).colour, series_style(k).mark});
  if (paper) entries.push_back({"paper: open", "#444444", 6, 1.0});
  return entries;
}

FigureLayout layout_of(std::size_t tasks) {
  FigureLayout layout;
  layout.rows = 2;
  layout.columns = static_cast<int>(tasks);
  layout.panel = {tasks == 1 ? 3.6 : 2.7, 1.75};
  layout.across = 0.65;
  layout.top = 0.55;
  layout.down = 0.65;
  layout.bottom = 0.48;
  return layout;
}

}  // namespace

void check_study_figure(std::size_t tasks, const FigureOptions& options) {
  (void)begin_figure(layout_of(tasks), options);
}

void draw_study_figure(const std::string& path, const std::vector<CellResult>& results,
                       Convention convention, const FigureOptions& options) {
  const std::map<std::string, ResultsByHeads> tasks = group_results(results);
  std::size_t layers = 0;
  std::set<int> counts;
  for (const CellResult& result : results) {
    counts.insert(result.cell.train.model.heads);
    layers = std::max(layers, result.layers(convention).size());
  }
  const std::vector<int> heads(counts.begin(), counts.end());
  FigureLayout layout = layout_of(tasks.size());
  const bool one_seed = std::all_of(tasks.begin(), tasks.end(), [](const auto& task) {
    return std::all_of(task.second.begin(), task.second.end(),
                       [](const auto& cells) { return cells.second.size() == 1; });
  });
  layout.note = one_seed ? "mean and 10 to 90 % range over samples"
                         : "each mark is one seed; lines are means over seeds";
  const Canvas canvas = begin_figure(layout, options);
  std::string commands = canvas.commands;
  commands += fmt::format("set xrange [0.5:{}+0.5]\nset xtics 1,{}\n", layers,
                          std::max<std::size_t>(1, (layers + 11) / 12));
  std::string panels;
  bool paper = false;
  std::size_t index = 0;
  for (const Quantity& quantity : kPublishedQuantities) {
    const bool time = quantity.is_time();
    FigureAxis axis(time ? 8.0 : 30.0);
    std::map<std::string, StudyPanel> row;
    for (const auto& [task, cells] : tasks)
      add_to(axis, row[task] = panel_of(cells, convention, quantity));
    for (const auto& [task, panel] : row) {
      std::string plots;
      std::string blocks;
      for (const auto& [count, line] : panel) {
        const auto k =
            static_cast<std::size_t>(std::find(heads.begin(), heads.end(), count) - heads.begin());
        constexpr double kSpacing = 0.09;  // between the head counts of a layer, along x
        const double shift =
            kSpacing * (static_cast<double>(k) - 0.5 * (static_cast<double>(heads.size()) - 1.0));
        blocks += draw_line(line, axis, series_style(k), shift, fmt::format("{}_{}", index, count),
                            plots);
        paper = paper || std::any_of(line.begin(), line.end(),
                                     [](const Point& point) { return point.paper.has_value(); });
      }
      panels += blocks + axis.commands() +
                panel_title(canvas, index, 0.14,
                            fmt::format("{}: {}", task,
                                        time ? "mean steps to the sink" : "minimax fidelity")) +
                fmt::format("set xlabel '{}' offset 0,0.6\nplot {}\n{}", time ? "" : "layer", plots,
                            kEndPanel);
      ++index;
    }
  }
  const FigurePlace corner = canvas.corner(0);
  commands += legend(canvas, {corner.x, corner.y + 0.38}, legend_entries(heads, paper));
  draw_figure(path, canvas.size, commands + panels + "unset multiplot\n", canvas.named_by);
}

}  // namespace synergraph

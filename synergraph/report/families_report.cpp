#include "synergraph/report/families_report.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <utility>

#include "synergraph/report/documents.h"
#include "synergraph/report/figure_axis.h"
#include "synergraph/report/figure_layout.h"
#include "synergraph/report/json_parts.h"
#include "synergraph/report/json_text.h"
#include "synergraph/report/words.h"

namespace synergraph {
namespace {

/// The smallest fidelity that the figure shows.
constexpr double kLeastFidelity = 1e-8;

constexpr std::array kFamilyColumns = {
    FamilyColumn{"averaged_mixing_time", "T_avg", true, &FamilyGraph::averaged_mixing_time},
    FamilyColumn{"averaged_mixing_time_tv", nullptr, true, &FamilyGraph::averaged_mixing_time_tv},
    FamilyColumn{"mixing_time", "T_mix", true, &FamilyGraph::mixing_time},
    FamilyColumn{"hitting_mean", "hit mean", true, &FamilyGraph::hitting_mean},
    FamilyColumn{"minimax_fidelity", "fidelity", false, &FamilyGraph::minimax_fidelity},
    FamilyColumn{"minimax_fidelity_upper", nullptr, false, &FamilyGraph::minimax_fidelity_upper},
    FamilyColumn{"normalised_fidelity", "F", false, &FamilyGraph::normalised_fidelity},
    FamilyColumn{"backward_hitting_time", "h_bwd", true, &FamilyGraph::backward_hitting_time},
    FamilyColumn{"backward_mixing_time", "T_bwd", true, &FamilyGraph::backward_mixing_time},
    FamilyColumn{"fidelity_bound", "fidelity at most", false, &FamilyGraph::fidelity_bound},
};

/// Calls visit(first, end) for every run of graphs of one family and size.
template <class Visit>
void each_size(const std::vector<FamilyGraph>& graphs, const Visit& visit) {
  for (std::size_t begin = 0; begin < graphs.size();) {
    std::size_t end = begin + 1;
    while (end < graphs.size() && graphs[end].family == graphs[begin].family &&
           graphs[end].nodes == graphs[begin].nodes)
      ++end;
    visit(begin, end);
    begin = end;
  }
}

double mean(const std::vector<FamilyGraph>& graphs, std::size_t begin, std::size_t end,
            const std::function<double(const FamilyGraph&)>& value) {
  double sum = 0.0;
  for (std::size_t k = begin; k < end; ++k) sum += value(graphs[k]);
  return sum / static_cast<double>(end - begin);
}

}  // namespace

std::span<const FamilyColumn> family_columns() {
  return kFamilyColumns;
}

Table families_table(const std::vector<FamilyGraph>& graphs) {
  Table table{{"family", "nodes", "graphs", "edges per node"}, {}};
  table.key_columns = 2;
  for (const FamilyColumn& column : kFamilyColumns)
    if (column.heading != nullptr) table.header.emplace_back(column.heading);
  each_size(graphs, [&](std::size_t begin, std::size_t end) {
    bool exact_times = true;
    for (std::size_t k = begin; k < end; ++k) exact_times = exact_times && graphs[k].exact;
    const auto edges = [](const FamilyGraph& graph) {
      return static_cast<double>(graph.edges) / static_cast<double>(graph.nodes);
    };
    std::vector<std::string> row = {graphs[begin].family, fmt::format("{}", graphs[begin].nodes),
                                    fmt::format("{}", end - begin),
                                    human(mean(graphs, begin, end, edges))};
    for (const FamilyColumn& column : kFamilyColumns) {
      if (column.heading == nullptr) continue;
      const double value =
          mean(graphs, begin, end, [&](const FamilyGraph& graph) { return graph.*column.value; });
      row.push_back((exact_times   ? ""
                     : column.time ? ">= "
                                   : "") +
                    (std::isinf(value) ? std::string("never") : human(value)));
    }
    table.rows.push_back(std::move(row));
  });
  return table;
}

Table csv_table(const std::vector<FamilyGraph>& graphs) {
  Table table{{"family", "nodes", "seed", "edges"}, {}};
  for (const FamilyColumn& column : kFamilyColumns) table.header.emplace_back(column.key);
  table.header.emplace_back("exact");
  for (const FamilyGraph& graph : graphs) {
    std::vector<std::string> row = {graph.family, fmt::format("{}", graph.nodes),
                                    graph.seed == 0 ? "" : fmt::format("{}", graph.seed),
                                    fmt::format("{}", graph.edges)};
    for (const FamilyColumn& column : kFamilyColumns) row.push_back(exact(graph.*column.value));
    row.emplace_back(graph.exact ? "true" : "false");
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string latex_table(const std::vector<FamilyGraph>& graphs) {
  const Table table = families_table(graphs);
  LatexOptions options;
  options.caption = "Families of feedforward graphs. Entries are means over the graphs.";
  options.label = "tab:families";
  for (std::size_t row = 1; row < table.rows.size(); ++row)
    if (table.rows[row].front() != table.rows[row - 1].front()) options.rules.push_back(row);
  return format_latex(table, options);
}

std::string json_report(const FamilySettings& settings, const std::vector<FamilyGraph>& graphs) {
  using nlohmann::ordered_json;
  ordered_json list = ordered_json::array();
  for (const FamilyGraph& graph : graphs) {
    ordered_json numbers = ordered_json::object();
    for (const FamilyColumn& column : kFamilyColumns)
      numbers[column.key] = json_number(graph.*column.value);
    list.push_back({{"family", graph.family},
                    {"nodes", graph.nodes},
                    {"seed", graph.seed == 0 ? ordered_json(nullptr) : ordered_json(graph.seed)},
                    {"edges", graph.edges},
                    {"numbers", std::move(numbers)},
                    {"exact", graph.exact}});
  }
  return json_text(
      document_of(kFamiliesDocument,
                  {{"settings", {{"eps", settings.eps}, {"step_limit", settings.step_limit}}},
                   {"graphs", std::move(list)}}));
}

namespace {

/// A figure of the normalised fidelity against another number: a line for each family.
struct FamilyAxis {
  const char* label;
  double (*value)(const FamilyGraph&);
};

void draw_fidelity(const std::string& path, const std::vector<FamilyGraph>& graphs,
                   const FigureOptions& options, const FamilyAxis& axis) {
  struct Line {
    std::string family;
    std::string points;
  };
  std::vector<Line> lines;
  std::size_t left_out = 0;
  each_size(graphs, [&](std::size_t begin, std::size_t end) {
    if (lines.empty() || lines.back().family != graphs[begin].family)
      lines.push_back({graphs[begin].family, ""});
    // Geometric means over the seeds: the axes are logarithmic.
    const double across = std::exp(mean(
        graphs, begin, end, [&](const FamilyGraph& graph) { return std::log(axis.value(graph)); }));
    const double fidelity = std::exp(mean(graphs, begin, end, [](const FamilyGraph& graph) {
      return std::log(graph.normalised_fidelity);
    }));
    if (std::isfinite(across) && across > 0.0 && fidelity >= kLeastFidelity)
      lines.back().points +=
          fmt::format("{} {}\n", gnuplot_number(across), gnuplot_number(fidelity));
    else
      ++left_out;
  });
  FigureLayout layout;
  layout.panel = {4.4, 3.2};
  layout.right = 2.2;
  layout.bottom = 0.6;
  layout.left = 0.8;
  if (left_out > 0)
    layout.note = fmt::format("{} have no mark: they never mix, or F is below {:.0e}",
                              counted(static_cast<std::int64_t>(left_out), "size"), kLeastFidelity);
  const Canvas canvas = begin_figure(layout, options);
  std::string commands = canvas.commands;
  commands += fmt::format(
      "set logscale xy\nset format x '%g'\nset format y '%.0e'\n"
      "set xlabel '{}'\nset ylabel 'normalised fidelity F'\n",
      axis.label);
  std::string plots;
  FigurePlace corner = canvas.corner(0);
  std::string legends;
  for (std::size_t k = 0; k < lines.size(); ++k) {
    const SeriesStyle& style = series_style(k % kSeriesStyles);
    commands += fmt::format("$f{} << EOD\n{}EOD\n", k, lines[k].points);
    if (lines[k].points.empty()) continue;
    plots +=
        fmt::format("{}$f{} using 1:2 with linespoints pt {} ps 0.6 lw 1.2 lc rgb '{}' notitle",
                    plots.empty() ? "" : ", ", k, k < kSeriesStyles ? style.mark : style.open_mark,
                    style.colour);
    legends += legend(
        canvas,
        {corner.x + canvas.panel.width + 0.15, corner.y - 0.2 - 0.2 * static_cast<double>(k)},
        {{lines[k].family, style.colour, k < kSeriesStyles ? style.mark : style.open_mark}});
  }
  if (plots.empty()) plots = "NaN notitle";
  commands += legends + panel_title(canvas, 0, 0.14, "families of feedforward graphs") +
              fmt::format("plot {}\n{}", plots, kEndPanel);
  draw_figure(path, canvas.size, commands + "unset multiplot\n", canvas.named_by);
}

}  // namespace

void draw_families_figure(const std::string& path, const std::vector<FamilyGraph>& graphs,
                          const FigureOptions& options) {
  draw_fidelity(path, graphs, options,
                {"averaged mixing time, in steps",
                 [](const FamilyGraph& graph) { return graph.averaged_mixing_time; }});
}

void draw_growth_figure(const std::string& path, const std::vector<FamilyGraph>& graphs,
                        const FigureOptions& options) {
  draw_fidelity(path, graphs, options, {"nodes", [](const FamilyGraph& graph) {
                                          return static_cast<double>(graph.nodes);
                                        }});
}

void draw_gallery(const std::string& path, const std::vector<GalleryGraph>& graphs,
                  const FigureOptions& options) {
  constexpr std::size_t kAcross = 5;
  FigureLayout layout;
  layout.columns = static_cast<int>(std::min(kAcross, std::max<std::size_t>(1, graphs.size())));
  layout.rows = static_cast<int>((graphs.size() + kAcross - 1) / kAcross);
  layout.panel = {1.5, 1.5};
  layout.left = 0.2;
  layout.bottom = 0.2;
  layout.across = 0.2;
  layout.down = 0.4;
  layout.note = "a row is a query, a column a key; a mark is an edge from key to query";
  const Canvas canvas = begin_figure(layout, options);
  std::string commands = canvas.commands + "unset xtics\nunset ytics\n";
  for (std::size_t k = 0; k < graphs.size(); ++k) {
    const SparseGraph& graph = graphs[k].graph;
    commands += fmt::format("$g{} << EOD\n", k);
    for (int j = 0; j < graph.nodes(); ++j) {
      if (graph.self_loop(j) > 0.0) commands += fmt::format("{} {}\n", j, j);
      for (const int i : graph.receivers(j)) commands += fmt::format("{} {}\n", j, i);
    }
    // Marks as wide as a row of the matrix; a point is 1/72 inch, ps 1 about 6 of them wide.
    const double size = 1.5 * 72.0 / graph.nodes() / 6.0;
    commands += fmt::format("EOD\nset xrange [-1:{0}]\nset yrange [{0}:-1]\n", graph.nodes());
    commands +=
        panel_title(canvas, k, 0.14, graphs[k].name) +
        fmt::format("plot $g{} using 1:2 with points pt 5 ps {:.3f} lc rgb '{}' notitle\n{}", k,
                    size, series_style(0).colour, kEndPanel);
  }
  draw_figure(path, canvas.size, commands + "unset multiplot\n", canvas.named_by);
}

}  // namespace synergraph

#include "synergraph/report/layer_figure.h"

#include <fmt/core.h>

#include <cmath>
#include <tuple>

#include "synergraph/report/figure.h"
#include "synergraph/report/figure_axis.h"

namespace synergraph {
namespace {

constexpr const char* kBlue = "#0072B2";
constexpr const char* kOrange = "#D55E00";
// Heights in inches.
constexpr double kPanel = 1.75;
constexpr double kTop = 0.62;
constexpr double kBottom = 0.5;
constexpr double kBetween = 0.95;

/// Data blocks of one convention and the extent of what they hold.
struct RowData {
  std::string blocks;
  Extent times;
  Extent fidelities;
  bool heads = false;
  bool untruncated = false;
};

RowData row_data(const LayerReport& report, std::size_t c) {
  const MetricsOptions& options = report.analysis.conventions[c];
  const std::size_t fidelity = 5 + options.walk.eps.size();
  RowData data;
  std::string layers;
  std::string heads;
  for (std::size_t l = 0; l < report.analysis.layers.size(); ++l) {
    const LayerSummary summary = summarise_layer(report.analysis.samples[c][l], options);
    const Summary& cut = summary.combined[1];
    const Summary& hitting = summary.combined[3];
    const Summary& all = summary.combined[fidelity];
    const Summary& best = summary.best_head_fidelity;
    layers += fmt::format("{}", l);
    for (const auto& [centre, extent, factor] : {std::tuple{&cut, &data.times, 1.0},
                                                 {&hitting, &data.times, 1.0},
                                                 {&all, &data.fidelities, 100.0},
                                                 {&best, &data.fidelities, 100.0}}) {
      extent->add(factor * centre->mean);
      extent->add(factor * (centre->mean + centre->std));
      layers += fmt::format(" {} {}", gnuplot_number(factor * centre->mean),
                            gnuplot_number(factor * centre->std));
    }
    layers += '\n';
    data.untruncated = data.untruncated || std::isfinite(hitting.mean);
    for (const std::vector<Summary>& head : summary.heads) {
      data.heads = data.heads || std::isfinite(head[1].mean);
      data.times.add(head[1].mean);
      data.fidelities.add(100.0 * head[fidelity].mean);
      heads += fmt::format("{} {} {}\n", l, gnuplot_number(head[1].mean),
                           gnuplot_number(100.0 * head[fidelity].mean));
    }
  }
  data.blocks =
      fmt::format("$layers{} << EOD\n{}EOD\n$heads{} << EOD\n{}EOD\n", c, layers, c, heads);
  return data;
}

/// A mean with bars, in columns `column` and column + 1; a bar below a log axis ends at its foot.
std::string series(std::size_t c, int column, double shift, const char* colour, int point,
                   const std::string& title, double floor) {
  return fmt::format(
      "$layers{0} using ($1+{2}):{1}:(${1}-${3}>{7:.6g}?${1}-${3}:{7:.6g}):(${1}+${3}) with "
      "yerrorbars lw 1 pt {5} ps 0.45 lc rgb '{4}' notitle, $layers{0} using ($1+{2}):{1} with "
      "linespoints lw 1.4 pt {5} ps 0.45 lc rgb '{4}' title {6}",
      c, column, shift, column + 1, colour, point, gnuplot_text(title), floor);
}

std::string panel(std::size_t c, bool times, const LayerReport& report, const RowData& data) {
  const Extent& extent = times ? data.times : data.fidelities;
  const double floor = extent.floor();
  const MetricsOptions& options = report.analysis.conventions[c];
  std::string text = extent.commands();
  text += fmt::format("set ylabel '{}' offset 0.3,0\nset title {} offset 0,1.4\nplot ",
                      times ? "mean steps to the sink" : "minimax fidelity (%)",
                      gnuplot_text(fmt::format("{} ({})", times ? "Mixing" : "Fidelity",
                                               name_of(report.conventions[c]))));
  if (data.heads || !times)
    text += fmt::format(
        "$heads{} using 1:{} with points pt 7 ps 0.3 lc rgb '#b0b0b0' title 'single heads', ", c,
        times ? 2 : 3);
  if (times) {
    text += series(c, 2, -0.04, kBlue, 7, fmt::format("cut at {}", options.walk.cutoff), floor);
    if (data.untruncated) text += ", " + series(c, 4, 0.04, kOrange, 5, "uncut", floor);
  } else {
    text += series(c, 6, -0.04, kBlue, 7, "all heads", floor) + ", " +
            series(c, 8, 0.04, kOrange, 5, "best head", floor);
  }
  return text + '\n';
}

}  // namespace

void draw_layer_figure(const std::string& path, const LayerReport& report) {
  const std::size_t rows = report.conventions.size();
  const std::size_t layers = report.analysis.layers.size();
  const FigureSize size{
      6.8, kBottom + kTop + static_cast<double>(rows) * (kPanel + kBetween) - kBetween};
  std::string commands = fmt::format(
      "set multiplot layout {},2 margins screen 0.085,0.985,{:.4f},{:.4f} spacing screen "
      "0.1,{:.4f}\nset border 3 lw 0.8\nset tics nomirror out scale 0.5\nset grid ytics lc rgb "
      "'#dddddd' lw 0.6\nset xrange [-0.5:{}-0.5]\nset xlabel 'layer' offset 0,0.6\nset bars 0.4\n"
      "set key at graph 0,1.01 left bottom horizontal maxrows 1 width -1 reverse Left samplen "
      "1.2\n",
      rows, kBottom / size.height, 1.0 - kTop / size.height, kBetween / size.height, layers);
  if (layers <= 12) commands += fmt::format("set xtics 0,1,{}\n", layers - 1);
  std::vector<RowData> data;
  for (std::size_t c = 0; c < rows; ++c) {
    data.push_back(row_data(report, c));
    commands += data.back().blocks;
  }
  for (std::size_t c = 0; c < rows; ++c)
    for (const bool times : {true, false}) commands += panel(c, times, report, data[c]);
  draw_figure(path, size, commands + "unset multiplot\n");
}

}  // namespace synergraph

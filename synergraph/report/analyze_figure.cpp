#include "synergraph/report/analyze_figure.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "synergraph/core/terminal.h"
#include "synergraph/report/figure_axis.h"
#include "synergraph/report/figure_layout.h"
#include "synergraph/report/layer_labels.h"

namespace synergraph {
namespace {

constexpr std::size_t kSideBySide =
    16;  // layers; panels of more are wide and stand one below another

/// One quantity along the layers.
struct Series {
  std::string title;
  std::vector<Summary> layers;
};

/// The series that share a panel, and its single heads.
struct LayerPanel {
  std::string title;
  std::vector<Series> series;
  std::vector<std::vector<double>> heads;  ///< medians, [layer][head]
};

/// The panels of one convention: speed, fidelity.
std::vector<LayerPanel> panels_of(const AnalyzeReport& report, std::size_t c) {
  const auto convention = name_of(report.conventions[c]);
  LayerPanel speed{
      fmt::format("Mean steps to the sink ({})", convention),
      {{fmt::format("cut at {}", report.analysis.conventions[c].walk.cutoff), {}}, {"uncut", {}}},
      {}};
  LayerPanel faith{
      fmt::format("Minimax fidelity ({})", convention), {{"all heads", {}}, {"best head", {}}}, {}};
  for (const MeasuredLayer& layer : report.analysis.summaries[c]) {
    speed.series[0].layers.push_back(layer.all[Quantity::kTruncatedHittingMean]);
    speed.series[1].layers.push_back(layer.all[Quantity::kHittingMean]);
    faith.series[0].layers.push_back(layer.all[Quantity::kMinimaxFidelity]);
    faith.series[1].layers.push_back(layer.all[Quantity::kBestHeadFidelity]);
    speed.heads.emplace_back();
    faith.heads.emplace_back();
    for (const HeadSummary& head : layer.heads) {
      speed.heads.back().push_back(head[Quantity::kTruncatedHittingMean].median);
      faith.heads.back().push_back(head[Quantity::kMinimaxFidelity].median);
    }
  }
  return {speed, faith};
}

/// Calls with every number that a panel shows.
template <class Visit>
void for_each_number(const LayerPanel& panel, const Visit& visit) {
  for (const Series& series : panel.series)
    for (const Summary& layer : series.layers)
      for (const double number : {layer.median, layer.quantile_10, layer.quantile_90})
        visit(number);
  for (const auto& layer : panel.heads)
    for (const double number : layer) visit(number);
}

/// The data block and the plot commands of a series: x, the line, the mark, the ends of the bar.
/// The line ends where a number stands at an edge.
void add_series(const Series& series, const FigureAxis& axis, double shift,
                const SeriesStyle& style, double mark_size, const std::string& block,
                std::string& blocks, std::string& plots) {
  blocks += fmt::format("${} << EOD\n", block);
  bool bars = false;
  for (std::size_t l = 0; l < series.layers.size(); ++l) {
    const Summary& layer = series.layers[l];
    const double value = layer.median;
    const double low = axis.position(layer.quantile_10);
    const double high = axis.position(layer.quantile_90);
    bars = bars || low < high;
    blocks += fmt::format("{:.4f} {} {} {} {}\n", static_cast<double>(l + 1) + shift,
                          gnuplot_number(axis.at_edge(value) ? std::nan("") : value),
                          gnuplot_number(axis.position(value)), gnuplot_number(low),
                          gnuplot_number(high));
  }
  blocks += "EOD\n";
  plots += fmt::format("{}${} using 1:2 with lines lw 1.3 lc rgb '{}' notitle",
                       plots.empty() ? "" : ", ", block, style.colour);
  if (bars)
    plots += fmt::format(", ${} using 1:4:(0):($5-$4) with vectors nohead lw 1 lc rgb '{}' notitle",
                         block, style.colour);
  plots += fmt::format(", ${} using 1:3 with points pt {} ps {} lc rgb '{}' notitle", block,
                       style.mark, mark_size, style.colour);
}

std::string panel_commands(const LayerPanel& panel, const FigureAxis& axis, const Canvas& canvas,
                           std::size_t index) {
  const std::size_t layers = panel.heads.size();
  const double mark_size = layers > kSideBySide ? 0.4 : 0.5;
  std::string blocks = fmt::format("$heads{} << EOD\n", index);
  bool heads = false;
  for (std::size_t l = 0; l < layers; ++l)
    for (const double number : panel.heads[l]) {
      if (std::isnan(number) || panel.heads[l].size() < 2) continue;
      heads = true;
      blocks += fmt::format("{} {}\n", l + 1, gnuplot_number(axis.position(number)));
    }
  blocks += "EOD\n";
  std::string plots;
  std::vector<LegendEntry> entries;
  if (heads) {
    const LegendEntry entry{"each head", "#777777", 2, 0.4};
    plots = fmt::format("$heads{} using 1:2 with points pt {} ps {} lc rgb '{}' notitle", index,
                        entry.mark, entry.mark_size, entry.colour);
    entries.push_back(entry);
  }
  for (std::size_t k = 0; k < panel.series.size(); ++k) {
    const SeriesStyle& style = series_style(k);
    add_series(panel.series[k], axis, k == 0 ? -0.1 : 0.1, style, mark_size,
               fmt::format("series{}_{}", index, k), blocks, plots);
    entries.push_back({panel.series[k].title, style.colour, style.mark, mark_size, "solid"});
  }
  const FigurePlace corner = canvas.corner(index);
  return blocks + axis.commands() + panel_title(canvas, index, 0.36, panel.title) +
         legend(canvas, {corner.x, corner.y + 0.14}, entries) + "plot " + plots + '\n' + kEndPanel;
}

/// The labels along x: as many as there is room for, slanted where they are long.
struct LayerTics {
  std::string commands;
  double height = 0.0;  ///< of the labels, in inches
};

LayerTics layer_tics(const LayerLabels& labels, double panel_width) {
  std::size_t longest = 1;
  for (const std::string& tic : labels.tics) longest = std::max(longest, display_width(tic));
  const std::size_t layers = labels.tics.size();
  const double spacing = panel_width / static_cast<double>(layers);
  const double width = kCharacterWidth * (static_cast<double>(longest) + 0.6);
  // Short names leave some out before they slant.
  constexpr std::size_t kShort = 3;
  constexpr double kSlanted = 0.17;  // that a slanted label takes along x
  const bool slanted = longest > kShort && width > spacing;
  const auto every =
      static_cast<std::size_t>(std::max(1.0, std::ceil((slanted ? kSlanted : width) / spacing)));
  std::string list;
  for (std::size_t l = 0; l < layers; l += every)
    list += fmt::format("{}{} {}", l == 0 ? "" : ", ", gnuplot_tic(labels.tics[l]), l + 1);
  return {fmt::format("set xtics {} ({})\n", slanted ? "rotate by 35 right" : "norotate", list),
          slanted ? 0.6 * width : 0.0};
}

/// The layout of the panels and the labels below them.
struct LayerPlan {
  FigureLayout layout;
  LayerLabels labels;
  LayerTics tics;
};

LayerPlan plan_of(const std::vector<AttentionLayer>& layers, std::size_t conventions,
                  const FigureOptions& options) {
  check_names(options, layers.size(), "layer");
  LayerPlan plan{{}, layer_labels(layers, options.names), {}};
  FigureLayout& layout = plan.layout;
  const bool wide = layers.size() > kSideBySide;
  layout.columns = wide ? 1 : 2;
  layout.rows = static_cast<int>(wide ? 2 * conventions : conventions);
  layout.panel = {wide ? 6.1 : 2.75, wide ? 1.5 : 1.75};
  layout.across = 0.65;
  layout.top = 0.5;
  double panel_width = layout.panel.width;
  if (options.size)
    panel_width =
        (options.size->width - layout.left - layout.right - layout.across * (layout.columns - 1)) /
        layout.columns;
  plan.tics = layer_tics(plan.labels, std::max(panel_width, 0.1));
  layout.bottom = 0.5 + plan.tics.height;
  layout.down = 0.85 + plan.tics.height;
  std::vector<AttentionLayer> independent = layers;  // sinks of a sample are one
  for (AttentionLayer& layer : independent) layer.samples /= layer.sinks;
  const std::string samples = count_range(independent, &AttentionLayer::samples);
  if (samples != "1")
    layout.note = fmt::format("median and 10 to 90 % range of {} samples", samples);
  const std::string tokens = count_range(layers, &AttentionLayer::tokens);
  if (tokens != fmt::format("{}", layers.front().tokens))
    layout.note += fmt::format("{}layers of different lengths: {} tokens",
                               layout.note.empty() ? "" : "; ", tokens);
  return plan;
}

}  // namespace

void check_layer_figure(const std::vector<AttentionLayer>& layers, std::size_t conventions,
                        const FigureOptions& options) {
  (void)begin_figure(plan_of(layers, conventions, options).layout, options);
}

void draw_layer_figure(const std::string& path, const AnalyzeReport& report,
                       const FigureOptions& options) {
  const std::vector<AttentionLayer>& layers = report.analysis.layers;
  const LayerPlan plan = plan_of(layers, report.conventions.size(), options);
  const Canvas canvas = begin_figure(plan.layout, options);
  std::vector<LayerPanel> panels;
  std::vector<FigureAxis> axes(2);
  for (std::size_t c = 0; c < report.conventions.size(); ++c)
    for (LayerPanel& panel : panels_of(report, c)) {
      for_each_number(panel, [&](double number) { axes[panels.size() % 2].add(number); });
      panels.push_back(std::move(panel));
    }
  std::string commands = canvas.commands;
  commands += fmt::format("set xrange [0.4:{}+0.6]\n{}", layers.size(), plan.tics.commands);
  const auto room = static_cast<std::size_t>(canvas.panel.width / kCharacterWidth);
  for (std::size_t k = 0; k < panels.size(); ++k) {
    if (canvas.lowest(k, panels.size()))
      commands +=
          fmt::format("set xlabel {} offset 0,{}\n", gnuplot_text(cut_end(plan.labels.axis, room)),
                      plan.tics.height > 0.0 ? 0.2 : 0.5);
    commands += panel_commands(panels[k], axes[k % 2], canvas, k);
  }
  draw_figure(path, canvas.size, commands + "unset multiplot\n", canvas.named_by);
}

}  // namespace synergraph

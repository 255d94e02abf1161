#include "synergraph/report/graph_figure.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "synergraph/core/terminal.h"
#include "synergraph/diffusion/fidelity.h"
#include "synergraph/report/figure_layout.h"

namespace synergraph {
namespace {

constexpr int kNamedNodes = kSeriesStyles;  // more are coloured by position
constexpr std::size_t kMostHeads = 19;
constexpr int kColumns = 4;
constexpr const char* kDashes = "(6,4)";
constexpr std::size_t kLongestNodeName = 24;  // of a node, in characters

struct Panel {
  std::string title;
  Matrix signal;
};

/// phi_min within the first t steps.
std::vector<double> cumulative_minimax(const Matrix& signal) {
  const int sources = signal.cols() - 1;
  std::vector<double> best(static_cast<std::size_t>(std::max(sources, 0)), 0.0);
  std::vector<double> minimax;
  for (int t = 0; t < signal.rows(); ++t) {
    double smallest = sources > 0 ? 1.0 : std::nan("");
    for (int j = 0; j < sources; ++j) {
      double& b = best[static_cast<std::size_t>(j)];
      b = std::max(b, signal(t, j));
      smallest = std::min(smallest, b);
    }
    minimax.push_back(smallest);
  }
  return minimax;
}

/// A data block: the step, each source's signal and phi_min.
std::string data_block(std::size_t index, const Matrix& signal) {
  std::string text = fmt::format("$panel{} << EOD\n", index);
  const std::vector<double> minimax = cumulative_minimax(signal);
  for (int t = 0; t < signal.rows(); ++t) {
    text += fmt::format("{}", t);
    for (int j = 0; j + 1 < signal.cols(); ++j) text += fmt::format(" {:.8g}", signal(t, j));
    text += fmt::format(" {:.8g}\n", minimax[static_cast<std::size_t>(t)]);
  }
  return text + "EOD\n";
}

/// Nodes that fit the key are named there.
bool named(int sources) {
  return sources <= kNamedNodes;
}

std::string node_name(const DiffusionFigureOptions& options, int node) {
  return cut_middle(printable(options.node_names[static_cast<std::size_t>(node)]),
                    kLongestNodeName);
}

std::string plot_command(std::size_t index, const Panel& panel, int steps) {
  const int sources = panel.signal.cols() - 1;
  std::string text = "plot ";
  if (!named(sources))
    text +=
        fmt::format("for [j=2:{}] $panel{} using 1:j:(j-2) with lines lw 1 lc palette notitle, ",
                    sources + 1, index);
  // Marks of lines that run together stand beside each other.
  const int every = std::max({1, sources, steps / 5});
  for (int j = 0; named(sources) && j < sources; ++j) {
    const SeriesStyle& style = series_style(static_cast<std::size_t>(j));
    text += fmt::format(
        "$panel{0} using 1:{1} with lines lw 1.4 lc rgb '{2}' notitle, $panel{0} using 1:{1} every "
        "{3}::{4} with points pt {5} ps 0.6 lc rgb '{2}' notitle, ",
        index, j + 2, style.colour, every, std::min(1 + j, steps), style.mark);
  }
  return text + fmt::format("$panel{} using 1:{} with lines lw 1.8 dt {} lc rgb 'black' notitle\n",
                            index, sources + 2, kDashes);
}

/// What the lines are, to the right of the panels.
std::string key(const Canvas& canvas, const DiffusionFigureOptions& options) {
  const int sources = static_cast<int>(options.node_names.size()) - 1;
  FigurePlace place{canvas.size.width - canvas.layout.right + 0.12, canvas.corner(0).y - 0.05};
  std::string text;
  const auto add = [&](const LegendEntry& entry) {
    text += legend(canvas, place, {entry});
    place.y -= 0.19;
  };
  for (int j = 0; named(sources) && j < sources; ++j) {
    const SeriesStyle& style = series_style(static_cast<std::size_t>(j));
    add({node_name(options, j), style.colour, style.mark, 0.6, "solid"});
  }
  add({"minimax", "black", 0, 0.0, kDashes});
  if (named(sources)) return text;
  const double height = canvas.panel.height - 0.3;
  return text + fmt::format(
                    "set colorbox user origin {} size screen {:.4f},{:.4f}\n"
                    "set cblabel 'source node' offset -0.5,0\nset cbtics scale 0.3 offset -0.7,0\n",
                    canvas.screen({place.x, canvas.corner(0).y - canvas.panel.height}),
                    0.1 / canvas.size.width, height / canvas.size.height);
}

/// Panels of so many heads: each alone and, of several, all together.
int panel_count(std::size_t heads) {
  const std::size_t drawn = std::min(heads, kMostHeads);
  return static_cast<int>(heads > 1 ? drawn + 1 : drawn);
}

FigureLayout layout_of(std::size_t heads, const DiffusionFigureOptions& options) {
  const int panels = panel_count(heads);
  const int sources = static_cast<int>(options.node_names.size()) - 1;
  FigureLayout layout;
  layout.columns = panels == 5 || panels == 6 ? 3 : std::min(panels, kColumns);
  layout.rows = (panels + layout.columns - 1) / layout.columns;
  layout.panel = {1.75, layout.rows > 3 ? 1.2 : 1.5};
  layout.bottom = 0.55;
  layout.down = 0.62;
  std::size_t longest = std::string_view("minimax").size();
  for (int j = 0; named(sources) && j < sources; ++j)
    longest = std::max(longest, display_width(node_name(options, j)));
  layout.right = 0.5 + kCharacterWidth * static_cast<double>(longest);
  if (heads > kMostHeads)
    layout.note = fmt::format("the first {} of {} heads, and all together", kMostHeads, heads);
  return layout;
}

}  // namespace

void check_diffusion_figure(const std::vector<Head>& heads, const DiffusionFigureOptions& options) {
  check_names(options.figure, heads.size(), "head");
  (void)begin_figure(layout_of(heads.size(), options), options.figure);
}

void draw_diffusion_figure(const std::string& path, const std::vector<Head>& heads,
                           const std::vector<double>& weights,
                           const DiffusionFigureOptions& options) {
  check_names(options.figure, heads.size(), "head");
  const FigureLayout layout = layout_of(heads.size(), options);
  const Canvas canvas = begin_figure(layout, options.figure);
  std::vector<Panel> panels;
  for (std::size_t h = 0; h < std::min(heads.size(), kMostHeads); ++h)
    panels.push_back({options.figure.names.empty() ? heads[h].name : options.figure.names[h],
                      signal_curves(heads[h].diffusion, options.steps)});
  if (heads.size() > 1)
    panels.push_back(
        {"all heads", signal_curves(combine_diffusion(heads, weights), options.steps)});

  const int sources = panels.front().signal.cols() - 1;
  double highest = 0.0;
  for (const Panel& panel : panels)
    for (int t = 1; t < panel.signal.rows(); ++t)
      for (int j = 0; j < sources; ++j) highest = std::max(highest, panel.signal(t, j));

  std::string commands = canvas.commands;
  // A little below zero, where the marks of a signal that never arrives can be seen whole.
  const double top = highest > 0.0 ? 1.05 * highest : 1.0;
  commands += fmt::format("set xrange [0:{}]\nset yrange [{:.6g}:{:.6g}]\n", options.steps,
                          -0.03 * top, top);
  if (!named(sources))
    commands += fmt::format(
        "set palette defined (0 '#440154', 1 '#3b528b', 2 '#21918c', 3 '#5ec962', 4 '#fde725')\n"
        "set cbrange [0:{}]\n",
        sources - 1);
  for (std::size_t k = 0; k < panels.size(); ++k) commands += data_block(k, panels[k].signal);
  for (std::size_t k = 0; k < panels.size(); ++k) {
    const bool leftmost = k % static_cast<std::size_t>(layout.columns) == 0;
    commands += leftmost ? "set ylabel 'signal at sink' offset 1.2,0\n" : "unset ylabel\n";
    if (canvas.lowest(k, panels.size())) commands += "set xlabel 'diffusion step' offset 0,0.5\n";
    if (k == 0) commands += key(canvas, options);
    commands += panel_title(canvas, k, 0.14, panels[k].title) +
                plot_command(k, panels[k], options.steps) + kEndPanel;
    if (k == 0) commands += "unset colorbox\n";
  }
  draw_figure(path, canvas.size, commands + "unset multiplot\n", canvas.named_by);
}

}  // namespace synergraph

#include "synergraph/report/diffusion_figure.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "synergraph/diffusion/fidelity.h"
#include "synergraph/report/figure.h"

namespace synergraph {
namespace {

// Okabe and Ito's colours: distinct in print and for colour-blind readers.
constexpr const char* kColours[] = {"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                    "#E69F00", "#56B4E9", "#F0E442"};
constexpr int kNamedNodes = 7;  // more are coloured by position
constexpr std::size_t kMostHeads = 15;
constexpr int kColumns = 4;

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

/// A data block: the step, each source's signal and phi_min, in per cent.
std::string data_block(std::size_t index, const Matrix& signal) {
  std::string text = fmt::format("$panel{} << EOD\n", index);
  const std::vector<double> minimax = cumulative_minimax(signal);
  for (int t = 0; t < signal.rows(); ++t) {
    text += fmt::format("{}", t);
    for (int j = 0; j + 1 < signal.cols(); ++j)
      text += fmt::format(" {:.8g}", 100.0 * signal(t, j));
    text += fmt::format(" {:.8g}\n", 100.0 * minimax[static_cast<std::size_t>(t)]);
  }
  return text + "EOD\n";
}

std::string plot_command(std::size_t index, const Panel& panel,
                         const DiffusionFigureOptions& options) {
  const int sources = panel.signal.cols() - 1;
  const bool named = sources <= kNamedNodes;
  std::string text = fmt::format("set title {} offset 0,-0.7\nplot ", gnuplot_text(panel.title));
  if (!named)
    text +=
        fmt::format("for [j=2:{}] $panel{} using 1:j:(j-2) with lines lw 1 lc palette notitle, ",
                    sources + 1, index);
  for (int j = 0; named && j < sources; ++j)
    text += fmt::format(
        "$panel{} using 1:{} with linespoints lw 1.6 pt 7 ps 0.25 lc rgb '{}' title {}, ", index,
        j + 2, kColours[j], gnuplot_text(options.node_names[static_cast<std::size_t>(j)]));
  text += fmt::format(
      "$panel{} using 1:{} with lines lw 1.8 dt (6,4) lc rgb 'black' title 'φ_{{min}}'\n", index,
      sources + 2);
  return text;
}

}  // namespace

void draw_diffusion_figure(const std::string& path, const std::vector<Head>& heads,
                           const std::vector<double>& weights,
                           const DiffusionFigureOptions& options) {
  std::vector<Panel> panels;
  for (std::size_t h = 0; h < std::min(heads.size(), kMostHeads); ++h)
    panels.push_back({heads[h].name, signal_curves(heads[h].diffusion, options.steps)});
  if (heads.size() > 1)
    panels.push_back({"Combined", signal_curves(combine_diffusion(heads, weights), options.steps)});

  const auto count = static_cast<int>(panels.size());
  const int columns = count == 5 || count == 6 ? 3 : std::min(count, kColumns);
  const int rows = (count + columns - 1) / columns;
  const int sources = panels.front().signal.cols() - 1;
  double highest = 0.0;
  for (const Panel& panel : panels)
    for (int t = 1; t < panel.signal.rows(); ++t)
      for (int j = 0; j < sources; ++j) highest = std::max(highest, panel.signal(t, j));

  // In inches: the panels, what lies between them, and room on the right for the key.
  const FigureSize size{0.6 + 1.75 * columns + 0.5 * (columns - 1) + 0.85,
                        0.6 + 1.5 * rows + 0.7 * (rows - 1) + 0.25};
  std::string commands = fmt::format(
      "set multiplot layout {},{} margins screen {:.4f},{:.4f},{:.4f},{:.4f} spacing screen "
      "{:.4f},{:.4f}\n",
      rows, columns, 0.6 / size.width, 1.0 - 0.85 / size.width, 0.6 / size.height,
      1.0 - 0.25 / size.height, 0.5 / size.width, 0.7 / size.height);
  commands += fmt::format(
      "set border 3 lw 0.8\nset tics nomirror out scale 0.5\nset xrange [0:{}]\nset yrange [0:{}]\n"
      "set xlabel 'diffusion step' offset 0,0.5\nset grid ytics lc rgb '#dddddd' lw 0.6\nunset "
      "key\n",
      options.steps, highest > 0.0 ? fmt::format("{:.6g}", 105.0 * highest) : "1");
  if (sources > kNamedNodes)
    commands += fmt::format(
        "set palette defined (0 '#440154', 1 '#3b528b', 2 '#21918c', 3 '#5ec962', 4 '#fde725')\n"
        "set cbrange [0:{}]\nunset colorbox\n",
        sources - 1);
  for (std::size_t k = 0; k < panels.size(); ++k) commands += data_block(k, panels[k].signal);
  const double top = 1.0 - 0.2 / size.height;
  for (std::size_t k = 0; k < panels.size(); ++k) {
    const bool leftmost = k % static_cast<std::size_t>(columns) == 0;
    commands += leftmost ? "set ylabel 'signal at sink (%)' offset 1.2,0\n" : "unset ylabel\n";
    if (k + 1 == panels.size()) {
      commands +=
          fmt::format("set key at screen 0.995,{:.4f} right top samplen 1.4 spacing 1.1\n", top);
      if (sources > kNamedNodes)
        commands += fmt::format(
            "set colorbox user origin screen {:.4f},{:.4f} size screen {:.4f},{:.4f}\n"
            "set cblabel 'source node' offset -0.5,0\nset cbtics scale 0.3 offset -0.7,0\n",
            1.0 - 0.68 / size.width, 0.5 / size.height, 0.1 / size.width, top - 0.9 / size.height);
    }
    commands += plot_command(k, panels[k], options);
  }
  commands += "unset multiplot\n";
  draw_figure(path, size, commands);
}

}  // namespace synergraph

#include "synergraph/report/study_figure.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "synergraph/report/figure.h"
#include "synergraph/report/figure_axis.h"
#include "synergraph/study/findings.h"
#include "synergraph/study/published.h"
#include "synergraph/study/statements.h"

namespace synergraph {
namespace {

constexpr std::array kColours = {"#3b0f70", "#0072B2", "#009E73", "#D55E00", "#CC79A7", "#777777"};
constexpr double kPercent = 100.0;
constexpr double kSpacing = 0.09;  // between the head counts of a layer, along x

/// The two quantities of the figure.
enum class Quantity { kTime, kFidelity };

const Summary& summary_of(const LayerResult& layer, Quantity quantity) {
  return layer[quantity == Quantity::kTime ? kSpeedKey : kFidelityKey];
}

double scale(Quantity quantity) {
  return quantity == Quantity::kTime ? 1.0 : kPercent;
}

std::optional<PublishedValue> published_value(const std::string& task, int heads, int layer,
                                              Quantity quantity) {
  return quantity == Quantity::kTime ? published_mixing_time(task, heads, layer)
                                     : published_fidelity(task, heads, layer);
}

/// One panel: its data blocks and plot commands.
class Panel {
 public:
  Panel(std::string name, const std::string& task, const ResultsByHeads& cells,
        Convention convention, Quantity quantity)
      : name_(std::move(name)) {
    // Published fidelities are zero to the two decimals printed: only a straight axis can show
    // them.
    if (quantity == Quantity::kTime)
      extent_.ratio = 8.0;
    else if (convention == Convention::kPublished)
      extent_.ratio = std::numeric_limits<double>::infinity();
    int index = 0;
    for (const auto& [heads, results] : cells) {
      const double shift = kSpacing * (index - 0.5 * (static_cast<double>(cells.size()) - 1.0));
      add_heads(task, heads, results, convention, quantity, shift, index);
      ++index;
    }
  }

  std::string commands() const { return blocks_ + extent_.commands() + "plot " + series_ + '\n'; }
  double floor() const { return extent_.floor(); }

 private:
  void add_heads(const std::string& task, int heads, const std::vector<const CellResult*>& results,
                 Convention convention, Quantity quantity, double shift, int index) {
    const char* colour = kColours[static_cast<std::size_t>(index) % kColours.size()];
    const std::size_t layers = results.front()->layers(convention).size();
    const double factor = scale(quantity);
    std::string means;
    std::string seeds;
    std::string paper;
    for (std::size_t l = 0; l < layers; ++l) {
      const double x = static_cast<double>(l + 1) + shift;
      double sum = 0.0;
      for (const CellResult* result : results) {
        const double value = factor * summary_of(result->layers(convention)[l], quantity).mean;
        sum += value;
        extent_.add(value);
        seeds += fmt::format("{:.4f} {}\n", x, gnuplot_number(value));
      }
      const double std =
          results.size() == 1
              ? factor * summary_of(results.front()->layers(convention)[l], quantity).std
              : 0.0;
      const double mean = sum / static_cast<double>(results.size());
      extent_.add(mean + std);
      means += fmt::format("{:.4f} {} {}\n", x, gnuplot_number(mean), gnuplot_number(std));
      const auto value = convention == Convention::kPublished
                             ? published_value(task, heads, static_cast<int>(l), quantity)
                             : std::nullopt;
      if (value) {
        extent_.add(value->mean + value->std);
        paper += fmt::format("{:.4f} {} {}\n", x, gnuplot_number(value->mean),
                             gnuplot_number(value->std));
      }
    }
    const std::string block = fmt::format("{}_{}", name_, heads);
    blocks_ += fmt::format("$m{0} << EOD\n{1}EOD\n$s{0} << EOD\n{2}EOD\n$p{0} << EOD\n{3}EOD\n",
                           block, means, seeds, paper);
    series_ += fmt::format("{}$m{} using 1:2 with lines lw 1.4 lc rgb '{}' notitle",
                           index == 0 ? "" : ", ", block, colour);
    if (results.size() == 1)
      series_ += fmt::format(
          ", $m{0} using 1:2:(foot($2-$3)):($2+$3) with yerrorbars lw 1 pt 7 ps 0.4 lc rgb '{1}' "
          "notitle",
          block, colour);
    else
      series_ +=
          fmt::format(", $s{0} using 1:(foot($2)) with points pt 7 ps 0.35 lc rgb '{1}' notitle",
                      block, colour);
    if (!paper.empty()) {
      series_ +=
          fmt::format(", $p{0} using 1:(foot($2)) with points pt 12 ps 0.9 lc rgb '{1}' notitle",
                      block, colour);
    }
  }

  std::string name_;
  std::string blocks_;
  std::string series_;
  Extent extent_;
};

/// Which colour is which, along the top of a figure that is `inches` wide.
std::string legend(const std::vector<int>& heads, bool paper, double inches) {
  const std::size_t entries = heads.size() + (paper ? 1 : 0);
  const double width = std::min(1.0 / inches, 0.94 / static_cast<double>(entries));
  double x = 0.52 - 0.5 * width * static_cast<double>(entries);
  std::string text;
  for (std::size_t k = 0; k < heads.size(); ++k, x += width)
    text += fmt::format(
        "set label '{}' at screen {:.4f},0.965 left point pt 7 ps 0.6 lc rgb '{}' offset "
        "0.8,0\n",
        counted(heads[k], "head"), x, kColours[k % kColours.size()]);
  if (paper)
    text += fmt::format(
        "set label 'paper' at screen {:.4f},0.965 left point pt 12 ps 0.9 lc rgb '#444444' offset "
        "0.8,0\n",
        x);
  return text;
}

}  // namespace

void draw_study_figure(const std::string& path, const std::vector<CellResult>& results,
                       Convention convention) {
  const std::map<std::string, ResultsByHeads> tasks = group_results(results);
  std::size_t layers = 0;
  std::set<int> heads;
  for (const CellResult& result : results) {
    heads.insert(result.cell.train.model.heads);
    layers = std::max(layers, result.layers(convention).size());
  }
  const FigureSize size{tasks.size() == 1 ? 4.2 : 3.4 * static_cast<double>(tasks.size()), 4.7};
  std::string commands = fmt::format(
      "set multiplot layout 2,{} margins screen {:.4f},0.985,0.1,0.885 spacing screen {:.4f},0.13\n"
      "set border 3 lw 0.8\nset tics nomirror out scale 0.5\nset grid ytics lc rgb '#dddddd' lw "
      "0.6\nset xrange [0.5:{}+0.5]\nset xtics 1,1\nset bars 0.4\nunset key\n",
      tasks.size(), 0.78 / size.width, 0.84 / size.width, layers);
  commands +=
      legend({heads.begin(), heads.end()}, convention == Convention::kPublished, size.width);
  int panels = 0;
  for (const Quantity quantity : {Quantity::kTime, Quantity::kFidelity})
    for (const auto& [task, cells] : tasks) {
      const Panel panel(fmt::format("{}{}", quantity == Quantity::kTime ? "t" : "f", panels++),
                        task, cells, convention, quantity);
      commands += fmt::format(
          "foot(x) = x > {0:.6g} ? x : {0:.6g}\nset title {1} offset 0,-0.6\n"
          "set ylabel '{2}' offset 0.2,0\nset xlabel '{3}' offset 0,0.6\n",
          panel.floor(),
          gnuplot_text(fmt::format("{}: {}", task,
                                   quantity == Quantity::kTime ? "mixing time" : "fidelity")),
          quantity == Quantity::kTime ? "mean steps" : "minimax fidelity (%)",
          quantity == Quantity::kTime ? "" : "layer");
      commands += panel.commands() + "unset label\n";
    }
  draw_figure(path, size, commands + "unset multiplot\n");
}

}  // namespace synergraph

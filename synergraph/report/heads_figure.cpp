#include "synergraph/report/heads_figure.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "synergraph/core/parse_number.h"
#include "synergraph/core/shorten_names.h"
#include "synergraph/core/terminal.h"
#include "synergraph/report/figure_axis.h"
#include "synergraph/report/figure_layout.h"
#include "synergraph/report/figure_map.h"
#include "synergraph/report/layer_labels.h"

namespace synergraph {
namespace {

constexpr std::size_t kRowEach = 12;         // layers; more share their panels
constexpr std::size_t kLongestHeadName = 7;  // of a head, in characters
constexpr double kResidual = 0.5;            // width of the numbers right of the stack's map
constexpr double kBelow = 0.2;               // that the stack stands further below
constexpr double kHeadsTitle = 0.14;         // of a panel, above it
constexpr double kKey = 0.38;                // likewise

/// Where the panels stand: in the grid a row a layer, or a row a value where layers are many, and
/// the stack in the last.
struct HeadValuePlan {
  FigureLayout layout;
  LayerLabels labels;
  bool many = false;   ///< layers
  bool pairs = false;  ///< some layer has several heads
};

HeadValuePlan plan_of(const std::vector<AttentionLayer>& layers, std::size_t values, bool stack,
                      const FigureOptions& options) {
  check_names(options, layers.size(), "layer");
  HeadValuePlan plan{{}, layer_labels(layers, options.names), layers.size() > kRowEach, false};
  plan.pairs = std::any_of(layers.begin(), layers.end(),
                           [](const AttentionLayer& layer) { return layer.heads > 1; });
  FigureLayout& layout = plan.layout;
  const auto count = static_cast<double>(layers.size());
  layout.columns = plan.many ? 2 : static_cast<int>(values) * (plan.pairs ? 2 : 1);
  layout.rows = static_cast<int>(plan.many ? values : layers.size()) + (stack ? 1 : 0);
  layout.panel = plan.many           ? FigureSize{2.9, std::clamp(0.07 * count, 1.6, 4.0)}
                 : layers.size() > 4 ? FigureSize{1.5, 1.15}
                 : !plan.pairs       ? FigureSize{2.2, 1.5}
                                     : FigureSize{1.6, 1.4};
  layout.left = 0.7;
  if (plan.many || stack) {
    // Rows of maps are named at the left.
    std::size_t longest = 0;
    for (const std::string& tic : plan.labels.tics) longest = std::max(longest, display_width(tic));
    layout.left = std::max(layout.left, 0.45 + kCharacterWidth * static_cast<double>(longest));
  }
  layout.right = 0.55;
  layout.top = plan.many ? 0.35 : 0.55;
  layout.across = 1.05;
  layout.down = 0.62;
  layout.bottom = stack ? 0.5 + kBelow : 0.5;
  return plan;
}

/// What makes the value of all heads 100; where that is nothing, the best value.
double hundredth(const ValueOfHeads& layer_value) {
  double best = layer_value.all.mean;
  if (!(best > 0.0))
    for (const HeadSet& set : layer_value.pruning.best) best = std::max(best, set.value);
  return best > 0.0 ? 0.01 * best : 1.0;
}

/// Draws the panels one after the other.
class HeadsFigure {
 public:
  HeadsFigure(const HeadsReport& report, const FigureOptions& options)
      : report_(report),
        head_values_(report.head_values),
        plan_(plan_of(head_values_.layers, head_values_.options.values.size(),
                      report.stack.has_value(), options)),
        head_names_(report.head_names) {
    for (std::string& name : head_names_) name = printable(name);
    head_names_ = shorten_names(head_names_, kLongestHeadName);
    plan_.layout.note = note();
    if (!head_names_.empty()) {
      plan_.layout.bottom += 0.15;
      plan_.layout.down += 0.15;
    }
    canvas_ = begin_figure(plan_.layout, options);
  }

  void draw(const std::string& path) {
    const std::size_t values = head_values_.options.values.size();
    for (std::size_t v = 0; plan_.many && v < values; ++v) {
      layer_curves(v);
      shapley_map(v);
    }
    for (std::size_t l = 0; !plan_.many && l < head_values_.layer_values.size(); ++l)
      for (const ValueOfHeads& layer_value : head_values_.layer_values[l].values) {
        pruning_curves(l, layer_value);
        if (plan_.pairs) pair_map(layer_value);
      }
    if (report_.stack) stack_map(*report_.stack);
    draw_figure(path, canvas_.size, canvas_.commands + commands_ + "unset multiplot\n",
                canvas_.named_by);
  }

 private:
  std::string note() const {
    std::string text;
    if (!plan_.many) text = fmt::format("dotted: {:.4g} %", 100.0 * head_values_.options.keep);
    if (!plan_.many && plan_.pairs &&
        std::any_of(head_values_.layer_values.begin(), head_values_.layer_values.end(),
                    [](const LayerHeadValues& layer_value) {
                      const std::vector<Interaction>& pairs = layer_value.values.front().pairs;
                      return !pairs.empty() && !std::isnan(pairs.front().index.error);
                    }))
      text += "; dots: within two standard errors of 0";
    if (std::any_of(head_values_.layer_values.begin(), head_values_.layer_values.end(),
                    [](const LayerHeadValues& layer_value) { return !layer_value.exact; }))
      text += fmt::format("{}sampled: the best found", text.empty() ? "" : "; ");
    return text;
  }

  /// In the last row, but for the stack's.
  bool lowest() const {
    const auto columns = static_cast<std::size_t>(plan_.layout.columns);
    const auto rows = static_cast<std::size_t>(plan_.layout.rows) - (report_.stack ? 1 : 0);
    return panel_ / columns + 1 == rows;
  }

  std::vector<std::string> head_tics(std::size_t heads) const {
    if (!head_names_.empty()) return head_names_;
    std::vector<std::string> tics;
    for (std::size_t h = 0; h < heads; ++h) tics.push_back(fmt::format("{}", h));
    return tics;
  }

  /// What stands above a panel: a title, and in the first row what the colours are.
  void head(const std::string& title, const std::vector<LegendEntry>& entries = {}) {
    const FigurePlace corner = canvas_.corner(panel_);
    commands_ += panel_title(canvas_, panel_, kHeadsTitle, title);
    if (panel_ < static_cast<std::size_t>(plan_.layout.columns))
      commands_ += legend(canvas_, {corner.x, corner.y + kKey}, entries);
  }

  void axis_labels(const char* x, const char* y = "", double shift = 1.2) {
    commands_ +=
        fmt::format("set xlabel '{}' offset 0,0.6\nset ylabel '{}' offset {},0\n", x, y, shift);
  }

  const char* heads_label() const { return lowest() && head_names_.empty() ? "head" : ""; }

  void label(const std::string& text, const FigurePlace& place) {
    commands_ +=
        fmt::format("set label {} at {} left\n", gnuplot_text(text), canvas_.screen(place));
  }

  void curve_axes(double x_end, double x_step, double y_end) {
    commands_ += fmt::format(
        "set grid ytics\nset border 3\nset xrange [0:{}]\nset yrange [0:{:.6g}]\nset xtics "
        "norotate autofreq {}\nset ytics norotate autofreq\n",
        x_end, 1.05 * y_end, x_step);
  }

  void end_panel() {
    commands_ += kEndPanel;
    ++panel_;
  }

  void map(const FigureMap& map, const FigurePlace& corner, const FigureSize& panel,
           const std::string& plots = {}) {
    commands_ += map_panel(map, canvas_, corner, panel, fmt::format("cells{}", panel_), plots);
    end_panel();
  }

  void pruning_curves(std::size_t l, const ValueOfHeads& layer_value) {
    const Pruning& pruning = layer_value.pruning;
    const double unit = hundredth(layer_value);
    const std::size_t heads = layer_value.heads.size();
    const bool worth = layer_value.all.mean > 0.0;
    double highest = 100.0;
    commands_ += fmt::format("$curve{} << EOD\n", panel_);
    for (std::size_t k = 0; k <= heads; ++k) {
      highest = std::max(highest, pruning.best[k].value / unit);
      commands_ += fmt::format("{} {} {} {}\n", k, gnuplot_number(pruning.best[k].value / unit),
                               gnuplot_number(pruning.removal.value[k] / unit),
                               gnuplot_number(pruning.shapley.value[k] / unit));
    }
    commands_ += "EOD\n";
    constexpr std::array kTitles = {"best", "greedy", "Shapley"};
    std::vector<LegendEntry> entries;
    std::string plots;
    for (std::size_t k = 0; k < kTitles.size(); ++k) {
      const SeriesStyle& style = series_style(k);
      entries.push_back({kTitles[k], style.colour, style.mark, 0.5, "solid"});
      // The best on top, where all agree.
      plots.insert(
          0, fmt::format(", $curve{} using 1:{} with linespoints lw 1.3 pt {} ps {} lc rgb '{}' "
                         "notitle",
                         panel_, k + 2, style.mark, k == 0 ? 0.4 : 0.55, style.colour));
    }
    const std::string upper = layer_value.gap > 0.0
                                  ? " to " + human(layer_value.all.mean + layer_value.gap, 3)
                                  : std::string();
    std::string title =
        fmt::format("{} {}{}", name_of(layer_value.value), human(layer_value.all.mean, 3), upper);
    const std::string& name = plan_.labels.tics[l];
    if (head_names_.empty())  // a long name comes last: it may be cut
      title = is_number(name) ? fmt::format("layer {}: {}", name, title)
                              : fmt::format("{}, {}", title, name);
    head(title, entries);
    axis_labels(lowest() ? "heads left" : "", worth ? "% of all heads" : "% of the best");
    constexpr std::size_t kTics = 5;
    curve_axes(static_cast<double>(heads),
               static_cast<double>(std::bit_ceil((heads + kTics - 1) / kTics)), highest);
    commands_ +=
        fmt::format("plot {} with lines lw 0.8 dt (3,3) lc rgb '#999999' notitle{}\n",
                    worth ? gnuplot_number(100.0 * head_values_.options.keep) : "NaN", plots);
    end_panel();
  }

  void pair_map(const ValueOfHeads& layer_value) {
    const std::size_t heads = layer_value.heads.size();
    const double nothing = std::nan("");
    FigureMap pairs{std::vector(heads, std::vector(heads, nothing)), true};
    pairs.row_tics = pairs.column_tics = head_tics(heads);
    pairs.slanted = !head_names_.empty();
    std::string dots;
    for (const Interaction& pair : layer_value.pairs) {
      const auto a = static_cast<std::size_t>(pair.heads[0]);
      const auto b = static_cast<std::size_t>(pair.heads[1]);
      pairs.rows[a][b] = pairs.rows[b][a] = pair.index.mean / hundredth(layer_value);
      if (std::abs(pair.index.mean) < 2.0 * pair.index.error)
        dots += fmt::format("{0} {1}\n{1} {0}\n", a, b);
    }
    head("pairs, % of all heads",
         {{"complement", kMapAbove, 5, 0.7}, {"redundant", kMapBelow, 5, 0.7}});
    axis_labels(heads_label());
    if (!dots.empty()) commands_ += fmt::format("$dots{} << EOD\n{}EOD\n", panel_, dots);
    map(pairs, canvas_.corner(panel_), canvas_.panel,
        dots.empty()
            ? ""
            : fmt::format("$dots{} using 1:2 with points pt 7 ps {:.3f} lc rgb '#666666' notitle",
                          panel_, std::min(0.18, 2.4 / static_cast<double>(heads))));
  }

  /// What the first layer counts as: its number where names are numbers in a row, else 1.
  std::size_t first_number() const {
    constexpr std::size_t kDigits = 9;
    const std::vector<std::string>& tics = plan_.labels.tics;
    std::size_t first = 1;
    if (tics.front().size() > kDigits || !parse_number(tics.front(), first)) return 1;
    for (std::size_t l = 0; l < tics.size(); ++l)
      if (tics[l] != fmt::format("{}", first + l)) return 1;
    return first;
  }

  /// The best heads' curves of all layers, coloured by layer.
  void layer_curves(std::size_t v) {
    const std::size_t layers = head_values_.layer_values.size();
    const std::size_t first = first_number();
    double highest = 100.0;
    std::string plots;
    for (std::size_t l = 0; l < layers; ++l) {
      const ValueOfHeads& layer_value = head_values_.layer_values[l].values[v];
      commands_ += fmt::format("$curve{}_{} << EOD\n", panel_, l);
      for (std::size_t k = 0; k < layer_value.pruning.best.size(); ++k) {
        const double best = layer_value.pruning.best[k].value / hundredth(layer_value);
        highest = std::max(highest, best);
        commands_ += fmt::format(
            "{:.6g} {}\n",
            100.0 * static_cast<double>(k) / static_cast<double>(layer_value.heads.size()),
            gnuplot_number(best));
      }
      commands_ += "EOD\n";
      plots += fmt::format("{}$curve{}_{} using 1:2:({}) with lines lw 1 lc palette notitle",
                           plots.empty() ? "" : ", ", panel_, l, first + l);
    }
    head(fmt::format("{}: the best heads", name_of(head_values_.options.values[v])));
    axis_labels(lowest() ? "% of the heads left" : "", "% of all heads");
    curve_axes(100.0, 20.0, highest);
    commands_ += fmt::format(
        "set palette defined (0 '#440154', 1 '#3b528b', 2 '#21918c', 3 '#5ec962', 4 '#fde725')\n"
        "set cbrange [{}:{}]\nset cbtics autofreq\n{}set cblabel 'layer' offset -0.8,0\nplot {}\n"
        "unset cblabel\nunset colorbox\n",
        first, first + layers - 1, colour_box(canvas_, canvas_.corner(panel_), canvas_.panel),
        plots);
    end_panel();
  }

  FigureMap layer_map(std::vector<std::vector<double>> rows, bool both_signs) const {
    std::size_t heads = 1;
    for (const std::vector<double>& row : rows) heads = std::max(heads, row.size());
    FigureMap map{std::move(rows), both_signs, true, plan_.labels.tics, head_tics(heads)};
    map.slanted = !head_names_.empty();
    return map;
  }

  void shapley_map(std::size_t v) {
    std::vector<std::vector<double>> rows;
    for (const LayerHeadValues& layer : head_values_.layer_values) {
      rows.emplace_back();
      for (const ValueOfHead& layer_value : layer.values[v].heads)
        rows.back().push_back(layer_value.shapley.mean / hundredth(layer.values[v]));
    }
    head(fmt::format("{}: Shapley values, in %", name_of(head_values_.options.values[v])));
    axis_labels(heads_label(), "layer", 0.5);
    map(layer_map(std::move(rows), true), canvas_.corner(panel_), canvas_.panel);
  }

  void stack_map(const StackAnalysis& stack) {
    std::vector<std::vector<double>> rows;
    for (const AttentionLayer& layer : stack.layers)
      rows.emplace_back(static_cast<std::size_t>(layer.heads), std::nan(""));
    for (std::size_t l = 0; l < stack.flows.size(); ++l)
      for (std::size_t h = 0; h < rows[l].size(); ++h)
        rows[l][h] = 100.0 * stack.flows[l].heads[h].mean;
    const FigureMap flows = layer_map(std::move(rows), false);
    FigurePlace corner = canvas_.corner(panel_);
    corner.y -= kBelow;
    const double whole = canvas_.size.width - corner.x - canvas_.layout.right - kResidual;
    constexpr double kLeast = 2.9;
    const double wanted = 0.22 * static_cast<double>(flows.column_tics.size());
    const FigureSize panel{std::min(whole, std::max(kLeast, wanted)), canvas_.panel.height};
    const auto margin = [&](const char* side, double place) {
      commands_ += fmt::format("set {}margin at screen {:.4f}\n", side, place);
    };
    margin("l", corner.x / canvas_.size.width);
    margin("r", (corner.x + panel.width) / canvas_.size.width);
    margin("t", corner.y / canvas_.size.height);
    margin("b", (corner.y - panel.height) / canvas_.size.height);
    const std::string title = stack.options.token ? "the token's signal, % by head"
                                                  : "the weakest token's signal, % by head";
    label(cut_end(title, static_cast<std::size_t>((panel.width + 0.4) / kCharacterWidth)),
          {corner.x, corner.y + kHeadsTitle});
    residual_labels(stack, {corner.x + panel.width + 0.5, corner.y}, panel.height);
    axis_labels(head_names_.empty() ? "head" : "", "layer", 0.5);
    map(flows, corner, panel);
  }

  /// What passes beside the heads, in numbers right of the map.
  void residual_labels(const StackAnalysis& stack, const FigurePlace& corner, double height) {
    const std::size_t layers = stack.flows.size();
    if (layers == 0) return;
    const double step = height / static_cast<double>(layers);
    const auto every = static_cast<std::size_t>(std::max(1.0, std::ceil(0.14 / step)));
    label("residual", {corner.x, corner.y + kHeadsTitle});
    for (std::size_t l = 0; l < layers; l += every) {
      const double share = stack.flows[l].residual.mean;
      if (!std::isnan(share))
        label(fmt::format("{:.0f} %", 100.0 * share),
              {corner.x, corner.y - height + (static_cast<double>(l) + 0.5) * step});
    }
  }

  const HeadsReport& report_;
  const HeadValues& head_values_;
  HeadValuePlan plan_;
  std::vector<std::string> head_names_;
  Canvas canvas_;
  std::string commands_;
  std::size_t panel_ = 0;
};

}  // namespace

void check_heads_figure(const std::vector<AttentionLayer>& layers,
                        const HeadValueOptions& head_values, bool stack,
                        const FigureOptions& options) {
  (void)begin_figure(plan_of(layers, head_values.values.size(), stack, options).layout, options);
}

void draw_heads_figure(const std::string& path, const HeadsReport& report,
                       const FigureOptions& options) {
  HeadsFigure(report, options).draw(path);
}

}  // namespace synergraph

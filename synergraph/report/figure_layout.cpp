#include "synergraph/report/figure_layout.h"

#include <fmt/core.h>

#include "synergraph/core/error.h"
#include "synergraph/core/setting.h"
#include "synergraph/core/terminal.h"

namespace synergraph {
namespace {

constexpr double kTitle = 0.28;    // height of the line that holds it
constexpr double kNote = 0.2;      // likewise
constexpr double kSmallest = 0.6;  // side of a panel that can be read

/// The text, cut to what fits into so many inches.
std::string fitting(const std::string& text, double inches) {
  return cut_end(printable(text), static_cast<std::size_t>(inches / kCharacterWidth));
}

}  // namespace

const SeriesStyle& series_style(std::size_t index) {
  static constexpr SeriesStyle kStyles[kSeriesStyles] = {
      {"#0072B2", 7, 6},   {"#D55E00", 5, 4},   {"#009E73", 9, 8}, {"#CC79A7", 13, 12},
      {"#E69F00", 11, 10}, {"#56B4E9", 15, 14}, {"#444444", 3, 1}};
  return kStyles[index % kSeriesStyles];
}

Canvas begin_figure(FigureLayout layout, const FigureOptions& options) {
  if (!options.title.empty()) layout.top += kTitle;
  if (!layout.note.empty()) layout.bottom += kNote;
  const double around_x = layout.left + layout.right + layout.across * (layout.columns - 1);
  const double around_y = layout.bottom + layout.top + layout.down * (layout.rows - 1);
  Canvas canvas;
  canvas.layout = layout;
  canvas.panel = layout.panel;
  canvas.named_by = options.named_by;
  if (options.size) {
    canvas.panel = {(options.size->width - around_x) / layout.columns,
                    (options.size->height - around_y) / layout.rows};
    if (canvas.panel.width < kSmallest || canvas.panel.height < kSmallest)
      throw UsageError(
          fmt::format("{}: {}x{} inches are too few for {} by {} panels, which need {:.1f}x{:.1f}",
                      option_mark("figure_size"), options.size->width, options.size->height,
                      layout.columns, layout.rows, around_x + kSmallest * layout.columns + 0.05,
                      around_y + kSmallest * layout.rows + 0.05));
  }
  canvas.size = {around_x + canvas.panel.width * layout.columns,
                 around_y + canvas.panel.height * layout.rows};
  const FigurePlace first = canvas.corner(0);
  canvas.commands = fmt::format(
      "set multiplot layout {},{} margins screen {:.4f},{:.4f},{:.4f},{:.4f} spacing screen "
      "{:.4f},{:.4f}\nset border 3 lw 0.8\nset tics nomirror out scale 0.5\nset grid ytics lc rgb "
      "'#dddddd' lw 0.6\nunset key\n",
      layout.rows, layout.columns, first.x / canvas.size.width,
      1.0 - layout.right / canvas.size.width, layout.bottom / canvas.size.height,
      first.y / canvas.size.height, layout.across / canvas.size.width,
      layout.down / canvas.size.height);
  if (!options.title.empty())
    canvas.commands += fmt::format(
        "set label {} at {} center\n", gnuplot_text(fitting(options.title, canvas.size.width)),
        canvas.screen({0.5 * canvas.size.width, canvas.size.height - 0.5 * kTitle}));
  if (!layout.note.empty())
    canvas.commands += fmt::format("set label {} at {} left textcolor rgb '#555555'\n",
                                   gnuplot_text(fitting(layout.note, canvas.size.width - 0.1)),
                                   canvas.screen({0.1, 0.12}));
  return canvas;
}

FigurePlace Canvas::corner(std::size_t index) const {
  const auto columns = static_cast<std::size_t>(layout.columns);
  const std::size_t column = index % columns;
  const std::size_t row = index / columns;
  return {layout.left + static_cast<double>(column) * (panel.width + layout.across),
          size.height - layout.top - static_cast<double>(row) * (panel.height + layout.down)};
}

std::string Canvas::screen(const FigurePlace& place) const {
  return fmt::format("screen {:.4f},{:.4f}", place.x / size.width, place.y / size.height);
}

bool Canvas::lowest(std::size_t index, std::size_t panels) const {
  return index + static_cast<std::size_t>(layout.columns) >= panels;
}

std::string panel_title(const Canvas& canvas, std::size_t panel, double above,
                        const std::string& text) {
  const FigurePlace corner = canvas.corner(panel);
  const double room = canvas.panel.width + 0.7 * canvas.layout.across;
  return fmt::format("set label {} at {} left\n", gnuplot_text(fitting(text, room)),
                     canvas.screen({corner.x, corner.y + above}));
}

std::string legend(const Canvas& canvas, FigurePlace place,
                   const std::vector<LegendEntry>& entries) {
  constexpr double kSample = 0.2;
  constexpr double kGap = 0.05;
  constexpr double kNarrow = 0.87 * kCharacterWidth;  // small letters
  std::string text;
  for (const LegendEntry& entry : entries) {
    const bool has_line = *entry.line != '\0';
    const double sample = has_line ? kSample : entry.mark != 0 ? 0.5 * kSample : 0.0;
    if (has_line)
      text += fmt::format("set arrow from {} to {} nohead lw 1.4 dt {} lc rgb '{}'\n",
                          canvas.screen(place), canvas.screen({place.x + sample, place.y}),
                          entry.line, entry.colour);
    if (entry.mark != 0)
      text += fmt::format("set label '' at {} point pt {} ps {} lc rgb '{}'\n",
                          canvas.screen({place.x + 0.5 * sample, place.y}), entry.mark,
                          entry.mark_size, entry.colour);
    place.x += sample + kGap;
    text +=
        fmt::format("set label {} at {} left\n", gnuplot_text(entry.text), canvas.screen(place));
    place.x += kNarrow * static_cast<double>(display_width(entry.text)) + 2.6 * kGap;
  }
  return text;
}

void check_names(const FigureOptions& options, std::size_t count, const char* what) {
  if (!options.names.empty() && options.names.size() != count)
    throw UsageError(fmt::format("{}: {} for {}", option_mark("figure_names"),
                                 counted(static_cast<std::int64_t>(options.names.size()), "name"),
                                 counted(static_cast<std::int64_t>(count), what)));
}

}  // namespace synergraph

#pragma once

#include <string>

#include "synergraph/report/figure.h"

namespace synergraph {

/// Colours (Okabe and Ito's, distinct in print and for colour-blind readers) and marks of series:
/// each has its own colour and its own mark.
struct SeriesStyle {
  const char* colour;
  int mark;       ///< gnuplot's number of a filled mark
  int open_mark;  ///< the same shape, open
};
inline constexpr std::size_t kSeriesStyles = 7;
const SeriesStyle& series_style(std::size_t index);

/// About how many inches a character of the figures' text is wide.
inline constexpr double kCharacterWidth = 0.078;

/// Equal panels in a grid, in inches.
struct FigureLayout {
  int rows = 1;
  int columns = 1;
  FigureSize panel;
  double left = 0.6;
  double right = 0.1;
  double top = 0.3;
  double bottom = 0.45;
  double across = 0.5;  ///< between columns
  double down = 0.7;    ///< between rows
  std::string note;     ///< small print below all panels
};

/// A place in a figure, in inches from its lower left corner.
struct FigurePlace {
  double x = 0.0;
  double y = 0.0;
};

/// A figure that has begun: its size, that of a panel, and the commands so far.
struct Canvas {
  FigureLayout layout;
  FigureSize size;
  FigureSize panel;
  std::string commands;
  NamedBy named_by = NamedBy::kUser;

  /// The upper left corner of a panel, counted along the rows.
  FigurePlace corner(std::size_t panel) const;
  /// The place in gnuplot's words.
  std::string screen(const FigurePlace& place) const;
  /// Whether a panel has none below it.
  bool lowest(std::size_t panel, std::size_t panels) const;
};

/// An entry of a legend: a line, a mark, or both, and what they stand for.
struct LegendEntry {
  std::string text;
  const char* colour = "black";
  int mark = 0;  ///< 0: none
  double mark_size = 0.6;
  const char* line = "";  ///< gnuplot's "solid" or "(6,4)"; empty: none
};

/// Begins a figure with so many panels; the commands of one panel after the other may follow, each
/// with kEndPanel, and "unset multiplot". UsageError if the size that was asked for leaves no room
/// for them.
Canvas begin_figure(FigureLayout layout, const FigureOptions& options);

/// What ends a panel: its own titles and legends go.
inline constexpr const char* kEndPanel = "unset label\nunset arrow\n";

/// A title above a panel, at its left, cut to its width.
std::string panel_title(const Canvas& canvas, std::size_t panel, double above,
                        const std::string& text);

/// Entries beside each other from a place on.
std::string legend(const Canvas& canvas, FigurePlace place,
                   const std::vector<LegendEntry>& entries);

/// UsageError unless names, where they are given, are as many as there are heads or layers.
void check_names(const FigureOptions& options, std::size_t count, const char* what);

}  // namespace synergraph

#pragma once

#include <string>
#include <string_view>

namespace synergraph {

/// The size of a figure, in inches.
struct FigureSize {
  double width = 6.5;
  double height = 2.6;
};

/// Draws gnuplot commands into FILE.svg, FILE.pdf or FILE.png, atomically. The commands must not
/// set the terminal or the output. UsageError for another ending; InputError when gnuplot is
/// missing or refuses.
void draw_figure(const std::string& path, const FigureSize& size, const std::string& commands);

/// UsageError unless draw_figure() knows the ending of this path: to fail before long work.
void check_figure_path(const std::string& path);

/// A text as a gnuplot string literal, every character shown as it is.
std::string gnuplot_text(std::string_view text);

}  // namespace synergraph

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "synergraph/io/named_by.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// The size of a figure, in inches.
struct FigureSize {
  double width = 6.5;
  double height = 2.6;
};

/// What the reader of a figure may set.
struct FigureOptions {
  std::optional<FigureSize> size = std::nullopt;  ///< default: what the panels need
  std::string title = {};                         ///< above all panels
  std::vector<std::string> names = {};  ///< instead of the heads' or layers' own; empty: theirs
  NamedBy named_by = NamedBy::kUser;    ///< who chose the file's name
};

/// Draws gnuplot commands into FILE.svg, FILE.pdf or FILE.png, atomically. The commands must not
/// set the terminal or the output, and hold no foreign text but as gnuplot_text(). UsageError for
/// another ending; InputError when gnuplot is missing, cannot be started or refuses, or the file
/// cannot be written.
void draw_figure(const std::string& path, const FigureSize& size, const std::string& commands,
                 NamedBy named_by);

/// To fail before long work: the error that draw_figure() would end in for this path.
void check_figure(const std::string& path);

/// InputError, beginning with `what`, unless gnuplot can be started.
void require_gnuplot(const std::string& what);

/// A text as a gnuplot string, shown as printable() gives it. Whatever is not a letter, a digit or
/// a blank is coded as a number: nothing in the text can end the string or be interpreted in it.
std::string gnuplot_text(std::string_view text);

/// The same for the label of a tic, which gnuplot takes for a format.
std::string gnuplot_tic(std::string_view text);

}  // namespace synergraph
#pragma GCC visibility pop

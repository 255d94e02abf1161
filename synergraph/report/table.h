#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "synergraph/core/terminal.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// A table of text cells.
struct Table {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;
  std::set<std::pair<std::size_t, std::size_t>> bold = {};  ///< (row, column) of what stands out
  std::size_t left_columns = 1;  ///< so many are aligned left, the others right
  std::size_t key_columns = 1;   ///< so many name a row
};

/// Aligned columns with a rule under the header: for a terminal. Nothing is bold, cells are made
/// printable. Columns beyond the edge go on below, after the columns that name the rows, so that no
/// line is longer than `columns`; where not even one fits beside the names, cells are cut. Names
/// that differ still do when they are cut.
std::string format_text(const Table& table, std::size_t columns = kUnlimited);

/// Comma-separated values with a header line; cells are quoted where they need it (RFC 4180). A
/// text that a spreadsheet could run as a formula has an apostrophe in front. Nothing is bold.
std::string format_csv(const Table& table);

/// A pipe table of GitHub's Markdown, readable as it is; bold cells in "**".
std::string format_markdown(const Table& table);

struct LatexOptions {
  std::string caption = {};
  std::string label = {};               ///< for \ref; none: empty
  std::vector<std::size_t> rules = {};  ///< rows before which a rule stands
};

/// A LaTeX table for the booktabs package. Cells and caption are text: every character is printed
/// as it is.
std::string format_latex(const Table& table, const LatexOptions& options = {});

/// Text as LaTeX prints it: special characters escaped, "±" in mathematics.
std::string latex_text(const std::string& text);

/// For people: `digits` significant digits, trailing zeros kept off, "-" for NaN, "inf" for
/// infinity.
std::string human(double value, int digits = 4);

/// A time for people: a whole number below a million, four digits beyond, "never" for infinity.
std::string human_time(double steps);

/// For programs: the shortest text that reads back as the same double; empty for NaN, "inf".
std::string exact(double value);

}  // namespace synergraph
#pragma GCC visibility pop

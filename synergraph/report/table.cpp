#include "synergraph/report/table.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "synergraph/core/parse_number.h"
#include "synergraph/core/shorten_names.h"

namespace synergraph {
namespace {

/// The cell filled up to a width.
std::string padded(const std::string& cell, std::size_t to, bool left) {
  const std::string padding(to - display_width(cell), ' ');
  return left ? cell + padding : padding + cell;
}

std::vector<std::size_t> column_widths(const Table& table) {
  std::vector<std::size_t> widths;
  for (const std::string& title : table.header) widths.push_back(display_width(title));
  for (const auto& row : table.rows)
    for (std::size_t k = 0; k < row.size(); ++k)
      widths[k] = std::max(widths[k], display_width(row[k]));
  return widths;
}

/// The table with every cell written for some markup.
template <class Escape, class Emphasise>
Table marked_up(const Table& table, const Escape& escape, const Emphasise& emphasise) {
  Table result = table;
  for (std::string& cell : result.header) cell = escape(cell);
  for (auto& row : result.rows)
    for (std::string& cell : row) cell = escape(cell);
  for (const auto& [row, column] : table.bold)
    result.rows[row][column] = emphasise(result.rows[row][column]);
  return result;
}

const std::string kGap = "  ";  ///< between columns

/// Columns of a line with these columns of a table, and a gap.
std::size_t line_width(const std::vector<std::size_t>& widths,
                       const std::vector<std::size_t>& shown) {
  std::size_t total = 0;
  for (const std::size_t k : shown) total += widths[k] + kGap.size();
  return total;
}

/// Narrows columns that do not fit on a line together. The first `keys` give way, the widest of
/// them most, down to what the others leave or else a third of the line, and further until each
/// other column fits beside them; they keep a few letters.
void fit_columns(std::vector<std::size_t>& widths, std::size_t keys, std::size_t columns) {
  const auto first_value = widths.begin() + static_cast<std::ptrdiff_t>(keys);
  const auto names = [&] {
    return std::accumulate(widths.begin(), first_value, keys * kGap.size());
  };
  const std::size_t values =
      std::accumulate(first_value, widths.end(), (widths.size() - keys) * kGap.size());
  if (columns == kUnlimited) return;
  const std::size_t edge = columns + kGap.size();  // a line ends without a gap
  if (names() + values <= edge) return;
  const std::size_t widest =
      first_value == widths.end() ? 0 : *std::max_element(first_value, widths.end());
  const std::size_t share = std::max(columns / 3, edge - std::min(edge, values));
  const std::size_t room_for_names = std::min(share, columns - std::min(columns, widest));
  constexpr std::size_t kLeast = 6;
  while (names() > room_for_names) {
    const auto name = std::max_element(widths.begin(), first_value);
    if (name == first_value || *name <= kLeast) break;
    --*name;
  }
  const std::size_t room = columns > names() ? columns - names() : 1;
  for (auto width = first_value; width != widths.end(); ++width) *width = std::min(*width, room);
}

/// Cuts the cells of a column that names the rows; names that differ still do.
void shorten_column(Table& table, std::size_t column, std::size_t width) {
  std::vector<std::string> names;
  for (const auto& row : table.rows) names.push_back(column < row.size() ? row[column] : "");
  names = shorten_names(names, width);
  for (std::size_t r = 0; r < names.size(); ++r)
    if (column < table.rows[r].size()) table.rows[r][column] = names[r];
}

std::string markdown_text(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out += '\\';
    out += c == '\n' || c == '\r' ? ' ' : c;
  }
  return out;
}

/// Whether a spreadsheet could run a cell, which may be a name from anywhere, as a formula. Numbers
/// may begin with a minus. An apostrophe counts, too, so that the one in front of what does can be
/// told from a name's own.
bool could_run(const std::string& cell) {
  double number = 0.0;
  return cell.find_first_of("=+-@\t\r\n'") == 0 && !parse_number(cell, number);
}

}  // namespace

std::string format_text(const Table& original, std::size_t columns) {
  Table table = marked_up(original, printable, [](const std::string& cell) { return cell; });
  const std::size_t count = table.header.size();
  const std::size_t keys = std::min(table.key_columns, count);
  std::vector<std::size_t> widths = column_widths(table);
  fit_columns(widths, keys, columns);
  for (std::size_t k = 0; k < keys; ++k) shorten_column(table, k, widths[k]);
  std::string text;
  const auto block = [&](const std::vector<std::size_t>& shown) {
    const auto line = [&](const std::vector<std::string>& cells) {
      std::string out;
      for (const std::size_t k : shown)
        out += (out.empty() && k == shown.front() ? "" : kGap) +
               padded(k < cells.size() ? cut_middle(cells[k], widths[k]) : "", widths[k],
                      k < table.left_columns);
      out.erase(out.find_last_not_of(' ') + 1);
      text += out + '\n';
    };
    line(table.header);
    for (std::size_t k = kGap.size(); k < line_width(widths, shown); ++k) text += "─";
    text += '\n';
    for (const auto& row : table.rows) line(row);
  };
  std::vector<std::size_t> names(keys);
  std::iota(names.begin(), names.end(), std::size_t{0});
  std::vector<std::size_t> shown = names;
  for (std::size_t k = keys; k < count; ++k) {
    shown.push_back(k);
    if (shown.size() == keys + 1 || line_width(widths, shown) - kGap.size() <= columns) continue;
    shown.pop_back();
    block(shown);
    text += '\n';
    shown = names;
    shown.push_back(k);
  }
  block(shown);
  return text;
}

std::string format_csv(const Table& table) {
  std::string text;
  const auto line = [&](const std::vector<std::string>& cells) {
    for (std::size_t k = 0; k < cells.size(); ++k) {
      if (k > 0) text += ',';
      const std::string cell = (could_run(cells[k]) ? "'" : "") + cells[k];
      // Some spreadsheets separate cells by semicolons or tabs.
      if (cell.find_first_of(",;\t\"\n\r") == std::string::npos) {
        text += cell;
        continue;
      }
      text += '"';
      for (const char c : cell) text += c == '"' ? std::string("\"\"") : std::string(1, c);
      text += '"';
    }
    text += '\n';
  };
  line(table.header);
  for (const auto& row : table.rows) line(row);
  return text;
}

std::string format_markdown(const Table& table) {
  const Table marked =
      marked_up(table, markdown_text, [](const std::string& cell) { return "**" + cell + "**"; });
  std::vector<std::size_t> widths = column_widths(marked);
  for (std::size_t& w : widths) w = std::max<std::size_t>(w, 3);
  std::string text;
  const auto line = [&](const std::vector<std::string>& cells) {
    for (std::size_t k = 0; k < cells.size(); ++k)
      text += "| " + padded(cells[k], widths[k], k < table.left_columns) + ' ';
    text += "|\n";
  };
  line(marked.header);
  std::vector<std::string> alignment;
  for (std::size_t k = 0; k < widths.size(); ++k) {
    const std::string dashes(widths[k] - 1, '-');
    alignment.push_back(k < table.left_columns ? ':' + dashes : dashes + ':');
  }
  line(alignment);
  for (const auto& row : marked.rows) line(row);
  return text;
}

std::string latex_text(const std::string& text) {
  const std::string plus_minus = "±";
  std::string out;
  for (std::size_t k = 0; k < text.size(); ++k) {
    if (text.compare(k, plus_minus.size(), plus_minus) == 0) {
      out += "$\\pm$";
      k += plus_minus.size() - 1;
      continue;
    }
    switch (const char c = text[k]; c) {
      case '&':
      case '%':
      case '$':
      case '#':
      case '_':
      case '{':
      case '}':
        out += std::string("\\") + c;
        break;
      case '\\':
        out += "\\textbackslash{}";
        break;
      case '~':
        out += "\\textasciitilde{}";
        break;
      case '^':
        out += "\\textasciicircum{}";
        break;
      case '|':
        out += "\\textbar{}";
        break;
      case '<':
      case '>':
        out += std::string("$") + c + '$';
        break;
      default:
        out += c == '\n' || c == '\r' ? ' ' : c;
    }
  }
  return out;
}

std::string format_latex(const Table& table, const LatexOptions& options) {
  const Table marked = marked_up(table, latex_text,
                                 [](const std::string& cell) { return "\\textbf{" + cell + '}'; });
  const std::vector<std::size_t> widths = column_widths(marked);
  std::string text = "\\begin{table}\n  \\centering\n";
  if (!options.caption.empty())
    text += fmt::format("  \\caption{{{}}}\n", latex_text(options.caption));
  if (!options.label.empty()) text += fmt::format("  \\label{{{}}}\n", options.label);
  const std::size_t left = std::min(table.left_columns, widths.size());
  text += fmt::format("  \\begin{{tabular}}{{{}{}}}\n    \\toprule\n", std::string(left, 'l'),
                      std::string(widths.size() - left, 'r'));
  const auto line = [&](const std::vector<std::string>& cells) {
    text += "    ";
    // At the beginning of a row these would belong to the "\\\\" before it.
    const std::string first = cells.empty() ? "" : cells.front().substr(0, 1);
    if (first == "[" || first == "*") text += "{}";
    for (std::size_t k = 0; k < cells.size(); ++k)
      text += (k > 0 ? " & " : "") + padded(cells[k], widths[k], k < table.left_columns);
    text += " \\\\\n";
  };
  line(marked.header);
  text += "    \\midrule\n";
  for (std::size_t k = 0; k < marked.rows.size(); ++k) {
    if (k > 0 && std::find(options.rules.begin(), options.rules.end(), k) != options.rules.end())
      text += "    \\midrule\n";
    line(marked.rows[k]);
  }
  return text + "    \\bottomrule\n  \\end{tabular}\n\\end{table}\n";
}

std::string human(double value, int digits) {
  if (std::isnan(value)) return "-";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return fmt::format("{:.{}g}", value, digits);
}

std::string human_time(double steps) {
  if (std::isinf(steps)) return "never";
  if (steps < 1e6 && steps == std::floor(steps)) return fmt::format("{:.0f}", steps);
  return human(steps);
}

std::string exact(double value) {
  if (std::isnan(value)) return "";
  return fmt::format("{}", value);
}

}  // namespace synergraph

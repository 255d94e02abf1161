#include "synergraph/report/table.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace synergraph {
namespace {

/// Characters, not bytes, of a UTF-8 text.
std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  }));
}

}  // namespace

std::string format_text(const Table& table) {
  std::vector<std::size_t> widths;
  for (const std::string& title : table.header) widths.push_back(width(title));
  for (const auto& row : table.rows)
    for (std::size_t k = 0; k < row.size(); ++k) widths[k] = std::max(widths[k], width(row[k]));
  std::string text;
  const auto line = [&](const std::vector<std::string>& cells) {
    std::string out;
    for (std::size_t k = 0; k < cells.size(); ++k) {
      const std::string padding(widths[k] - width(cells[k]), ' ');
      if (k > 0) out += "  ";
      out += k == 0 ? cells[k] + padding : padding + cells[k];
    }
    out.erase(out.find_last_not_of(' ') + 1);
    text += out + '\n';
  };
  line(table.header);
  std::size_t total = 0;
  for (const std::size_t w : widths) total += w + 2;
  for (std::size_t k = 2; k < total; ++k) text += "─";
  text += '\n';
  for (const auto& row : table.rows) line(row);
  return text;
}

std::string format_csv(const Table& table) {
  std::string text;
  const auto line = [&](const std::vector<std::string>& cells) {
    for (std::size_t k = 0; k < cells.size(); ++k) {
      if (k > 0) text += ',';
      if (cells[k].find_first_of(",\"\n\r") == std::string::npos) {
        text += cells[k];
        continue;
      }
      text += '"';
      for (const char c : cells[k]) text += c == '"' ? std::string("\"\"") : std::string(1, c);
      text += '"';
    }
    text += '\n';
  };
  line(table.header);
  for (const auto& row : table.rows) line(row);
  return text;
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

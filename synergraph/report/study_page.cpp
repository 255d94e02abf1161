#include <fmt/core.h>

#include <algorithm>

#include "synergraph/core/version.h"
#include "synergraph/report/reproduce_report.h"
#include "synergraph/report/statements.h"
#include "synergraph/report/study_sections.h"

namespace synergraph {
namespace {

constexpr const char* kStyle = R"(
body { font: 15px/1.5 system-ui, sans-serif; color: #1a1a1a; background: #fff; max-width: 62rem;
       margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.7rem; margin-bottom: 0.2rem; } h2 { font-size: 1.25rem; margin-top: 2.4rem; }
h3 { font-size: 1rem; margin: 1.6rem 0 0.3rem; }
.about { color: #555; margin-top: 0; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 0.85rem;
        margin: 0.4rem 0 1rem; border-top: 2px solid #222; border-bottom: 2px solid #222; }
th { text-align: right; border-bottom: 1px solid #222; padding: 0.25rem 0.7rem; font-weight: 600; }
td { text-align: right; padding: 0.12rem 0.7rem; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; }
tr.rule td { border-top: 1px solid #bbb; }
figure { margin: 1.2rem 0; } figure svg { max-width: 100%; height: auto; }
figcaption { color: #555; font-size: 0.9rem; }
li { margin: 0.3rem 0; } .caption { margin: 1.6rem 0 0.3rem; }
details { margin: 0.6rem 0; } summary { cursor: pointer; }
)";

std::string escape(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else
      out += c;
  }
  return out;
}

std::string html_table(const Table& table, const std::vector<std::size_t>& rules = {}) {
  std::string html = "<div class=\"wide\"><table>\n<thead><tr>";
  for (const std::string& cell : table.header) html += "<th>" + escape(cell) + "</th>";
  html += "</tr></thead>\n<tbody>\n";
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    const bool rule = std::find(rules.begin(), rules.end(), r) != rules.end() && r > 0;
    html += rule ? "<tr class=\"rule\">" : "<tr>";
    for (std::size_t c = 0; c < table.rows[r].size(); ++c) {
      const std::string cell = escape(table.rows[r][c]);
      html +=
          table.bold.count({r, c}) > 0 ? "<td><b>" + cell + "</b></td>" : "<td>" + cell + "</td>";
    }
    html += "</tr>\n";
  }
  return html + "</tbody></table></div>\n";
}

/// Only what is drawn: an SVG inside a page has no XML declaration and no document type.
std::string inline_svg(const std::string& svg) {
  const std::size_t begin = svg.find("<svg");
  return begin == std::string::npos ? "" : svg.substr(begin);
}

/// gnuplot names parts of a figure; several figures on a page need names of their own. Names stand
/// inside tags: text is left alone.
std::string with_own_names(std::string svg, std::size_t number) {
  for (const std::string mark : {"id=\"", "id='", "href=\"#", "href='#", "url(#"}) {
    const std::string own = fmt::format("f{}-", number);
    for (std::size_t at = svg.find(mark); at != std::string::npos;
         at = svg.find(mark, at + mark.size() + own.size()))
      if (svg.find_last_of("<>", at) != std::string::npos && svg[svg.find_last_of("<>", at)] == '<')
        svg.insert(at + mark.size(), own);
  }
  return svg;
}

std::string html_section(const ReportSection& section) {
  std::string html = "<h2>" + escape(section.title) + "</h2>\n";
  for (const std::string& text : section.paragraphs) html += "<p>" + escape(text) + "</p>\n";
  for (const ReportTable& table : section.tables) {
    const std::string caption = escape(table.caption);
    if (!caption.empty())
      html += table.titled ? "<h3>" + caption + "</h3>\n"
                           : "<p class=\"caption\">" + caption + "</p>\n";
    html += html_table(table.table, table.rules);
  }
  return html;
}

}  // namespace

std::string html_page(const ReproduceReport& report, const std::vector<PageFigure>& figures) {
  std::string html = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n<meta name=\"viewport\" "
      "content=\"width=device-width, initial-scale=1\">\n<title>synergraph: reproduction</title>\n"
      "<style>{}</style></head><body>\n<h1>Multi-head attention as one graph: the paper's tables, "
      "again</h1>\n<p class=\"about\">{} model{} trained and measured by synergraph {}. Two "
      "conventions: <i>published</i>, as the paper's numbers were computed, and <i>exact</i>, as "
      "its definitions read.</p>\n",
      kStyle, report.results.size(), report.results.size() == 1 ? "" : "s", kVersion);
  html += "<h2>What the data say</h2>\n<ul>\n";
  for (const std::string& statement : statements(report.findings, report.results))
    html += "<li>" + escape(statement) + "</li>\n";
  html += figures.empty() ? "</ul>\n" : "</ul>\n<h2>Figures</h2>\n";
  for (std::size_t k = 0; k < figures.size(); ++k)
    html +=
        fmt::format("<figure>{}<figcaption>{}</figcaption></figure>\n",
                    with_own_names(inline_svg(figures[k].svg), k + 1), escape(figures[k].caption));
  for (const ReportSection& section : study_sections(report)) html += html_section(section);
  return html + "</body></html>\n";
}

}  // namespace synergraph

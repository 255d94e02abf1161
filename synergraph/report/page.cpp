#include "synergraph/report/page.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <utility>

#include "synergraph/core/version.h"
#include "synergraph/report/embedded_page.h"
#include "synergraph/report/page_writer.h"
#include "synergraph/report/placed_attention.h"
#include "synergraph/study/published.h"

namespace synergraph {
namespace {

using nlohmann::ordered_json;

/// What precedes a piece of the page that is replaced, and what follows it.
std::pair<std::string_view, std::string_view> around(std::string_view html,
                                                     std::string_view piece) {
  const std::size_t at = html.find(piece);
  if (at == std::string_view::npos) throw std::logic_error("the page has no place for data");
  return {html.substr(0, at), html.substr(at + piece.size())};
}

/// The element before its end, and the end.
std::pair<std::string_view, std::string_view> opened(std::string_view element) {
  const std::size_t end = element.rfind('<');
  return {element.substr(0, element.find('>') + 1), element.substr(end)};
}

ordered_json json_table(const ReportTable& table) {
  ordered_json rows = ordered_json::array({table.table.header});
  for (const auto& row : table.table.rows) rows.push_back(row);
  return {{"title", table.title},
          {"caption", table.caption},
          {"rows", std::move(rows)},
          {"bold", table.table.bold}};
}

std::string json_of_report(const Page& page) {
  if (page.report.empty()) return "null";
  ordered_json sections = ordered_json::array();
  for (const ReportSection& section : page.report) {
    ordered_json tables = ordered_json::array();
    for (const ReportTable& table : section.tables) tables.push_back(json_table(table));
    sections.push_back({{"title", section.title}, {"tables", std::move(tables)}});
  }
  ordered_json figures = ordered_json::array();
  for (const auto& [caption, svg] : page.figures)
    figures.push_back({{"caption", caption}, {"svg", svg}});
  return ordered_json({{"sections", std::move(sections)}, {"figures", std::move(figures)}})
      .dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

std::string json_published(const std::vector<PublishedModel>& models) {
  ordered_json list = ordered_json::array();
  for (const auto& [task, heads] : models)
    for (const Quantity& quantity : kPublishedQuantities)
      for (int layer = 0; layer < kPublishedLayers; ++layer)
        if (const auto value = published_value(quantity, task, heads, layer))
          list.push_back({{"task", task},
                          {"heads", heads},
                          {"layer", layer + 1},
                          {"quantity", key_of(quantity)},
                          {"mean", value->mean / published_unit(quantity)},
                          {"std", value->std / published_unit(quantity)}});
  return list.dump();
}

}  // namespace

std::string write_page(const std::string& path, const Page& page, NamedBy named_by) {
  std::optional<PlacedAttention> attention;
  if (page.attention) attention.emplace(*page.attention);
  std::string left_out = attention ? attention->left_out() : page.left_out;
  const bool graph = !page.graph.empty() && page.graph.size() <= kPageBytes;
  if (!page.graph.empty() && !graph)
    left_out = fmt::format("the page has no graph: its text takes {} MiB, and a page holds {}",
                           page.graph.size() >> 20U, kPageBytes >> 20U);

  const auto [before_data, after_data] = around(embedded_page(), kPageData);
  const auto [before_arrays, after_arrays] = around(after_data, kPageArrays);
  PageWriter writer(path, named_by);
  const auto field = [&](const char* name, std::string_view json) {
    writer.json(fmt::format(",\n\"{}\": ", name));
    writer.json(json);
  };
  const auto text = [&](const char* name, const std::string& value, bool there = true) {
    field(name, there ? json_string(value) : "null");
  };
  writer.html(before_data);
  writer.html(opened(kPageData).first);
  writer.json(R"({"format": "synergraph.page", "version": 1)");
  text("command", page.command);
  text("title", page.title);
  text("program", std::string("synergraph ") + kVersion);
  text("left_out", left_out, !left_out.empty());
  field("attention", "");
  attention ? attention->write_json(writer) : writer.json("null");
  text("graphs", page.graph, graph);
  field("report", json_of_report(page));
  field("published", json_published(page.published));
  field("document", page.document);
  field("also", "[");
  for (std::size_t k = 0; k < page.also.size(); ++k) {
    writer.json(k == 0 ? "" : ",\n");
    writer.json(page.also[k]);
  }
  writer.json("]");
  writer.json("}");
  writer.html(opened(kPageData).second);
  writer.html(before_arrays);
  writer.html(opened(kPageArrays).first);
  if (attention) attention->write_arrays(writer);
  writer.html(opened(kPageArrays).second);
  writer.html(after_arrays);
  writer.commit();
  return left_out;
}

}  // namespace synergraph

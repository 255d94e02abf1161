#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "synergraph/io/named_by.h"
#include "synergraph/report/page_attention.h"
#include "synergraph/report/report_section.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// A model whose published values are in a page.
struct PublishedModel {
  std::string task;
  int heads = 0;
};

/// What an interactive page shows (docs/formats.md).
struct Page {
  std::string command;
  std::string title;
  std::string document;  ///< of the command: JSON
  /// Those of other commands on the same input.
  std::vector<std::string> also = {};
  std::optional<PageAttention> attention = {};
  std::string graph = {};  ///< in the text format
  std::vector<ReportSection> report = {};
  std::vector<ReportFigure> figures = {};
  std::vector<PublishedModel> published = {};
  std::string left_out = {};  ///< one line: what the document lacks because of its size
};

/// Writes a page of one file that holds data and program. Returns one line that says what was left
/// out, or nothing.
std::string write_page(const std::string& path, const Page& page,
                       NamedBy named_by = NamedBy::kUser);

}  // namespace synergraph
#pragma GCC visibility pop

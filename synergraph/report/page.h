#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

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
  std::vector<PublishedModel> published = {};
};

/// Writes a page of one file that holds data and program. Says in a line what was left out, if
/// anything was.
std::string write_page(const std::string& path, const Page& page);

}  // namespace synergraph
#pragma GCC visibility pop

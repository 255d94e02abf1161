#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "cli/attention_input.h"
#include "cli/output_paths.h"
#include "synergraph/report/page.h"

namespace synergraph::cli {

/// --page, shared by the commands that have one.
struct PageArguments {
  std::string file;
  std::optional<int> samples;

  /// `attention`: the page holds attention, of --page-samples samples.
  void add_to(CLI::App& command, bool attention = false, const char* group = "Output");

  bool wanted() const { return !file.empty(); }

  /// Writes it, and notes what was left out.
  void write(const Page& page) const;

  /// The same with the attention, or the graph, that was read.
  void write(Page page, const AttentionInput& input) const;
};

}  // namespace synergraph::cli

#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/attention_input.h"
#include "cli/output_paths.h"
#include "synergraph/report/page.h"

namespace synergraph::cli {

/// --page, shared by the commands that have one.
struct PageArguments {
  std::string file;
  std::string tokens;  ///< a file with their names (page_tokens.h)
  std::optional<int> samples;

  /// `attention`: the page holds attention, of --page-samples samples, with --page-tokens.
  void add_to(CLI::App& command, bool attention = false, const char* group = "Output");

  bool wanted() const { return !file.empty(); }

  /// What is read, with these files.
  std::vector<NamedPath> inputs(std::vector<NamedPath> files) const;

  /// The names of --page-tokens. UsageError or InputError unless they fit the attention.
  TokenNames read_names(const AttentionInput& input) const;

  /// Writes it, and notes what was left out.
  void write(const Page& page) const;

  /// The same with the attention, or the graph, that was read, and names of tokens.
  void write(Page page, const AttentionInput& input, TokenNames names) const;
};

}  // namespace synergraph::cli

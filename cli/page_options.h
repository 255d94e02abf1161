#pragma once

#include <string>
#include <vector>

#include "cli/attention_input.h"
#include "cli/output_paths.h"
#include "synergraph/report/output_settings.h"
#include "synergraph/report/page.h"

namespace synergraph::cli {

/// Writes a page to where it is wanted, and notes what was left out.
void write_page(const PageSettings& settings, const Page& page);

/// The page of a command that measures attention.
class PageArguments {
 public:
  explicit PageArguments(const AttentionPageSettings& settings) : settings_(settings) {}

  const std::string& file() const { return settings_.page; }
  bool wanted() const { return !file().empty(); }

  /// What is read, with these files.
  std::vector<NamedPath> inputs(std::vector<NamedPath> files) const;

  /// The names of --page-tokens. UsageError or InputError unless they fit the attention.
  TokenNames read_names(const AttentionInput& input) const;

  /// Writes it with the attention, or the graph, that was read, and names of tokens.
  void write(Page page, const AttentionInput& input, TokenNames names) const;

 private:
  const AttentionPageSettings& settings_;
};

}  // namespace synergraph::cli

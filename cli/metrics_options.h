#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "synergraph/heads/synergy.h"

namespace synergraph::cli {

/// The options that say how to measure, shared by every command that measures.
struct MetricsArguments {
  std::string convention = "exact";
  std::optional<std::string> normalization;
  std::optional<std::string> nodes;
  std::optional<std::string> horizon;
  std::vector<double> eps = {0.25};
  std::int64_t cutoff = 100;
  std::int64_t step_limit = 0;
  Execution execution;

  /// What a convention is, unless the other arguments say otherwise: of graphs, or of attention.
  MetricsOptions (*options_of)(Convention) = graph_options;

  /// `allow_both`: "both" is a convention too.
  void add_to(CLI::App& command, bool allow_both = false);

  /// One convention, or exact and published.
  std::vector<Convention> chosen_conventions() const;

  /// What the arguments say, over `convention`'s settings.
  MetricsOptions resolve(Convention convention) const;
};

/// "0.5,0.3,0.2" as numbers. UsageError names the part that is none.
std::vector<double> parse_numbers(const std::string& list, const std::string& what);

}  // namespace synergraph::cli

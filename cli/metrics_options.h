#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "synergraph/heads/metrics_settings.h"

namespace synergraph::cli {

/// The options that say how to measure, shared by every command that measures.
struct MetricsArguments {
  MetricsSettings settings;
  Execution execution;

  /// What a convention is, unless the settings say otherwise: of graphs, or of attention.
  MetricsOptions (*options_of)(Convention) = graph_options;

  /// `allow_both`: "both" is a convention too.
  void add_to(CLI::App& command, bool allow_both = false);

  /// One convention, or exact and published.
  const std::vector<Convention>& chosen_conventions() const { return settings.convention.names; }

  /// What the settings say, over those of `convention`.
  MetricsOptions resolve(Convention convention) const {
    return settings.resolve(convention, options_of);
  }
};

/// "0.5,0.3,0.2" as numbers. UsageError names the part that is none.
std::vector<double> parse_numbers(const std::string& list, const std::string& what);

}  // namespace synergraph::cli

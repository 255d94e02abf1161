#pragma once

#include <string>
#include <vector>

#include "synergraph/chain/monte_carlo.h"
#include "synergraph/heads/synergy.h"
#include "synergraph/report/table.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// The results for one multi-head system and what is needed to read them.
struct GraphReport {
  std::vector<std::string> head_names;
  std::vector<std::string> node_names;
  MetricsOptions options;
  std::vector<double> weights;  ///< normalised
  HeadsMetrics metrics;
  /// The sampled mean truncated hitting time of the combined walk, if it was asked for.
  std::vector<MonteCarloEstimate> monte_carlo;
};

/// For a terminal of so many columns: a table with a row a head and one for all together, and the
/// findings in words.
std::string format_report(const GraphReport& report, std::size_t columns = kUnlimited);

/// One row a head and one for all together, numbers in full.
Table csv_table(const GraphReport& report);

/// Everything, as docs/formats.md describes it. Times that are never reached and ratios that do not
/// exist are null.
std::string json_report(const GraphReport& report);

}  // namespace synergraph
#pragma GCC visibility pop

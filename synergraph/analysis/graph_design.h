#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "synergraph/analysis/design_settings.h"
#include "synergraph/analysis/family_study.h"
#include "synergraph/core/execution.h"
#include "synergraph/graph/design_edges.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// The best design of one search.
struct FoundDesign {
  std::string start;            ///< what the search started from
  std::int64_t edge_limit = 0;  ///< its limits
  std::int64_t averaged_limit = 0;
  DesignEdges edges;                  ///< of all heads
  FamilyGraph numbers;                ///< of the heads together, measured anew
  std::vector<double> head_fidelity;  ///< minimax fidelity of each head alone
  bool certified = false;             ///< measured without a limit, within the limits, and equal
                                      ///< to what the search had
  bool in_front = false;              ///< no other is better in one number and not worse in others

  /// Fidelity of the heads together over that of the best head; infinite if all heads have 0.
  double synergy() const;
};

struct DesignOutcome {
  std::vector<FoundDesign> designs;  ///< of every search that found one, the most faithful first
  std::int64_t searches = 0;
  std::int64_t steps = 0;  ///< of each search
  bool finished = false;   ///< all steps were done
  std::int64_t edges = 0;  ///< the budget
  std::int64_t averaged_mixing = 0;
};

/// Searches for heads of high minimax fidelity within a number of edges and limits on mixing times:
/// annealing from several starts, with exact numbers for every move. The result is a function of
/// the settings and of the number of steps, whatever the number of threads. After a stop request,
/// the result is what was found until then. UsageError for settings that no design can meet;
/// InputError for a state file of another search or a damaged one.
DesignOutcome search_designs(const DesignSettings& settings, const Execution& execution = {});

/// Measures heads with equal weights, D = mean_h D_h and P = mean_h P_h, along compressed rows.
FamilyGraph measure_design(const DesignEdges& edges, double eps, const Execution& execution = {});

}  // namespace synergraph
#pragma GCC visibility pop

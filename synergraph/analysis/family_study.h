#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "synergraph/core/setting.h"
#include "synergraph/heads/sparse_metrics.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// Graphs of several families and sizes, and graphs in files, as a user asks for them.
struct FamilySettings {
  std::vector<std::string> files;  ///< as read_sparse_graph() reads them
  /// Descriptions as for generate_family(), without the number of nodes and the seed.
  std::vector<std::string> families = {
      "indegree:4log", "expander:4log",      "poisson:0.2:4log",    "fs:4log", "fs-sparse:log",
      "fs-original",   "longformer:log:log", "bigbird:log:log:log", "power"};
  std::vector<std::int64_t> nodes = {32, 64, 128, 256, 512, 1024};
  int seeds = 3;  ///< graphs of every random family and size; seeds count from 1
  double eps = 0.25;
  std::int64_t step_limit = SparseMetricsOptions{}.step_limit;
};

/// See Setting.
template <class Visit>
void visit_settings(FamilySettings& settings, Visit&& visit) {
  constexpr std::string_view kGraphs = "Graphs";
  visit(Setting{.key = "files",
                .group = kGraphs,
                .help = "sparse graphs to measure: SciPy's .npz, or text with an edge on each line",
                .value = "FILE",
                .faces = face::kProgram,
                .positional = true},
        settings.files);
  visit(Setting{.key = "families",
                .group = kGraphs,
                .help = "families of graphs with their parameters, without number of nodes and "
                        "seed"},
        settings.families);
  visit(Setting{.key = "sizes", .group = kGraphs, .help = "numbers of nodes"}, settings.nodes,
        NumberRange<std::int64_t>{1, kMaxSparseNodes});
  visit(Setting{.key = "graphs",
                .group = kGraphs,
                .help = "number of graphs for each random family and size; seeds from 1"},
        settings.seeds, NumberRange<int>{1, 100000});
  visit(Setting{.key = "eps", .group = kGraphs, .help = "threshold of the mixing times"},
        settings.eps, kThresholdRange);
  visit(Setting{.key = "step_limit",
                .group = kGraphs,
                .help = "limit on the steps of walks and diffusion; later results are lower "
                        "limits"},
        settings.step_limit, NumberRange<std::int64_t>{1, 1000000000000});
}

/// The numbers of one graph of a family.
struct FamilyGraph {
  std::string family;
  std::int64_t nodes = 0;
  std::uint64_t seed = 0;  ///< 0: the family is not random
  std::int64_t edges = 0;  ///< self-loops included
  double mixing_time = 0.0;
  double averaged_mixing_time = 0.0;     ///< by the L1 distance
  double averaged_mixing_time_tv = 0.0;  ///< by the total variation
  double hitting_mean = 0.0;
  double minimax_fidelity = 0.0;
  double minimax_fidelity_upper = 0.0;
  double normalised_fidelity = 0.0;
  double backward_hitting_time = 0.0;
  double backward_mixing_time = 0.0;
  double fidelity_bound = 0.0;
  bool exact = true;  ///< no step limit was reached; mixing times are lower limits otherwise
};

/// Makes the graph of a family as FamilySettings describes it: "fs:4log" of 64 nodes.
SparseGraph family_graph(const std::string& family, std::int64_t nodes, std::uint64_t seed,
                         const Execution& execution = {});

/// Measures a graph. Leaves `family` and `seed` empty.
FamilyGraph measure_family_graph(const SparseGraph& graph, const SparseMetricsOptions& options,
                                 const Execution& execution = {});

/// The numbers of metrics. Leaves `edges` out, too.
FamilyGraph family_numbers(const SparseMetrics& metrics);

/// Hears of every graph before it is measured.
using SeeGraph = std::function<void(const SparseGraph&)>;

/// Makes and measures every graph, in the order of families, nodes and seeds; then the graphs in
/// files. The default list of families is left out if there are files. UsageError for a bad
/// description, before any graph is made.
std::vector<FamilyGraph> measure_families(const FamilySettings& settings,
                                          const Execution& execution = {},
                                          const SeeGraph& see = {});

/// The number of graphs that measure_families() measures.
std::size_t count_families(const FamilySettings& settings);

}  // namespace synergraph
#pragma GCC visibility pop

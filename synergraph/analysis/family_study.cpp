#include "synergraph/analysis/family_study.h"

#include <fmt/core.h>

#include "synergraph/analysis/sparse_graph_file.h"
#include "synergraph/core/error.h"
#include "synergraph/core/progress.h"
#include "synergraph/graph/families.h"

namespace synergraph {
namespace {

/// "poisson:0.2:log" of 64 nodes: "poisson:64:0.2:log".
std::string of_size(const std::string& family, std::int64_t nodes) {
  const std::size_t name = family.find(':');
  return fmt::format("{}:{}{}", family.substr(0, name), nodes,
                     name == std::string::npos ? "" : family.substr(name));
}

}  // namespace

SparseGraph family_graph(const std::string& family, std::int64_t nodes, std::uint64_t seed,
                         const Execution& execution) {
  return generate_family(of_size(family, nodes), seed, execution);
}

FamilyGraph measure_family_graph(const SparseGraph& graph, const SparseMetricsOptions& options,
                                 const Execution& execution) {
  SparseMetricsOptions shown = options;
  shown.cutoff = 0;  // no truncated times are among the numbers
  FamilyGraph numbers = family_numbers(measure(graph, shown, execution));
  numbers.edges = graph.edge_count();
  return numbers;
}

FamilyGraph family_numbers(const SparseMetrics& metrics) {
  FamilyGraph numbers;
  numbers.nodes = static_cast<std::int64_t>(metrics.fidelity.node.size());
  const SparseWalkSummary& walk = metrics.walk;
  const SparseWalkSummary& backward = metrics.backward;
  numbers.mixing_time = walk.mixing.front().least;
  numbers.averaged_mixing_time = walk.averaged_l1.front().least;
  numbers.averaged_mixing_time_tv = walk.averaged_tv.front().least;
  numbers.hitting_mean = walk.hitting.mean;
  numbers.minimax_fidelity = metrics.fidelity.minimax;
  numbers.minimax_fidelity_upper = metrics.fidelity.minimax_upper;
  numbers.normalised_fidelity = metrics.normalised_fidelity();
  numbers.backward_hitting_time = metrics.backward_hitting_time();
  numbers.backward_mixing_time = backward.mixing.front().least;
  numbers.fidelity_bound = metrics.fidelity_bound();
  numbers.exact = metrics.fidelity.certified && walk.mixing.front().exact &&
                  walk.averaged_l1.front().exact && backward.mixing.front().exact;
  return numbers;
}

namespace {

struct PlannedGraph {
  std::string family, description;
  std::uint64_t seed;
};

std::vector<PlannedGraph> wanted_graphs(const FamilySettings& settings) {
  std::vector<PlannedGraph> wanted;
  // Who names files alone asks for nothing else.
  if (!settings.files.empty() && settings.families == FamilySettings{}.families) return wanted;
  for (const std::string& family : settings.families) {
    const int seeds = is_random_family(family) ? settings.seeds : 1;
    generate_family(of_size(family, 64), 1);  // a bad description fails before long work
    for (const std::int64_t nodes : settings.nodes)
      for (int seed = 1; seed <= seeds; ++seed)
        wanted.push_back({family, of_size(family, nodes), static_cast<std::uint64_t>(seed)});
  }
  return wanted;
}

}  // namespace

std::size_t count_families(const FamilySettings& settings) {
  return wanted_graphs(settings).size() + settings.files.size();
}

std::vector<FamilyGraph> measure_families(const FamilySettings& settings,
                                          const Execution& execution, const SeeGraph& see) {
  const std::vector<PlannedGraph> wanted = wanted_graphs(settings);
  SparseMetricsOptions options;
  options.eps = settings.eps;
  options.step_limit = settings.step_limit;
  std::vector<FamilyGraph> graphs;
  Progress progress("graphs", wanted.size() + settings.files.size(), 0, execution.progress);
  const auto take = [&](const SparseGraph& graph, const std::string& family, std::uint64_t seed) {
    if (see) see(graph);
    graphs.push_back(measure_family_graph(graph, options, execution));
    graphs.back().family = family;
    graphs.back().seed = seed;
    progress.add(1);
  };
  for (const PlannedGraph& one : wanted) {
    execution.check();
    take(generate_family(one.description, one.seed, execution), one.family,
         is_random_family(one.family) ? one.seed : 0);
  }
  for (const std::string& file : settings.files) take(read_sparse_graph(file, execution), file, 0);
  return graphs;
}

}  // namespace synergraph

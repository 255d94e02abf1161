#include "synergraph/analysis/family_study.h"

#include <fmt/core.h>

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
  const SparseMetrics metrics = measure(graph, options, execution);
  FamilyGraph numbers;
  numbers.nodes = graph.nodes();
  numbers.edges = graph.edge_count();
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

std::vector<FamilyGraph> measure_families(const FamilySettings& settings,
                                          const Execution& execution) {
  struct Wanted {
    std::string family, description;
    std::uint64_t seed;
  };
  std::vector<Wanted> wanted;
  for (const std::string& family : settings.families) {
    const int seeds = is_random_family(family) ? settings.seeds : 1;
    generate_family(of_size(family, 64), 1, execution);  // a bad description fails before long work
    for (const std::int64_t nodes : settings.nodes)
      for (int seed = 1; seed <= seeds; ++seed)
        wanted.push_back({family, of_size(family, nodes), static_cast<std::uint64_t>(seed)});
  }
  SparseMetricsOptions options;
  options.eps = settings.eps;
  options.step_limit = settings.step_limit;
  std::vector<FamilyGraph> graphs;
  Progress progress("graphs", wanted.size(), 0, execution.progress);
  for (const Wanted& one : wanted) {
    execution.check();
    const SparseGraph graph = generate_family(one.description, one.seed, execution);
    graphs.push_back(measure_family_graph(graph, options, execution));
    graphs.back().family = one.family;
    graphs.back().seed = is_random_family(one.family) ? one.seed : 0;
    progress.add(1);
  }
  return graphs;
}

}  // namespace synergraph

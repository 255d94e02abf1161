// graph_engines: graphs measured by edges and by matrices on one thread, beside the engine that
// counted work chooses. Each time is the best of three.

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <string>
#include <vector>

#include "synergraph/core/random.h"
#include "synergraph/graph/families.h"
#include "synergraph/heads/sparse_metrics.h"

namespace {

using namespace synergraph;

/// Random weights on a share of all edges, and self-loops of one weight: a walk that stays long.
SparseGraph slow_graph(int nodes, double density, double keep) {
  RandomSequence draws(1, Purpose::kTest);
  std::vector<std::int64_t> first = {0};
  ScratchVector<std::int32_t> to;
  ScratchVector<double> weights;
  for (int j = 0; j < nodes; ++j) {
    to.push_back(j);
    weights.push_back(keep);
    for (int i = j + 1; i < nodes; ++i) {
      if (i > j + 1 && draws.uniform() >= density) continue;
      to.push_back(i);
      weights.push_back(1e-3 + draws.uniform());
    }
    first.push_back(static_cast<std::int64_t>(to.size()));
  }
  return {std::move(first), std::move(to), std::move(weights)};
}

struct Timed {
  double milliseconds;
  SparseMetrics metrics;
};

Timed timed(const SparseGraph& graph, GraphEngine engine) {
  SparseMetricsOptions options;
  options.cutoff = 0;
  options.engine = engine;
  Timed best{1e300, {}};
  for (int repeat = 0; repeat < 3; ++repeat) {
    const auto start = std::chrono::steady_clock::now();
    best.metrics = measure(graph, options, {.threads = 1});
    best.milliseconds =
        std::min(best.milliseconds,
                 std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
                     .count());
  }
  return best;
}

void compare(const std::string& name, const SparseGraph& graph) {
  const double n = graph.nodes();
  const Timed edges = timed(graph, GraphEngine::kEdges);
  const Timed matrices = timed(graph, GraphEngine::kMatrices);
  const Timed chosen = timed(graph, GraphEngine::kFastest);
  const Steps& mixing = edges.metrics.walk.mixing.front();
  fmt::print("{:24} {:6} {:8.3f} {:>9} {:11.2f} {:11.2f}  {}\n", name, graph.nodes(),
             static_cast<double>(graph.edge_count()) / (n * (n + 1.0) / 2.0),
             (mixing.exact ? "" : ">") + fmt::format("{}", mixing.least), edges.milliseconds,
             matrices.milliseconds,
             chosen.metrics.engine == GraphEngine::kEdges ? "edges" : "matrices");
}

}  // namespace

int main() {
  try {
    fmt::print("{:24} {:>6} {:>8} {:>9} {:>11} {:>11}  chosen\n", "graph", "nodes", "density",
               "T_mix", "edges, ms", "matrices");
    for (const int nodes : {128, 512, 1024}) {
      for (const std::string name : {"fs:4log", "power", "indegree:100000"}) {
        const std::size_t colon = std::min(name.find(':'), name.size());
        compare(name, generate_family(fmt::format("{}:{}{}", name.substr(0, colon), nodes,
                                                  name.substr(colon))));
      }
      for (const double density : {0.02, 0.5})
        for (const double keep : {10.0, 1000.0})
          compare(fmt::format("slow, weight {}", keep), slow_graph(nodes, density, keep));
    }
  } catch (const std::exception& error) {
    fmt::print(stderr, "graph_engines: {}\n", error.what());
    return 1;
  }
  return 0;
}

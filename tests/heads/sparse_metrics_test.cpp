#include "synergraph/heads/sparse_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "synergraph/core/error.h"
#include "synergraph/core/random.h"
#include "synergraph/core/special_values.h"
#include "synergraph/graph/families.h"
#include "synergraph/graph/generators.h"

namespace synergraph {
namespace {

/// Edges with weights, nodes without edges, and self-loops of weight `keep` at some nodes.
SparseGraph weighted_graph(std::uint32_t index, int nodes, double keep) {
  RandomSequence draws(31, Purpose::kTest, index);
  std::vector<std::int64_t> first = {0};
  ScratchVector<std::int32_t> to;
  ScratchVector<double> weights;
  const double density = draws.uniform();
  for (int j = 0; j < nodes; ++j) {
    if (draws.uniform() < 0.9) {
      to.push_back(j);
      weights.push_back(keep * (0.5 + draws.uniform()));
    }
    const bool alone = draws.uniform() < 0.03;
    for (int i = j + 1; i < nodes && !alone; ++i)
      if (draws.uniform() < density) {
        to.push_back(i);
        weights.push_back(1e-3 + draws.uniform());
      }
    first.push_back(static_cast<std::int64_t>(to.size()));
  }
  return {std::move(first), std::move(to), std::move(weights), false};
}

SparseMetrics measured(const SparseGraph& graph, GraphEngine engine,
                       SparseMetricsOptions options = {}) {
  options.engine = engine;
  return measure(graph, options, {.threads = 2});
}

void expect_near(double found, double expected) {
  if (std::isinf(expected))
    EXPECT_EQ(found, expected);
  else
    EXPECT_NEAR(found, expected, 2e-12 * expected);
}

void expect_same(const std::vector<Steps>& found, const std::vector<Steps>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t k = 0; k < found.size(); ++k) {
    EXPECT_EQ(found[k].least, expected[k].least);
    EXPECT_EQ(found[k].exact, expected[k].exact);
  }
}

void expect_same_walk(const SparseWalkSummary& found, const SparseWalkSummary& expected) {
  for (std::size_t j = 0; j < expected.hitting.node.size(); ++j) {
    expect_near(found.hitting.node[j], expected.hitting.node[j]);
    EXPECT_NEAR(found.truncated.node[j], expected.truncated.node[j],
                1e-12 * (1.0 + expected.truncated.node[j]));
  }
  expect_near(found.hitting.mean, expected.hitting.mean);
  expect_same(found.mixing, expected.mixing);
  expect_same(found.averaged_l1, expected.averaged_l1);
  expect_same(found.averaged_tv, expected.averaged_tv);
}

/// Times are equal, other numbers are to rounding.
void expect_same_numbers(const SparseGraph& graph, const SparseMetricsOptions& options = {}) {
  const SparseMetrics edges = measured(graph, GraphEngine::kEdges, options);
  const SparseMetrics matrices = measured(graph, GraphEngine::kMatrices, options);
  EXPECT_EQ(edges.engine, GraphEngine::kEdges);
  EXPECT_EQ(matrices.engine, GraphEngine::kMatrices);
  expect_same_walk(matrices.walk, edges.walk);
  expect_same_walk(matrices.backward, edges.backward);
  if (!edges.fidelity.certified || !matrices.fidelity.certified) return;
  expect_near(matrices.fidelity.minimax, edges.fidelity.minimax);
}

TEST(GraphEngine, GivesTheSameNumbersByEdgesAndByMatrices) {
  for (const char* family : {"indegree:90:90", "indegree:90:3", "expander:90:4", "fs:90:4log",
                             "fs-sparse:90:log", "fs-original:90", "longformer:90:2:1",
                             "bigbird:90:2:1:2", "dilated:90:1:1", "power:90", "power:1"}) {
    SCOPED_TRACE(family);
    expect_same_numbers(generate_family(family));
  }
  for (std::uint32_t index = 0; index < 150; ++index) {
    SCOPED_TRACE(index);
    const double keep = index % 3 == 0 ? 0.1 : index % 3 == 1 ? 3.0 : 100.0;
    SparseMetricsOptions options;
    options.eps = index % 2 == 0 ? 0.25 : 0.01;
    options.cutoff = index % 4 == 0 ? 0 : 30;
    expect_same_numbers(weighted_graph(index, 1 + static_cast<int>(index % 40), keep), options);
  }
}

TEST(GraphEngine, GivesTheSameLimitsWhereTheStepLimitCameFirst) {
  SparseMetricsOptions options;
  options.cutoff = 0;
  const SparseGraph line(chain_graph(64));  // T_mix 133, T_avg 111 and 95
  for (const std::int64_t limit : {1, 50, 95, 100, 111, 120, 133, 200}) {
    SCOPED_TRACE(limit);
    options.step_limit = limit;
    expect_same_numbers(line, options);
    const SparseMetrics found = measured(line, GraphEngine::kMatrices, options);
    EXPECT_EQ(found.walk.mixing[0].exact, limit >= 133);
    EXPECT_EQ(found.walk.averaged_l1[0].exact, limit >= 111);
    EXPECT_EQ(found.walk.averaged_tv[0].exact, limit >= 95);
  }
}

TEST(GraphEngine, IsChosenByCountedWork) {
  const SparseGraph slow = weighted_graph(2, 100, 1000.0);
  const GraphWork work = graph_work(slow);
  EXPECT_LT(work.matrices, work.edges);
  EXPECT_EQ(measure(slow).engine, GraphEngine::kMatrices);
  for (const char* family : {"fs:2000:4log", "power:500", "dilated:1000:1:1", "power:3000"}) {
    const SparseGraph graph = generate_family(family);
    EXPECT_EQ(measure(graph).engine, GraphEngine::kEdges) << family;
  }
  EXPECT_THROW(measured(generate_family("power:3000"), GraphEngine::kMatrices), InputError);
  Execution small;
  small.memory = 1000;  // too little for matrices
  EXPECT_EQ(measure(slow, {}, small).engine, GraphEngine::kEdges);
}

/// The graph with all of its weights, and its self-loops, multiplied.
SparseGraph multiplied(const SparseGraph& graph, double factor) {
  std::vector<Edge> edges = graph.dense().edges();
  for (Edge& edge : edges) edge.weight *= factor;
  return SparseGraph(FeedforwardGraph(graph.nodes(), std::move(edges), false));
}

// Sums of such weights overflow, or have few digits; their shares are those of equal weights.
TEST(GraphEngine, TakesWeightsOfAnySize) {
  const SparseGraph graph = generate_family("dilated:60:2:1");
  const SparseMetrics expected = measured(graph, GraphEngine::kEdges);
  for (const double factor : {0x1.0p-1060, 0x1.0p-1000, 0x1.0p1000, 0x1.8p1023})
    for (const GraphEngine engine : {GraphEngine::kEdges, GraphEngine::kMatrices}) {
      SCOPED_TRACE(factor);
      const SparseMetrics found = measured(multiplied(graph, factor), engine);
      expect_same_walk(found.walk, expected.walk);
      expect_same_walk(found.backward, expected.backward);
      expect_near(found.fidelity.minimax, expected.fidelity.minimax);
    }
}

// A mixing time of some 10^4 steps: matrices find it by squaring, edges by 10^4 steps.
TEST(GraphEngine, FindsLongTimesExactly) {
  const SparseGraph slow = weighted_graph(2, 40, 10000.0);
  const SparseMetrics edges = measured(slow, GraphEngine::kEdges);
  const SparseMetrics matrices = measured(slow, GraphEngine::kMatrices);
  EXPECT_GT(edges.walk.averaged_l1[0].least, 5000.0);
  expect_same_walk(matrices.walk, edges.walk);
  expect_same_walk(matrices.backward, edges.backward);
}

}  // namespace
}  // namespace synergraph

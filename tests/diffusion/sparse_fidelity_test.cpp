#include "synergraph/diffusion/sparse_fidelity.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "synergraph/chain/sparse_walk.h"
#include "synergraph/core/error.h"
#include "synergraph/core/special_values.h"
#include "synergraph/diffusion/fidelity.h"
#include "synergraph/graph/families.h"
#include "synergraph/graph/generators.h"

namespace synergraph {
namespace {

FeedforwardGraph weighted_graph(std::uint64_t seed, int nodes) {
  std::vector<Edge> edges;
  const FeedforwardGraph plain = random_graph(nodes, 0.4, seed, false);
  for (const Edge& edge : plain.edges())
    edges.push_back({edge.from, edge.to, 0.1 + static_cast<double>((edge.from * 7 + edge.to) % 9)});
  return {nodes, edges, seed % 2 == 0};
}

TEST(SparseFidelity, GivesTheNumbersOfTheDenseFidelity) {
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    const int nodes = static_cast<int>(1 + seed % 50);
    const FeedforwardGraph graph =
        seed % 3 == 0   ? weighted_graph(seed, nodes)
        : seed % 3 == 1 ? generate_family("fs:" + std::to_string(nodes) + ":4").dense()
                        : window_graph(nodes, 3);
    FidelityOptions dense;
    dense.nodes = seed % 2 == 0 ? FidelityNodes::kSources : FidelityNodes::kAll;
    dense.every_node = true;
    const Fidelity expected = fidelity(diffusion_matrix(graph), dense);
    SparseFidelityOptions sparse;
    sparse.nodes = dense.nodes;
    const Fidelity found = fidelity(SparseGraph(graph), sparse);
    EXPECT_TRUE(found.certified) << seed;
    EXPECT_NEAR(found.minimax, expected.minimax, 1e-13 * expected.minimax) << seed;
    for (std::size_t j = 0; j < expected.node.size(); ++j) {
      // The sparse search ends with the minimax; other nodes have bounds then.
      EXPECT_LE(found.node[j], expected.node[j] * (1 + 1e-13)) << seed << ' ' << j;
      EXPECT_GE(found.node_upper[j], expected.node[j] * (1 - 1e-13)) << seed << ' ' << j;
    }
  }
}

TEST(SparseFidelity, OfTheLineIsTheClosedForm) {
  // Node 1 of 16: C(2k-1, k) 2^(1-2k) with k = n - 2.
  const Fidelity line = fidelity(SparseGraph(chain_graph(16)));
  const double k = 14.0;
  const double expected =
      std::exp(std::lgamma(2 * k) - std::lgamma(k + 1) - std::lgamma(k)) * std::exp2(1 - 2 * k);
  EXPECT_NEAR(line.minimax, expected, 1e-13);
  EXPECT_NEAR(line.minimax, 0.149446, 5e-7);
  EXPECT_EQ(line.minimax_node, 1);
}

TEST(SparseFidelity, IsBoundedByTheTimeOfTheWayBack) {
  // phi_min <= h_bwd / (n - 1): the sum of the peaks over the sources is at most the sum of the
  // expected visits.
  for (const char* family : {"fs:200:5:0.5:", "indegree:200:6:", "poisson:200:0.2:6:",
                             "bigbird:200:3:1:2:", "expander:200:6:"}) {
    for (int seed = 0; seed < 20; ++seed) {
      const SparseGraph graph = generate_family(family + std::to_string(seed));
      const Fidelity found = fidelity(graph);
      const double back = hitting_times(graph.reversed()).node[0];
      EXPECT_LE(found.minimax, back / (graph.nodes() - 1) * (1 + 1e-12)) << family << seed;
    }
  }
}

TEST(SparseFidelity, OfNodesThatHearOthersVanishesInTime) {
  // Proposition 5.1 of the parent paper: the signal of a node with more than one incoming edge, its
  // self-loop counted, tends to zero. Every step keeps at most half of it, so after t steps at most
  // 2^-t (t + 1)^n of the mass has not come to nodes that hear themselves alone.
  constexpr int kSteps = 400;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const int nodes = 5 + static_cast<int>(seed % 20);
    const FeedforwardGraph graph = random_graph(nodes, 0.4, seed, true);
    const Matrix signal = signal_curves(diffusion_matrix(graph), kSteps);
    std::vector<bool> hears(static_cast<std::size_t>(nodes), false);
    for (const Edge& edge : graph.edges())
      if (edge.from != edge.to) hears[static_cast<std::size_t>(edge.to)] = true;
    for (int j = 0; j < nodes; ++j) {
      if (!hears[static_cast<std::size_t>(j)]) continue;
      EXPECT_LE(signal(kSteps, j), std::exp2(nodes * std::log2(kSteps + 1.0) - kSteps));
    }
  }
}

TEST(SparseFidelity, HasAFixedHorizonAndAStepLimit) {
  const SparseGraph line(chain_graph(40));
  SparseFidelityOptions options;
  options.horizon = 21;
  FidelityOptions dense;
  dense.horizon = 21;
  const Fidelity expected = fidelity(diffusion_matrix(chain_graph(40)), dense);
  const Fidelity found = fidelity(line, options);
  EXPECT_FALSE(found.certified);
  EXPECT_EQ(found.minimax, expected.minimax);
  EXPECT_EQ(found.minimax, 0.0);  // the first nodes are further away than that
  SparseFidelityOptions limited;
  limited.step_limit = 60;
  const Fidelity interval = fidelity(line, limited);
  const double whole = fidelity(line).minimax;
  EXPECT_FALSE(interval.certified);
  EXPECT_LE(interval.minimax, whole);
  EXPECT_GE(interval.minimax_upper, whole);
  EXPECT_THROW(fidelity(line, {.horizon = -1}), UsageError);
}

TEST(SparseFidelity, DoesNotDependOnTheNumberOfThreads) {
  const SparseGraph graph = generate_family("fs:3000:8");
  Execution one;
  one.threads = 1;
  Execution five;
  five.threads = 5;
  const Fidelity expected = fidelity(graph, {}, one);
  const Fidelity found = fidelity(graph, {}, five);
  EXPECT_EQ(found.minimax, expected.minimax);
  EXPECT_EQ(found.minimax_node, expected.minimax_node);
  EXPECT_TRUE(found.certified && expected.certified);
}

// Mass that node 2 keeps never reaches node 1: it bounds no later signal.
TEST(SparseFidelity, IsCertifiedBesideANodeThatKeepsMass) {
  const SparseGraph graph({0, 2, 4, 6, 7}, {0, 1, 1, 3, 2, 3, 3});
  const Fidelity found = fidelity(graph);
  EXPECT_TRUE(found.certified);
  // Node 3 hears 1, 2 and itself, node 1 hears 0 and itself: the mass ends in 0 and 2 alike.
  EXPECT_NEAR(found.minimax, 1.0 / 3.0, 1e-15);
  EXPECT_EQ(found.minimax_node, 1);
  EXPECT_NEAR(found.node[0], 0.5, 1e-15);
  EXPECT_NEAR(found.node[2], 0.5, 1e-15);
}

}  // namespace
}  // namespace synergraph

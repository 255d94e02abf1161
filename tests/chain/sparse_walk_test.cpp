#include "synergraph/chain/sparse_walk.h"

#include <gtest/gtest.h>

#include <cmath>

#include "synergraph/chain/mixing.h"
#include "synergraph/chain/walk.h"
#include "synergraph/core/error.h"
#include "synergraph/core/special_values.h"
#include "synergraph/graph/families.h"
#include "synergraph/graph/generators.h"
#include "tests/support/random_inputs.h"

namespace synergraph {
namespace {

/// The first t with mean_j s_t[j] < threshold, by plain stepping.
double averaged(const Walk& walk, double threshold) {
  const Matrix curve = survival(walk, 4000);
  for (int t = 0; t <= 4000; ++t) {
    double sum = 0.0;
    for (int j = 0; j < walk.nodes(); ++j) sum += curve(t, j);
    if (sum / walk.nodes() < threshold * (1 - 1e-13)) return t;
  }
  return kInfinity;
}

TEST(SparseWalk, OfTheLineHasTheAveragedMixingTimesOfTheTheory) {
  // The parent paper's example: a line of 64 nodes mixes in 111 steps by the L1 distance
  // and in 95 by the total variation.
  const SparseWalkSummary line = summarise_walk(SparseGraph(chain_graph(64)));
  EXPECT_EQ(line.averaged_l1[0].least, 111.0);
  EXPECT_EQ(line.averaged_tv[0].least, 95.0);
  EXPECT_DOUBLE_EQ(line.hitting.mean, 63.0);
  EXPECT_DOUBLE_EQ(line.hitting.max, 126.0);
}

TEST(SparseWalk, GivesTheNumbersOfTheDenseWalk) {
  for (std::uint64_t seed = 0; seed < 120; ++seed) {
    const int nodes = static_cast<int>(1 + seed % 60);
    const FeedforwardGraph graph =
        seed % 3 == 0   ? random_graph(nodes, 0.3, seed, seed % 2 == 0)
        : seed % 3 == 1 ? generate_family("fs:" + std::to_string(nodes) + ":3").dense()
                        : window_graph(nodes, 2);
    const Walk walk = walk_of_graph(graph);
    WalkOptions dense;
    dense.eps = {0.25, 0.01};
    SparseWalkOptions sparse;
    sparse.eps = dense.eps;
    const WalkSummary expected = summarise_walk(walk, dense);
    const SparseWalkSummary found = summarise_walk(SparseGraph(graph), sparse);
    for (int j = 0; j < nodes; ++j) {
      const auto k = static_cast<std::size_t>(j);
      if (std::isinf(expected.hitting.node[k]))
        EXPECT_EQ(found.hitting.node[k], kInfinity);
      else
        EXPECT_NEAR(found.hitting.node[k], expected.hitting.node[k],
                    1e-12 * expected.hitting.node[k]);
      EXPECT_NEAR(found.truncated.node[k], expected.truncated.node[k], 1e-11);
    }
    for (std::size_t e = 0; e < dense.eps.size(); ++e) {
      EXPECT_EQ(found.mixing[e].least, expected.mixing[e]) << seed;
      EXPECT_TRUE(found.mixing[e].exact);
      EXPECT_EQ(found.averaged_tv[e].least, averaged(walk, dense.eps[e])) << seed;
      EXPECT_EQ(found.averaged_l1[e].least, averaged(walk, dense.eps[e] / 2)) << seed;
    }
  }
}

TEST(SparseWalk, DoesNotDependOnTheNumberOfThreads) {
  const SparseGraph graph = generate_family("fs:3000:8");
  Execution one;
  one.threads = 1;
  const SparseWalkSummary expected = summarise_walk(graph, {}, one);
  for (const int threads : {2, 3, 7}) {
    Execution several;
    several.threads = threads;
    const SparseWalkSummary found = summarise_walk(graph, {}, several);
    EXPECT_EQ(found.truncated.node, expected.truncated.node);
    EXPECT_EQ(found.mixing[0].least, expected.mixing[0].least);
    EXPECT_EQ(found.averaged_l1[0].least, expected.averaged_l1[0].least);
  }
}

TEST(SparseWalk, SaysWhereTheStepLimitCameFirst) {
  SparseWalkOptions options;
  options.step_limit = 50;
  options.cutoff = 50;
  const SparseWalkSummary line = summarise_walk(SparseGraph(chain_graph(64)), options);
  EXPECT_FALSE(line.mixing[0].exact);
  EXPECT_FALSE(line.averaged_l1[0].exact);
  EXPECT_GE(line.mixing[0].least, 50.0);
  EXPECT_LE(line.mixing[0].least, 133.0);
  // What never comes is known without stepping for ever.
  const SparseGraph lost(FeedforwardGraph(3, {{0, 2}}));
  const SparseWalkSummary never = summarise_walk(lost);
  EXPECT_EQ(never.mixing[0].least, kInfinity);
  EXPECT_EQ(never.averaged_tv[0].least, kInfinity);  // a third of the walks stay at node 1
}

/// A line whose walk is caught beside its end with probability `caught`: node n-2 has no way out.
SparseGraph line_with_a_trap(int nodes, double caught) {
  std::vector<Edge> edges;
  for (int j = 0; j + 3 < nodes; ++j) edges.push_back({j, j + 1});
  edges.push_back({nodes - 3, nodes - 2, caught / (1.0 - caught)});
  edges.push_back({nodes - 3, nodes - 1});
  return SparseGraph(FeedforwardGraph(nodes, std::move(edges)));
}

TEST(SparseWalk, AveragesOverNodesThatMayBeCaughtOnTheWay) {
  // Nearly every node may end in the trap, so hitting times are infinite. The averaged survival
  // falls to about `caught` all the same, which is below or above the thresholds.
  constexpr int kNodes = 300;
  for (const double caught : {0.001, 0.1, 0.2, 0.4}) {
    const SparseGraph graph = line_with_a_trap(kNodes, caught);
    const SparseWalkSummary found = summarise_walk(graph);
    const Walk walk = walk_of_graph(graph.dense());
    EXPECT_EQ(found.averaged_tv[0].least, averaged(walk, 0.25)) << caught;
    EXPECT_EQ(found.averaged_l1[0].least, averaged(walk, 0.125)) << caught;
    EXPECT_TRUE(found.averaged_tv[0].exact && found.averaged_l1[0].exact);
    EXPECT_EQ(found.averaged_l1[0].least == kInfinity, caught > 0.12) << caught;
    EXPECT_EQ(found.hitting.mean, kInfinity);
    EXPECT_EQ(found.mixing[0].least, kInfinity);
  }
}

TEST(SparseWalk, NeedsAsManyPathsAsItsMixingTimeAllows) {
  // Proposition 4.2 of the parent paper, in the form that its proof gives: if all nodes but the
  // sink have at least two edges, the walk takes each path of l steps with probability 2^-l at
  // most. So 1 - s_t[j] <= sum over l <= t of N_l[j] 2^-l, with N_l[j] paths that arrive in step l.
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const int nodes = 8 + static_cast<int>(seed % 30);
    const SparseGraph graph = seed % 2 == 0 ? fs_graph(nodes, 3, 0.5, seed)
                                            : SparseGraph(random_graph(nodes, 0.3, seed, true));
    const Matrix curve = survival(walk_of_graph(graph.dense()), 60);
    const auto n = static_cast<std::size_t>(nodes);
    // paths[j] 2^-l that are at the sink for the first time after l steps
    std::vector<double> share(n, 0.0);
    std::vector<double> arrived(n, 0.0);
    share.back() = 1.0;
    for (int t = 1; t <= 60; ++t) {
      std::vector<double> next(n, 0.0);
      for (int j = 0; j + 1 < nodes; ++j) {
        const auto k = static_cast<std::size_t>(j);
        next[k] = share[k] / 2.0;  // the self-loop
        for (const int i : graph.receivers(j)) next[k] += share[static_cast<std::size_t>(i)] / 2.0;
        ASSERT_GT(graph.self_loop(j), 0.0);
        arrived[k] += next[k];
        EXPECT_LE(1.0 - curve(t, j), arrived[k] * (1 + 1e-12) + 1e-14)
            << seed << ' ' << j << ' ' << t;
      }
      share = std::move(next);
    }
  }
}

TEST(SparseWalk, OfFsGraphsMixesInPolylogarithmicTime) {
  // Theorem 6.1 of the parent paper. The line of as many nodes needs nearly 2 n steps.
  for (int log = 6; log <= 13; ++log)
    for (const char* family : {"fs", "fs-sparse"}) {
      const auto nodes = std::int64_t{1} << static_cast<unsigned>(log);
      const SparseGraph graph =
          generate_family(std::string(family) + ":" + std::to_string(nodes) + ":4log");
      const SparseWalkSummary found = summarise_walk(graph);
      EXPECT_LE(found.averaged_l1[0].least, 0.33 * log * log) << family << log;
      EXPECT_LE(found.mixing[0].least, 0.5 * log * log) << family << log;
    }
}

// Node 2 keeps its walks, and half of those from the slow node 1: the mean tends to 1.5 / 7 < 1/4.
TEST(SparseWalk, AveragesComeWhereFewWalksAreLost) {
  std::vector<Edge> edges = {{0, 6, 1.0}, {1, 1, 1000.0}, {1, 2, 1.0}, {1, 6, 1.0}, {2, 2, 1.0}};
  for (int j = 3; j < 6; ++j) edges.push_back({j, 6, 1.0});
  const FeedforwardGraph graph(7, edges, false);
  const WalkSummary expected = summarise_walk(walk_of_graph(graph), {.averaged = true});
  const SparseWalkSummary found = summarise_walk(SparseGraph(graph));
  EXPECT_EQ(found.mixing[0].least, kInfinity);
  EXPECT_EQ(found.averaged_tv[0].least, expected.averaged_tv[0]);
  EXPECT_GT(found.averaged_tv[0].least, 100.0);  // beyond the cutoff
  EXPECT_TRUE(found.averaged_tv[0].exact);
  EXPECT_EQ(found.averaged_l1[0].least, kInfinity);
}

TEST(SparseWalk, StopsWhereItIsAsked) {
  Execution stopped;
  stopped.stop = [] { return true; };
  EXPECT_THROW(summarise_walk(SparseGraph(chain_graph(500)), {}, stopped), Stopped);
  SparseWalkOptions bad;
  bad.eps = {0.0};
  EXPECT_THROW(summarise_walk(SparseGraph(chain_graph(5)), bad), UsageError);
}

}  // namespace
}  // namespace synergraph

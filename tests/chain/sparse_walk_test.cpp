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

#include "synergraph/graph/sparse_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "synergraph/core/error.h"
#include "synergraph/graph/generators.h"

namespace synergraph {
namespace {

using testing::HasSubstr;

std::string refusal(std::vector<std::int64_t> first, ScratchVector<std::int32_t> receivers,
                    ScratchVector<double> weights = {}) {
  try {
    const SparseGraph graph(std::move(first), std::move(receivers), std::move(weights), true,
                            "graph.npz: ");
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(SparseGraph, HoldsTheEdgesItWasMadeFrom) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const FeedforwardGraph graph =
        random_graph(static_cast<int>(1 + seed), 0.3, seed, seed % 2 == 0);
    EXPECT_EQ(SparseGraph(graph).dense().edges(), graph.edges());
    EXPECT_EQ(SparseGraph(graph).edge_count(), static_cast<std::int64_t>(graph.edges().size()));
  }
  const FeedforwardGraph weighted(4, {{0, 2, 0.5}, {0, 3, 2.0}, {1, 1, 3.0}, {2, 3}}, false);
  EXPECT_EQ(SparseGraph(weighted).dense().edges(), weighted.edges());
}

TEST(SparseGraph, SortsReceiversAndKeepsSelfLoopsApart) {
  const SparseGraph graph({0, 3, 4, 5}, {2, 0, 1, 2, 2}, {5.0, 7.0, 6.0, 4.0, 3.0});
  EXPECT_THAT(graph.receivers(0), testing::ElementsAre(1, 2));
  EXPECT_THAT(graph.weights(0), testing::ElementsAre(6.0, 5.0));
  EXPECT_THAT(graph.receivers(1), testing::ElementsAre(2));
  EXPECT_EQ(graph.receivers(2).size(), 0U);
  EXPECT_EQ(graph.self_loop(0), 7.0);
  EXPECT_EQ(graph.self_loop(1), 1.0);  // added
  EXPECT_EQ(graph.self_loop(2), 3.0);
  EXPECT_EQ(graph.edge_count(), 6);
}

TEST(SparseGraph, ReversedTwiceIsTheGraph) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const SparseGraph graph(random_graph(static_cast<int>(1 + seed), 0.4, seed));
    const FeedforwardGraph back = graph.reversed().dense();
    const int last = graph.sink();
    std::vector<Edge> turned;
    for (const Edge& edge : back.edges())
      turned.push_back({last - edge.to, last - edge.from, edge.weight});
    EXPECT_EQ(FeedforwardGraph(graph.nodes(), turned, false).edges(), graph.dense().edges());
    EXPECT_EQ(graph.reversed().reversed().dense().edges(), graph.dense().edges());
  }
}

TEST(SparseGraph, RefusesWhatIsNoFeedforwardGraphInOneLine) {
  EXPECT_THAT(refusal({0}, {}), HasSubstr("graph.npz: a sparse graph has 1 to"));
  EXPECT_THAT(refusal({}, {}), HasSubstr("graph.npz: a sparse graph has 1 to"));
  EXPECT_THAT(refusal({0, 1, 1}, {}), HasSubstr("the offsets of the nodes run from 0 to 1"));
  EXPECT_THAT(refusal({0, 2, 1}, {1}), HasSubstr("the offset of node 2 is 1, below"));
  EXPECT_THAT(refusal({0, 0, 1}, {0}), HasSubstr("edge 1 -> 0 goes backward"));
  EXPECT_THAT(refusal({0, 1, 1}, {2}), HasSubstr("edge 0 -> 2 leaves the graph"));
  EXPECT_THAT(refusal({0, 1, 1}, {-1}), HasSubstr("edge 0 -> -1 goes backward"));
  EXPECT_THAT(refusal({0, 2, 2}, {1, 1}), HasSubstr("edge 0 -> 1 is there twice"));
  EXPECT_THAT(refusal({0, 1, 1}, {1}, {0.0}), HasSubstr("edge 0 -> 1 has weight 0"));
  EXPECT_THAT(refusal({0, 1, 1}, {1}, {1.0, 2.0}), HasSubstr("2 weights for 1 edges"));
}

}  // namespace
}  // namespace synergraph

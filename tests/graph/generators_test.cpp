#include "synergraph/graph/generators.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "synergraph/core/error.h"

namespace synergraph {
namespace {

std::set<std::pair<int, int>> forward_edges(const FeedforwardGraph& graph) {
  std::set<std::pair<int, int>> edges;
  for (const Edge& edge : graph.edges())
    if (edge.from != edge.to) edges.emplace(edge.from, edge.to);
  return edges;
}

TEST(Generators, HaveTheEdgesTheirNamesSay) {
  for (const int n : {1, 2, 3, 9, 33}) {
    std::set<std::pair<int, int>> chain;
    std::set<std::pair<int, int>> complete;
    std::set<std::pair<int, int>> window;
    std::set<std::pair<int, int>> powers;
    std::set<std::pair<int, int>> star;
    for (int j = 0; j < n; ++j)
      for (int i = j + 1; i < n; ++i) {
        const int step = i - j;
        complete.emplace(j, i);
        if (step == 1) chain.emplace(j, i);
        if (step <= 3) window.emplace(j, i);
        if ((step & (step - 1)) == 0) powers.emplace(j, i);
        if (i == n - 1) star.emplace(j, i);
      }
    EXPECT_EQ(forward_edges(chain_graph(n)), chain);
    EXPECT_EQ(forward_edges(complete_graph(n)), complete);
    EXPECT_EQ(forward_edges(window_graph(n, 3)), window);
    EXPECT_EQ(forward_edges(powers_graph(n)), powers);
    EXPECT_EQ(forward_edges(star_graph(n)), star);
  }
}

TEST(Generators, RandomHasTheRightDensityAndDependsOnItsSeedAlone) {
  const int n = 200;
  const auto edges = forward_edges(random_graph(n, 0.3, 5));
  const double pairs = n * (n - 1) / 2.0;
  EXPECT_NEAR(static_cast<double>(edges.size()), 0.3 * pairs, 5 * std::sqrt(0.21 * pairs));
  EXPECT_EQ(forward_edges(random_graph(n, 0.3, 5)), edges);
  EXPECT_NE(forward_edges(random_graph(n, 0.3, 6)), edges);
  EXPECT_TRUE(forward_edges(random_graph(n, 0.0, 5)).empty());
  EXPECT_EQ(forward_edges(random_graph(20, 1.0, 5)), forward_edges(complete_graph(20)));
}

TEST(Generators, AreNamedOnTheCommandLine) {
  EXPECT_EQ(generate_graph("chain:5").edges(), chain_graph(5).edges());
  EXPECT_EQ(generate_graph("complete:5").edges(), complete_graph(5).edges());
  EXPECT_EQ(generate_graph("window:9:2").edges(), window_graph(9, 2).edges());
  EXPECT_EQ(generate_graph("powers:9").edges(), powers_graph(9).edges());
  EXPECT_EQ(generate_graph("star:9").edges(), star_graph(9).edges());
  EXPECT_EQ(generate_graph("random:9:0.5").edges(), random_graph(9, 0.5, 1).edges());
  EXPECT_EQ(generate_graph("random:9:0.5:7").edges(), random_graph(9, 0.5, 7).edges());
  EXPECT_EQ(generate_graph("chain:5", false).edges().size(), 4U);
}

TEST(Generators, RejectBadRequests) {
  for (const char* bad :
       {"", "ring:5", "chain", "chain:x", "chain:5:6", "window:5", "random:5", "random:5:x",
        "random:5:0.5:-1", "random:5:0.5:1:2", "chain:", "chain:5.5"})
    EXPECT_THROW(generate_graph(bad), UsageError) << bad;
  for (const char* bad : {"chain:0", "chain:-3", "complete:1000000000", "window:5:0",
                          "random:5:1.5", "random:5:nan", "window:5:-99999999999"})
    EXPECT_THROW(generate_graph(bad), InputError) << bad;
}

}  // namespace
}  // namespace synergraph

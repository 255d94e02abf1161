#include "synergraph/graph/feedforward_graph.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "synergraph/core/error.h"

namespace synergraph {
namespace {

TEST(FeedforwardGraph, SortsEdgesAndAddsMissingSelfLoops) {
  const FeedforwardGraph graph(3, {{1, 2}, {1, 1, 0.25}, {0, 1}});
  EXPECT_EQ(graph.edges(), (std::vector<Edge>{{0, 0}, {0, 1}, {1, 1, 0.25}, {1, 2}, {2, 2}}));
  EXPECT_EQ(graph.sink(), 2);
  EXPECT_EQ(FeedforwardGraph(3, {{0, 1}}, false).edges(), (std::vector<Edge>{{0, 1}}));
}

void expect_rejected(int nodes, std::vector<Edge> edges, const std::string& message) {
  try {
    const FeedforwardGraph graph(nodes, std::move(edges));
    FAIL() << "accepted: " << message;
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find(message), std::string::npos) << error.what();
  }
}

TEST(FeedforwardGraph, RejectsWhatIsNotFeedforward) {
  expect_rejected(3, {{2, 1}}, "edge 2 -> 1 goes backward");
  expect_rejected(3, {{0, 1}, {1, 0}}, "edge 1 -> 0 goes backward");
  expect_rejected(3, {{0, 3}}, "node 3 is out of range, nodes are 0 to 2");
  expect_rejected(3, {{-1, 0}}, "node -1 is out of range");
  expect_rejected(3, {{0, 1}, {0, 1}}, "edge 0 -> 1 is given twice");
  expect_rejected(3, {{0, 1, -1.0}}, "weight -1 is not positive and finite");
  expect_rejected(3, {{0, 1, 0.0}}, "weight 0 is not positive");
  expect_rejected(3, {{0, 1, std::nan("")}}, "is not positive and finite");
  expect_rejected(3, {{0, 1, std::numeric_limits<double>::infinity()}},
                  "is not positive and finite");
  expect_rejected(0, {}, "between 1 and 16384 nodes, not 0");
  expect_rejected(1000000000, {}, "not 1000000000");
}

}  // namespace
}  // namespace synergraph

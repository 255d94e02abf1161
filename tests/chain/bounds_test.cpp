#include "synergraph/chain/bounds.h"

#include <gtest/gtest.h>

#include <cmath>

#include "synergraph/core/error.h"
#include "synergraph/graph/generators.h"

namespace synergraph {
namespace {

TEST(ForwardProbability, IsTheSmallestForwardMass) {
  EXPECT_EQ(forward_probability(walk_of_graph(chain_graph(5))), 0.5);
  EXPECT_EQ(forward_probability(walk_of_graph(complete_graph(5))), 0.5);
  EXPECT_EQ(forward_probability(walk_of_graph(chain_graph(5, false))), 1.0);
  EXPECT_EQ(forward_probability(walk_of_graph(FeedforwardGraph(3, {{0, 1}}))), 0.0);
  EXPECT_EQ(forward_probability(walk_of_graph(chain_graph(1))), 1.0);
  EXPECT_DOUBLE_EQ(combined_forward_probability({0.5, 0.25}, {0.25, 0.75}), 0.3125);
}

TEST(MixingBound, IsTwiceTheMovesOverTheProbability) {
  EXPECT_EQ(mixing_bound(101, 0.5).steps, 400.0);
  EXPECT_DOUBLE_EQ(mixing_bound(101, 0.5).valid_from, std::exp(-50.0));
  EXPECT_EQ(mixing_bound(10, 0.1).steps, 180.0);  // 18 / 0.1, not 181 by rounding
  EXPECT_EQ(mixing_bound(4, 0.7).steps, 9.0);     // 6 / 0.7 = 8.57
  EXPECT_TRUE(std::isinf(mixing_bound(4, 0.0).steps));
  EXPECT_EQ(mixing_bound(1, 1.0).steps, 0.0);
  EXPECT_EQ(adaptive_bound(101, {0.1, 0.5, 0.2}).steps, 400.0);
}

TEST(HeadDiversity, IsOneMinusAPower) {
  EXPECT_DOUBLE_EQ(head_diversity_probability(0.5, 4), 1.0 - 1.0 / 16);
  EXPECT_DOUBLE_EQ(head_diversity_probability(0.9, 16), 1.0 - std::pow(0.9, 16));
  EXPECT_EQ(head_diversity_probability(0.0, 3), 1.0);
  EXPECT_EQ(head_diversity_probability(1.0, 3), 0.0);
  // 1 - (1 - 1e-15)^2 = 2e-15 - 1e-30, where 1 - pow() would have one digit.
  const double below = 1.0 - 0x1.0p-50;
  EXPECT_NEAR(head_diversity_probability(below, 2) / 0x1.0p-49, 1.0, 1e-12);
  EXPECT_DOUBLE_EQ(head_diversity_probability(std::vector<double>{0.1, 0.2, 0.3, 0.4}, 0.3, 2),
                   0.75);
  EXPECT_THROW(head_diversity_probability(1.5, 2), UsageError);
  EXPECT_THROW(head_diversity_probability(0.5, 0), UsageError);
  EXPECT_THROW(head_diversity_probability(std::vector<double>{}, 0.5, 2), UsageError);
}

// The smallest whole number of steps with steps p >= 2 N. The rounding of p, of up to 2^-51, does
// not cost a step; any more does.
TEST(MixingBound, RoundsUpButForTheLastBit) {
  EXPECT_EQ(mixing_bound(22, 0.7).steps, 60.0);  // 42 / 0.7, where 0.7 is a little less
  EXPECT_EQ(mixing_bound(22, std::nextafter(0.7, 1.0)).steps, 60.0);
  EXPECT_EQ(mixing_bound(22, 0.7 * (1.0 - 9e-16)).steps, 61.0);
  EXPECT_EQ(mixing_bound(22, 0.7 * (1.0 - 6e-16)).steps, 61.0);
  EXPECT_EQ(mixing_bound(22, 0.69).steps, 61.0);
  EXPECT_EQ(mixing_bound(22, 0.71).steps, 60.0);
}

}  // namespace
}  // namespace synergraph

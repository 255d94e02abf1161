#include "synergraph/chain/walk.h"

#include <gtest/gtest.h>

#include <cmath>

#include "synergraph/core/error.h"
#include "synergraph/graph/generators.h"
#include "tests/support/random_inputs.h"

namespace synergraph {
namespace {

void expect_stochastic(const Walk& walk) {
  for (int j = 0; j < walk.nodes(); ++j) {
    double forward = 0.0;
    for (int i = 0; i < walk.nodes(); ++i) {
      ASSERT_GE(walk.step(j, i), 0.0);
      if (i < j) {
        ASSERT_EQ(walk.step(j, i), 0.0);
      }
      if (i > j) forward += walk.step(j, i);
    }
    EXPECT_NEAR(walk.step(j, j) + forward, 1.0, 1e-14);
    EXPECT_NEAR(walk.leave[static_cast<std::size_t>(j)], forward, 1e-14 * forward);
  }
  EXPECT_EQ(walk.step(walk.sink(), walk.sink()), 1.0);
}

TEST(Walk, EveryNormalisationIsStochasticAndFeedforward) {
  for (std::uint32_t index = 0; index < 500; ++index) {
    for (const auto& system : {testing_support::random_graph_system(index),
                               testing_support::random_attention_system(index)})
      for (const auto normalization :
           {Normalization::kPerHead, Normalization::kPooled, Normalization::kPublished})
        expect_stochastic(combine_walk(system.heads, system.weights, normalization));
  }
}

TEST(Walk, OfAGraphFollowsItsEdgesByWeight) {
  const Walk walk = walk_of_graph(FeedforwardGraph(3, {{0, 1, 3.0}, {0, 2, 4.0}}));
  EXPECT_DOUBLE_EQ(walk.step(0, 0), 1.0 / 8);
  EXPECT_DOUBLE_EQ(walk.step(0, 1), 3.0 / 8);
  EXPECT_DOUBLE_EQ(walk.step(0, 2), 4.0 / 8);
  EXPECT_EQ(walk.step(1, 1), 1.0);  // nothing but its self-loop
  EXPECT_EQ(walk.leave[1], 0.0);
}

TEST(Walk, WithoutSelfLoopsADeadEndStays) {
  const Walk walk = walk_of_graph(FeedforwardGraph(3, {{0, 1}}, false));
  EXPECT_EQ(walk.step(0, 1), 1.0);
  EXPECT_EQ(walk.step(1, 1), 1.0);
  EXPECT_EQ(reaches_sink(walk), (std::vector<bool>{false, false, true}));
}

TEST(Walk, OfATokenThatNobodyAttendsToStays) {
  Matrix attention(3, 3);
  attention(0, 0) = attention(1, 0) = attention(2, 0) = 1.0;
  const Walk walk = walk_of_attention(attention);
  EXPECT_DOUBLE_EQ(walk.step(0, 2), 1.0 / 3);
  EXPECT_EQ(walk.step(1, 1), 1.0);
  expect_stochastic(walk);
}

// The published rule written out as it is sampled: the first i whose running sum reaches u.
TEST(Walk, PublishedIsTheLawOfTheSampledStep) {
  for (std::uint32_t index = 0; index < 200; ++index) {
    const auto system = testing_support::random_attention_system(index);
    const Matrix pooled = combine_diffusion(system.heads, system.weights);
    const Walk walk = published_walk(pooled);
    const int n = pooled.rows();
    for (int j = 0; j < n - 1; ++j) {
      double before = 0.0;
      for (int i = j; i < n; ++i) {
        const double sum = before + pooled(i, j);
        const double missing = i == n - 1 ? std::max(0.0, 1.0 - sum) : 0.0;
        const double expected = std::min(1.0, sum) - std::min(1.0, before) + missing;
        EXPECT_NEAR(walk.step(j, i), expected, 1e-15);
        before = sum;
      }
    }
    if (n > 1) {
      EXPECT_EQ(walk.step(0, 0), 1.0) << "a walk from node 0 never moves";
    }
  }
}

TEST(Walk, RowsAreCheckedWithTheirPlace) {
  const auto message = [](Matrix rows) {
    try {
      walk_of_rows(rows);
      return std::string("accepted");
    } catch (const InputError& error) {
      return std::string(error.what());
    }
  };
  Matrix good(2, 2);
  good(0, 0) = 0.25;
  good(0, 1) = 0.75;
  good(1, 1) = 1.0;
  EXPECT_EQ(message(good), "accepted");
  Matrix bad = good;
  bad(0, 1) = 0.8;
  EXPECT_EQ(message(bad), "walk: row 0 sums to 1.05, expected 1 within 1e-09");
  bad(0, 1) = std::nan("");
  EXPECT_NE(message(bad).find("row 0, column 1"), std::string::npos);
  bad = good;
  bad(1, 0) = 1.0;
  bad(1, 1) = 0.0;
  EXPECT_NE(message(bad).find("row 1, column 0"), std::string::npos);
  EXPECT_NE(message(Matrix(2, 3)).find("2 x 3"), std::string::npos);
}

// Weights whose sum, or its reciprocal, is no double.
TEST(Walk, OfTinyAndHugeWeightsIsThatOfTheirRatios) {
  for (const double unit : {1.0, 1e-310, 1e-323, 1e300, 1.5e308}) {
    const Walk walk =
        walk_of_graph(FeedforwardGraph(3, {{0, 1, unit}, {0, 2, unit}, {1, 2, unit}}, false));
    EXPECT_EQ(walk.step(0, 1), 0.5) << unit;
    EXPECT_EQ(walk.step(0, 2), 0.5) << unit;
    EXPECT_EQ(walk.leave[0], 1.0) << unit;
  }
  Matrix attention(3, 3);
  attention(0, 0) = attention(1, 0) = attention(2, 0) = 1.0;
  attention(1, 1) = 3e-310;
  attention(2, 1) = 2e-310;
  attention(2, 2) = 1e-310;
  const Walk walk = walk_of_attention(attention);
  EXPECT_NEAR(walk.step(1, 1), 0.6, 1e-13);  // subnormal entries have 13 digits
  EXPECT_NEAR(walk.step(1, 2), 0.4, 1e-13);
  EXPECT_NEAR(walk.leave[1], 0.4, 1e-13);
}

TEST(Walk, OfCopiesIsTheWalk) {
  for (std::uint32_t index = 0; index < 100; ++index) {
    auto system = testing_support::random_attention_system(index);
    const Walk one = head_walk(system.heads.front(), Normalization::kPerHead);
    RandomSequence draws(5, Purpose::kTest, index);
    const Walk sum = combine_walks(one.nodes(), testing_support::random_weights(9, draws),
                                   [&](int) -> const Walk& { return one; });
    EXPECT_EQ(sum.leave, one.leave);
    for (int j = 0; j < one.nodes(); ++j)
      for (int i = j; i < one.nodes(); ++i) ASSERT_EQ(sum.step(j, i), one.step(j, i));
  }
}

// What a token leaves to itself is clipped at one: its steps forward are the rest of its row, not
// what 1 - A(j, j) has left of it.
TEST(Walk, PublishedKeepsTheDigitsOfSlowTokens) {
  for (const double leak : {1e-17, 1e-15, 1e-9, 0.1}) {
    Matrix attention(3, 3);
    attention(0, 0) = attention(1, 1) = 1.0;
    attention(1, 0) = leak;
    attention(2, 1) = attention(2, 2) = 0.5;
    normalise_attention(attention.view(), {.row_tolerance = 0.2});
    const Walk walk = published_walk(attention);
    EXPECT_DOUBLE_EQ(walk.leave[1], leak / (1.0 + leak));
    EXPECT_DOUBLE_EQ(walk.step(1, 2), leak / (1.0 + leak));
    EXPECT_EQ(published_walk_of_columns(MirroredMatrix(attention)).leave, walk.leave);
  }
}

}  // namespace
}  // namespace synergraph

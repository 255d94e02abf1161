#include "synergraph/chain/truncated_mean.h"

#include <gtest/gtest.h>

#include <cmath>

#include "synergraph/chain/hitting.h"
#include "synergraph/chain/truncation_rules.h"
#include "tests/support/random_inputs.h"

namespace synergraph {
namespace {

using testing_support::random_attention;

/// The weights of a walk's steps, each row in units of its own.
struct Weights {
  explicit Weights(const Walk& walk) : rows(walk.nodes(), walk.nodes()) {
    for (int j = 0; j < walk.nodes(); ++j) {
      const double unit = std::ldexp(1.0, j % 50 - 25);
      for (int i = j; i < walk.nodes(); ++i) rows(j, i) = unit * walk.step(j, i);
      mass.push_back(unit);
      forward.push_back(unit * walk.leave[static_cast<std::size_t>(j)]);
    }
  }
  StepWeights view() const { return {rows, mass.data(), forward.data()}; }

  Matrix rows;
  std::vector<double> mass, forward;
};

void expect_mean(const Walk& walk, std::int64_t cutoff) {
  const std::optional<double> mean = truncated_mean(Weights(walk).view(), cutoff);
  const double expected = truncated_hitting_times(walk, cutoff).mean;
  ASSERT_TRUE(mean.has_value());
  EXPECT_NEAR(*mean, expected, 1e-13 * expected) << walk.nodes() << " nodes, cutoff " << cutoff;
}

// From walks that end within a few steps to walks that hardly move.
TEST(TruncatedMean, IsTheMeanOfTruncatedHittingTimes) {
  RandomSequence draws(81, Purpose::kTest);
  for (const int nodes : {1, 2, 3, 9, 16, 17, 40, 100, 170})
    for (const double sharpness : {0.0, 1.0, 4.0, 12.0}) {
      const Walk walk = walk_of_attention(random_attention(nodes, sharpness, draws));
      for (const std::int64_t cutoff : {1, 2, 8, 15, 16, 17, 39, 100, 300})
        expect_mean(walk, cutoff);
      expect_mean(published_walk(random_attention(nodes, sharpness, draws)), 100);
    }
}

TEST(TruncatedMean, KnowsNodesThatAreNeverLeft) {
  for (std::uint32_t index = 0; index < 200; ++index)
    expect_mean(walk_of_graph(random_graph(1 + static_cast<int>(index % 25), 0.1, index)), 100);
}

TEST(TruncatedMean, LeavesLongSumsAndExtremeMassesToOthers) {
  const Matrix attention = [] {
    Matrix slow(10, 10);
    for (int i = 0; i < 10; ++i)
      for (int j = 0; j <= i; ++j) slow(i, j) = i == j ? 1.0 - 1e-6 * i : 1e-6;
    return slow;
  }();
  Weights weights(walk_of_attention(attention));
  EXPECT_FALSE(truncated_mean(weights.view(), 100000).has_value());
  EXPECT_TRUE(truncated_mean(weights.view(), 100).has_value());
  weights.mass[3] = 1e-300;
  EXPECT_FALSE(truncated_mean(weights.view(), 100).has_value());
}

TEST(TruncationRules, KnowWhenACutoffCutsNothing) {
  // All survivals are x^t: the first `cutoff` of them sum to (1 - x^cutoff) / (1 - x).
  for (const double x : {0.1, 0.5, 0.69, 0.72, 0.9, 0.999})
    for (const std::int64_t cutoff : {20, 100, 350, 1000, 100000}) {
      constexpr int kStep = 8;
      truncation_rules::Shrinking all;
      all.look_at(std::pow(x, kStep), std::pow(x, kStep - 1), (1.0 - std::pow(x, kStep)) / (1 - x));
      const double cut = std::pow(x, static_cast<double>(cutoff)) / (1.0 - x);
      EXPECT_EQ(truncation_rules::nothing_is_cut(all, cutoff - kStep),
                cut <= truncation_rules::kAccuracy * (1.0 - std::pow(x, kStep)) / (1 - x))
          << x << " " << cutoff;
    }
  truncation_rules::Shrinking stays;
  stays.look_at(1.0, 1.0, 8.0);
  EXPECT_FALSE(truncation_rules::nothing_is_cut(stays, 1000000));
}

}  // namespace
}  // namespace synergraph

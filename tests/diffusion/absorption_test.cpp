#include "synergraph/diffusion/absorption.h"

#include <gtest/gtest.h>

#include <cmath>

#include "synergraph/diffusion/fidelity.h"
#include "synergraph/graph/generators.h"
#include "tests/support/random_inputs.h"

namespace synergraph {
namespace {

// Without self-loops on node 1 and 2: the way back from 2 is 1 or 0, half each; 1 always goes to 0.
TEST(Absorption, IsTheChanceThatTheWayBackEndsThere) {
  Matrix diffusion(4, 4);
  diffusion(0, 0) = 1.0;
  diffusion(1, 1) = 1.0;
  diffusion(2, 0) = 0.25;
  diffusion(2, 1) = 0.5;
  diffusion(2, 2) = 0.25;
  diffusion(3, 0) = 0.5;
  diffusion(3, 2) = 0.5;
  const std::vector<double> absorbed = absorption_probability(diffusion);
  EXPECT_DOUBLE_EQ(absorbed[0], 0.5 + 0.5 * (1.0 / 3));
  EXPECT_DOUBLE_EQ(absorbed[1], 0.5 * (2.0 / 3));
  EXPECT_TRUE(std::isnan(absorbed[2]));
  EXPECT_TRUE(std::isnan(absorbed[3]));
}

TEST(Absorption, IsTheLimitOfTheSignalAndAllOfIt) {
  for (std::uint32_t index = 0; index < 300; ++index) {
    const auto system = testing_support::random_graph_system(index);
    const Matrix diffusion = combine_diffusion(system.heads, system.weights);
    const std::vector<double> absorbed = absorption_probability(diffusion);
    // Combined self-loops are at most 1 - 1/12 of a weight 1e-3 / 4 head: 2e5 steps drain
    // everything.
    std::vector<double> signal(absorbed.size(), 0.0);
    signal.back() = 1.0;
    for (int t = 0; t < 20000; ++t)
      for (int j = 0; j < diffusion.rows(); ++j) {
        double next = 0.0;
        for (int i = j; i < diffusion.rows(); ++i)
          next += signal[static_cast<std::size_t>(i)] * diffusion(i, j);
        signal[static_cast<std::size_t>(j)] = next;
      }
    double sum = 0.0;
    for (std::size_t j = 0; j < absorbed.size(); ++j) {
      if (std::isnan(absorbed[j])) continue;
      sum += absorbed[j];
      EXPECT_NEAR(absorbed[j], signal[j], 1e-9) << index;
    }
    EXPECT_NEAR(sum, 1.0, 1e-13);
  }
}

TEST(Passing, IsOneAtTheTargetAndHarmonicAbove) {
  for (std::uint32_t index = 0; index < 100; ++index) {
    const auto system = testing_support::random_attention_system(index);
    const Matrix diffusion = combine_diffusion(system.heads, system.weights);
    for (int target = 0; target < diffusion.rows(); ++target) {
      const std::vector<double> passing = passing_probability(diffusion, target);
      for (int i = 0; i < diffusion.rows(); ++i) {
        if (i <= target) {
          EXPECT_EQ(passing[static_cast<std::size_t>(i)], i == target ? 1.0 : 0.0);
          continue;
        }
        double next = 0.0;
        for (int k = 0; k <= i; ++k) next += diffusion(i, k) * passing[static_cast<std::size_t>(k)];
        EXPECT_NEAR(passing[static_cast<std::size_t>(i)], next, 1e-13);
        EXPECT_LE(passing[static_cast<std::size_t>(i)], 1.0 + 1e-14);
      }
    }
  }
}

TEST(LastArrival, IsTheLongestWayUnlessSomethingIsHeldUp) {
  // 4 -> 3 -> 1 -> 0 and 4 -> 1; 2 keeps half of what it gets but nothing gets there.
  Matrix diffusion(5, 5);
  diffusion(0, 0) = 1.0;
  diffusion(1, 0) = 1.0;
  diffusion(2, 0) = diffusion(2, 2) = 0.5;
  diffusion(3, 1) = 1.0;
  diffusion(4, 3) = diffusion(4, 1) = 0.5;
  EXPECT_EQ(last_arrival(diffusion), (std::vector<double>{3.0, 2.0, -1.0, 1.0, 0.0}));
  diffusion(3, 1) = 0.75;
  diffusion(3, 3) = 0.25;
  const double never = std::numeric_limits<double>::infinity();
  EXPECT_EQ(last_arrival(diffusion), (std::vector<double>{never, never, -1.0, 1.0, 0.0}));
}

// Rows that pass on less than the reciprocal of the largest double.
TEST(Absorption, OfRowsThatPassOnNextToNothing) {
  Matrix diffusion(4, 4);
  diffusion(0, 0) = diffusion(1, 1) = 1.0;
  diffusion(2, 0) = 1e-310;
  diffusion(2, 1) = 3e-310;
  diffusion(2, 2) = 1.0;
  diffusion(3, 2) = 1.0;
  const std::vector<double> absorbed = absorption_probability(diffusion);
  EXPECT_NEAR(absorbed[0], 0.25, 1e-13);
  EXPECT_NEAR(absorbed[1], 0.75, 1e-13);
  EXPECT_NEAR(passing_probability(diffusion, 1)[3], 0.75, 1e-13);
}

}  // namespace
}  // namespace synergraph

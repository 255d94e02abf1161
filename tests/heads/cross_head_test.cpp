#include "synergraph/heads/cross_head.h"

#include <gtest/gtest.h>

#include <cmath>

#include "synergraph/diffusion/fidelity.h"
#include "tests/support/random_inputs.h"

namespace synergraph {
namespace {

/// The multinomial expansion term by term: every sequence of heads, its weight and its product.
/// Returns the pure and the cross sums of the sink's row.
std::pair<std::vector<double>, std::vector<double>> expand(const testing_support::System& system,
                                                           int steps) {
  const std::size_t heads = system.heads.size();
  const int n = system.heads.front().diffusion.rows();
  std::vector<double> pure(static_cast<std::size_t>(n), 0.0);
  std::vector<double> cross = pure;
  std::size_t sequences = 1;
  for (int t = 0; t < steps; ++t) sequences *= heads;
  for (std::size_t code = 0; code < sequences; ++code) {
    std::vector<double> row(static_cast<std::size_t>(n), 0.0);
    row.back() = 1.0;
    bool changes = false;
    std::size_t rest = code;
    for (int t = 0; t < steps; ++t, rest /= heads) {
      const std::size_t h = rest % heads;
      changes = changes || h != code % heads;
      std::vector<double> next(static_cast<std::size_t>(n), 0.0);
      for (int i = 0; i < n; ++i)
        for (int j = 0; j <= i; ++j)
          next[static_cast<std::size_t>(j)] += row[static_cast<std::size_t>(i)] *
                                               system.weights[h] * system.heads[h].diffusion(i, j);
      row = next;
    }
    for (std::size_t j = 0; j < row.size(); ++j) (changes ? cross : pure)[j] += row[j];
  }
  return {pure, cross};
}

TEST(CrossHead, IsTheMultinomialExpansion) {
  for (std::uint32_t index = 0; index < 60; ++index) {
    for (const auto& system : {testing_support::random_graph_system(index),
                               testing_support::random_attention_system(index)}) {
      for (int steps = 1; steps <= 4; ++steps) {
        const CrossHead split = cross_head(system.heads, system.weights, steps);
        const auto [pure, cross] = expand(system, steps);
        for (std::size_t j = 0; j < pure.size(); ++j) {
          EXPECT_NEAR(split.pure[j], pure[j], 1e-13 * pure[j]);
          EXPECT_NEAR(split.cross[j], cross[j], 1e-13 * cross[j]);
        }
      }
    }
  }
}

TEST(CrossHead, PureAndCrossPartsGiveTheWhole) {
  for (std::uint32_t index = 0; index < 10000; ++index) {
    const auto system = index % 2 == 0 ? testing_support::random_graph_system(index)
                                       : testing_support::random_attention_system(index);
    const int steps = static_cast<int>(index % 15);
    const CrossHead split = cross_head(system.heads, system.weights, steps);
    for (std::size_t j = 0; j < split.whole.size(); ++j) {
      ASSERT_NEAR(split.pure[j] + split.cross[j], split.whole[j], 1e-13 * split.whole[j]) << index;
      const double share = split.share(static_cast<int>(j));
      if (split.whole[j] > 0.0) {
        ASSERT_GE(share, 0.0);
        ASSERT_LE(share, 1.0);
      } else {
        ASSERT_TRUE(std::isnan(share));
      }
    }
    if (system.heads.size() == 1 || steps <= 1) {
      for (const double cross : split.cross) ASSERT_EQ(cross, 0.0);
    }
  }
}

// H identical heads with equal weights: the pure share after t steps is H * H^-t.
TEST(CrossHead, OfIdenticalHeadsIsCombinatorial) {
  const auto system = testing_support::random_attention_system(3);
  std::vector<Head> heads(4, system.heads.front());
  const std::vector<double> weights(4, 0.25);
  for (int steps = 1; steps <= 10; ++steps) {
    const CrossHead split = cross_head(heads, weights, steps);
    EXPECT_NEAR(split.share(0), 1.0 - std::pow(4.0, 1 - steps), 1e-14);
  }
}

}  // namespace
}  // namespace synergraph

#include <gtest/gtest.h>

#include <cmath>

#include "synergraph/diffusion/fidelity.h"
#include "synergraph/heads/cross_head_share.h"
#include "synergraph/heads/measure.h"
#include "tests/support/cross_head.h"
#include "tests/support/random_inputs.h"

namespace synergraph {
namespace {

using testing_support::cross_head;
using testing_support::CrossHead;

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

/// The share of one node's signal, from heads that come one at a time.
double share_of(const std::vector<Head>& heads, const std::vector<double>& weights, int node,
                double time, double whole) {
  std::vector<MirroredMatrix> mirrored;
  for (const Head& head : heads) mirrored.emplace_back(head.diffusion);
  const Execution execution;
  const Matrix same_in_every_row;
  CrossHeadShare share(weights, same_in_every_row, node, time, whole, execution);
  for (std::size_t h = 0; h < heads.size(); ++h) share.add(static_cast<int>(h), mirrored[h]);
  return share.share(
      [&](int h) -> const MirroredMatrix& { return mirrored[static_cast<std::size_t>(h)]; });
}

// The share of one node is that of the step by step split, whichever part is the larger, down to
// weights that hardly count.
TEST(CrossHeadShare, EqualsTheSplitToItsLastDigits) {
  for (std::uint32_t index = 0; index < 2000; ++index) {
    auto system = index % 2 == 0 ? testing_support::random_graph_system(index)
                                 : testing_support::random_attention_system(index);
    if (index % 3 == 0) {  // one head has nearly all the weight
      std::vector<double> raw(system.heads.size(), 1e-12);
      raw[index % raw.size()] = 1.0;
      system.weights = normalised_weights(raw, raw.size());
    }
    const int steps = 1 + static_cast<int>(index % 40);
    const CrossHead split = cross_head(system.heads, system.weights, steps);
    for (std::size_t j = 0; j < split.whole.size(); ++j) {
      const double share =
          share_of(system.heads, system.weights, static_cast<int>(j), steps, split.whole[j]);
      const double expected = split.share(static_cast<int>(j));
      if (std::isnan(expected))
        ASSERT_TRUE(std::isnan(share));
      else
        ASSERT_NEAR(share, expected, 1e-12 * expected) << index << " node " << j;
    }
  }
}

// Head 1 keeps half and takes half from the token before, head 2 is uniform, weights 1 and w: of
// the paths to the first token in five steps all but the part of order w stay in head 1.
TEST(CrossHeadShare, LosesNoDigitWhereNearlyAllStays) {
  const int n = 6;
  Matrix previous(n, n);
  Matrix uniform(n, n);
  previous(0, 0) = 1.0;
  for (int i = 0; i < n; ++i) {
    if (i > 0) previous(i, i) = previous(i, i - 1) = 0.5;
    for (int j = 0; j <= i; ++j) uniform(i, j) = 1.0 / (i + 1);
  }
  const std::vector<Head> heads = {head_of_attention("", previous), head_of_attention("", uniform)};
  const std::vector<double> weights = normalised_weights({1.0, 1e-12}, 2);
  const HeadsMetrics metrics =
      measure_heads(heads, weights, convention_options(Convention::kExact));
  EXPECT_NEAR(metrics.cross_head_share, 5.3800e-12, 5e-16);
}

// Two chains without self-loops: the signal of the first node takes n - 1 steps, all of them in one
// head for the part sum_h w_h^(n-1).
TEST(CrossHeadShare, OfEqualChainsIsCombinatorial) {
  for (const int n : {2, 10, 26}) {
    const Head chain = heads_of_graph(multi_head_graph({{"", 1.0, chain_graph(n, false)}})).front();
    for (const double w : {0.5, 0.99, 1.0 - 1e-9}) {
      const std::vector<Head> heads = {chain, chain};
      const std::vector<double> weights = {w, 1.0 - w};
      const double other = weights[1];
      const double expected =
          n == 2 ? 0.0 : -std::expm1((n - 1) * std::log1p(-other)) - std::pow(other, n - 1);
      const HeadsMetrics metrics =
          measure_heads(heads, weights, convention_options(Convention::kExact));
      EXPECT_EQ(metrics.combined.fidelity.minimax_time, n - 1.0);
      EXPECT_NEAR(metrics.cross_head_share, expected, 1e-11 * expected) << n << ' ' << w;
      EXPECT_NEAR(cross_head(heads, weights, n - 1).share(0), expected, 1e-11);
    }
  }
}

// After millions of steps: two copies of a slow head with weights 1 - w and w, the share of paths
// that ever change is 1 - (1 - w)^t - w^t, whatever the head.
TEST(CrossHeadShare, HoldsForMillionsOfSteps) {
  Matrix slow(4, 4);
  slow(0, 0) = 1.0;
  for (int i = 1; i < 4; ++i) {
    slow(i, i - 1) = 0x1.0p-22;
    slow(i, i) = 1.0 - 0x1.0p-22;
  }
  const std::vector<Head> heads(2, head_of_attention("", slow));
  for (const double w : {0x1.0p-60, 0x1.0p-40, 0x1.0p-24, 0x1.0p-10, 0.5}) {
    const std::vector<double> weights = {1.0 - w, w};
    const HeadsMetrics metrics =
        measure_heads(heads, weights, convention_options(Convention::kExact));
    const double t = metrics.combined.fidelity.minimax_time;
    ASSERT_GT(t, 1e6);
    const double expected = -std::expm1(t * std::log1p(-w));
    EXPECT_NEAR(metrics.cross_head_share, expected, 1e-9 * expected) << w;
    EXPECT_EQ(metrics.synergy.value, 1.0);
  }
}

// Two copies of a head that needs 1e15 steps, weights 1 and 1e-15: 1 - w^t must know w's
// complement.
TEST(CrossHeadShare, KnowsWeightsThatAreNearlyOne) {
  for (const double leak : {1e-12, 1e-15}) {
    Matrix slow(3, 3);
    slow(0, 0) = slow(1, 1) = slow(2, 2) = 1.0;
    slow(1, 0) = slow(2, 1) = leak;
    normalise_attention(slow.view());
    const std::vector<Head> heads(2, head_of_attention("", slow));
    const HeadsMetrics metrics = measure_heads(heads, normalised_weights({1.0, leak}, 2),
                                               convention_options(Convention::kExact));
    const double t = metrics.combined.fidelity.minimax_time;
    const double expected = -std::expm1(t * std::log1p(-leak / (1.0 + leak)));
    EXPECT_NEAR(metrics.cross_head_share, expected, 1e-12) << leak;
  }
}

}  // namespace
}  // namespace synergraph

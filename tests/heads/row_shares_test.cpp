#include "synergraph/heads/row_shares.h"

#include <gtest/gtest.h>

#include <cmath>

#include "synergraph/core/convex_sum.h"
#include "synergraph/heads/attention_flow.h"
#include "synergraph/heads/cross_head_share.h"
#include "synergraph/heads/stack.h"
#include "synergraph/subsets/subset_values.h"
#include "tests/support/random_inputs.h"

namespace synergraph {
namespace {

using testing_support::random_attention;
using testing_support::random_attention_system;
using testing_support::System;

/// Heads whose weights are said row by row.
class WithShares : public HeadList {
 public:
  WithShares(const std::vector<Head>& heads, RowShares shares)
      : HeadList(heads), shares_(std::move(shares)) {}
  const RowShares* row_shares() override { return &shares_; }

 private:
  RowShares shares_;
};

/// The same weights in every row.
RowShares equal_rows(const std::vector<double>& weights, int nodes) {
  RowShares shares{Matrix(static_cast<int>(weights.size()), nodes)};
  for (int h = 0; h < shares.heads.rows(); ++h)
    for (int i = 0; i < nodes; ++i) shares.heads(h, i) = weights[static_cast<std::size_t>(h)];
  return shares;
}

std::vector<double> equal_weights(std::size_t heads) {
  return std::vector<double>(heads, 1.0 / static_cast<double>(heads));
}

void expect_close(double a, double b, const char* what, double tolerance = 1e-12) {
  if (std::isnan(b)) {
    EXPECT_TRUE(std::isnan(a)) << what;
  } else if (std::isinf(b)) {
    EXPECT_EQ(a, b) << what;
  } else {
    EXPECT_NEAR(a, b, tolerance * std::abs(b)) << what;
  }
}

TEST(RowShares, GiveTheWeightsOfSomeHeads) {
  RowShares shares{Matrix(3, 2)};
  shares.heads(0, 0) = 0.5;
  shares.heads(1, 0) = 0.25;
  shares.heads(2, 0) = 0.25;
  shares.heads(2, 1) = 1.0;
  const std::vector<int> heads = {0, 1};
  const std::vector<double> weights = {0.5, 0.5};
  const Matrix rows = weights_by_row(&shares, heads, weights);
  EXPECT_DOUBLE_EQ(rows(0, 0), 2.0 / 3.0);
  EXPECT_DOUBLE_EQ(rows(1, 0), 1.0 / 3.0);
  EXPECT_DOUBLE_EQ(rows(0, 1), 0.5);  // neither moves anything: they count equally
  EXPECT_DOUBLE_EQ(rows(1, 1), 0.5);
  EXPECT_EQ(weights_by_row(nullptr, heads, weights).rows(), 0);
}

// The mean of copies of one matrix is that matrix to the last bit, whatever the weights of rows.
TEST(RowShares, MeansOfCopiesAreExact) {
  RandomSequence draws(1, Purpose::kTest, 0);
  const Matrix head = random_attention(9, 2.0, draws);
  ConvexSum sum(9, 9, ConvexSum::Part::kLower);
  for (int copy = 0; copy < 5; ++copy) {
    std::vector<double> weights;
    for (int i = 0; i < 9; ++i) weights.push_back(draws.uniform());
    sum.add_by_row(head, weights.data());
  }
  const Matrix mean = sum.take();
  for (int i = 0; i < 9; ++i)
    for (int j = 0; j <= i; ++j) EXPECT_EQ(mean(i, j), head(i, j));
}

// Weights that are the same in every row are weights of heads, in every number.
TEST(RowShares, EqualInEveryRowAreWeightsOfHeads) {
  for (std::uint32_t index = 0; index < 300; ++index) {
    const System system = random_attention_system(index);
    std::vector<MetricsOptions> conventions = {convention_options(Convention::kExact),
                                               convention_options(Convention::kPublished),
                                               convention_options(Convention::kExact)};
    conventions.back().normalization = Normalization::kPerHead;
    const int nodes = system.heads.front().diffusion.rows();
    WithShares rows(system.heads, equal_rows(system.weights, nodes));
    HeadList scalar(system.heads);
    const auto given =
        measure(rows, equal_weights(system.heads.size()), {.conventions = conventions});
    const auto expected = measure(scalar, system.weights, {.conventions = conventions});
    for (std::size_t c = 0; c < conventions.size(); ++c) {
      SCOPED_TRACE(testing::Message() << "system " << index << ", convention " << c);
      expect_close(given[c].combined.fidelity.minimax, expected[c].combined.fidelity.minimax,
                   "fidelity");
      expect_close(given[c].combined.walk.hitting.mean, expected[c].combined.walk.hitting.mean,
                   "hitting mean", 1e-9);
      expect_close(given[c].combined.walk.truncated.mean, expected[c].combined.walk.truncated.mean,
                   "truncated mean");
      expect_close(given[c].effective_forward_probability,
                   expected[c].effective_forward_probability, "effective p");
      expect_close(given[c].mixing_synergy, expected[c].mixing_synergy, "mixing synergy");
      expect_close(given[c].cross_head_share, expected[c].cross_head_share, "cross-head share",
                   1e-9);
      for (std::size_t h = 0; h < system.weights.size(); ++h)
        expect_close(given[c].moved_shares[h], system.weights[h], "share");
    }
    EXPECT_TRUE(expected.front().moved_shares.empty());
  }
}

// Half of the rows move nothing: the bound holds with the effective forward probability.
TEST(RowShares, KeepTheBoundOnMixing) {
  for (std::uint32_t index = 0; index < 300; ++index) {
    const System system = random_attention_system(index);
    const int nodes = system.heads.front().diffusion.rows();
    RandomSequence draws(77, Purpose::kTest, index);
    RowShares shares{Matrix(static_cast<int>(system.heads.size()), nodes)};
    for (int i = 0; i < nodes; ++i)
      for (int h = 0; h < shares.heads.rows(); ++h)
        shares.heads(h, i) = draws.uniform() < 0.5 ? 0.0 : draws.uniform();
    WithShares rows(system.heads, shares);
    MetricsOptions convention = convention_options(Convention::kExact);
    convention.normalization = Normalization::kPerHead;
    const HeadsMetrics metrics =
        measure(rows, equal_weights(system.heads.size()), {.conventions = {convention}}).front();
    EXPECT_LE(metrics.effective_forward_probability,
              metrics.combined.forward_probability * (1.0 + 1e-12));
    const double p = metrics.effective_forward_probability;
    if (p * (nodes - 1) >= std::log(4.0)) {
      EXPECT_LE(metrics.combined.walk.mixing.front(), metrics.effective_bound.steps);
    }
  }
}

TEST(RowShares, OfSubsetsAreThoseOfTheirHeads) {
  for (std::uint32_t index = 0; index < 100; ++index) {
    const System system = random_attention_system(index);
    const int nodes = system.heads.front().diffusion.rows();
    for (const Normalization normalization :
         {Normalization::kPooled, Normalization::kPerHead, Normalization::kPublished}) {
      SubsetOptions options;
      options.convention.normalization = normalization;
      WithShares rows(system.heads, equal_rows(system.weights, nodes));
      HeadList scalar(system.heads);
      const SubsetValues given = subset_values(rows, equal_weights(system.heads.size()), options);
      const SubsetValues expected = subset_values(scalar, system.weights, options);
      for (std::size_t s = 0; s < expected.fidelity.size(); ++s) {
        EXPECT_NEAR(given.fidelity[s], expected.fidelity[s], 1e-11) << index << ' ' << s;
        EXPECT_NEAR(given.speed[s], expected.speed[s], 1e-11) << index << ' ' << s;
      }
    }
  }
}

// Two copies of a slow head with weights 1 - w and w in every row: as in
// CrossHeadShare.HoldsForMillionsOfSteps.
TEST(RowShares, CrossHeadShareHoldsForMillionsOfSteps) {
  Matrix slow(4, 4);
  slow(0, 0) = 1.0;
  for (int i = 1; i < 4; ++i) {
    slow(i, i - 1) = 0x1.0p-22;
    slow(i, i) = 1.0 - 0x1.0p-22;
  }
  const std::vector<Head> heads(2, head_of_attention("", slow));
  for (const double w : {0x1.0p-60, 0x1.0p-40, 0x1.0p-24, 0x1.0p-10, 0.5}) {
    WithShares rows(heads, equal_rows({1.0 - w, w}, 4));
    const HeadsMetrics metrics =
        measure(rows, equal_weights(2), {.conventions = {convention_options(Convention::kExact)}})
            .front();
    const double t = metrics.combined.fidelity.minimax_time;
    ASSERT_GT(t, 1e6);
    const double expected = -std::expm1(t * std::log1p(-w));
    EXPECT_NEAR(metrics.cross_head_share, expected, 1e-9 * expected) << w;
  }
}

// The first token keeps what it gets, in head 0 alone: a path that never leaves head 0 has that
// head's weight at each token on its way, so of the way over tokens 2, 1, 0 the share is w(2) w(1).
TEST(RowShares, CrossHeadShareInTheLimit) {
  Matrix chain(3, 3);
  chain(0, 0) = chain(1, 0) = chain(2, 1) = 1.0;
  Matrix slow = chain;
  slow(1, 0) = slow(2, 1) = slow(1, 1) = slow(2, 2) = 0.5;
  const std::vector<Head> heads(2, head_of_attention("", slow));
  RowShares shares = equal_rows({0.75, 0.25}, 3);
  shares.heads(0, 0) = 1.0;
  shares.heads(1, 0) = 0.0;
  const Matrix by_row = weights_by_row(&shares, equal_weights(2));
  const std::vector<double> weights = equal_weights(2);
  const Execution execution;
  CrossHeadShare share(weights, by_row, 0, std::numeric_limits<double>::infinity(), 1.0, execution);
  const MirroredMatrix mirrored(slow);
  share.add(0, mirrored);
  share.add(1, mirrored);
  // From a token, head 0 passes on 3/8, the path leaves head 0 with 1/4, and else waits.
  EXPECT_NEAR(share.share([&](int) -> const MirroredMatrix& { return mirrored; }),
              1.0 - std::pow(0.375 / 0.625, 2), 1e-14);
}

// What little is moved is not lost beside a residual of almost 1.
TEST(RowShares, MeasureWhatHardlyMoves) {
  const System system = random_attention_system(3);
  const int nodes = system.heads.front().diffusion.rows();
  RowShares shares = equal_rows(system.weights, nodes);
  shares.residual.assign(static_cast<std::size_t>(nodes), 1.0);
  shares.moved.assign(static_cast<std::size_t>(nodes), 1e-20);
  WithShares rows(system.heads, shares);
  const std::vector<HeadSource*> layers(1, &rows);
  const std::vector<std::vector<double>> weights(1, equal_weights(system.heads.size()));
  const Stack stack = measure_stack(layers, weights, {.flow = true});
  for (int j = 0; j + 1 < nodes; ++j) {
    double moved = 0.0;
    for (std::size_t h = 0; h < system.heads.size(); ++h)
      moved += 1e-20 * system.weights[h] * system.heads[h].diffusion(nodes - 1, j);
    EXPECT_NEAR(stack.signal[static_cast<std::size_t>(j)], moved, 1e-13 * moved);
    EXPECT_NEAR(stack.flow[static_cast<std::size_t>(j)], moved, 1e-13 * moved);
  }
  double heads = 0.0;
  for (const double share : stack.shares.front().heads) heads += share;
  EXPECT_NEAR(heads, 1e-20, 1e-33);
}

// A residual that is measured as a in every row is a residual share of a.
TEST(RowShares, MeasureTheResidualOfTheStack) {
  for (std::uint32_t index = 0; index < 50; ++index) {
    const System system = random_attention_system(index);
    const int nodes = system.heads.front().diffusion.rows();
    RowShares shares = equal_rows(system.weights, nodes);
    shares.residual.assign(static_cast<std::size_t>(nodes), 0.3);
    WithShares rows(system.heads, shares);
    HeadList scalar(system.heads);
    std::vector<HeadSource*> given(3, &rows);
    std::vector<HeadSource*> plain(3, &scalar);
    const std::vector<std::vector<double>> equal(3, equal_weights(system.heads.size()));
    const std::vector<std::vector<double>> weights(3, system.weights);
    const Stack one = measure_stack(given, equal, {.flow = true});
    const Stack other = measure_stack(plain, weights, {.residual = 0.3, .flow = true});
    EXPECT_TRUE(one.measured_residual);
    EXPECT_FALSE(other.measured_residual);
    StackMeasurement in_order({.flow = true});
    for (int l = 0; l < 3; ++l) in_order.add(rows, equal.front());
    for (int l = 0; l < 3; ++l) in_order.follow(rows);
    const Stack third = in_order.take();
    for (std::size_t j = 0; j < one.signal.size(); ++j) {
      EXPECT_NEAR(one.signal[j], other.signal[j], 1e-13);
      EXPECT_NEAR(one.flow[j], other.flow[j], 1e-12);
      EXPECT_NEAR(third.signal[j], other.signal[j], 1e-13);
      EXPECT_NEAR(third.flow[j], other.flow[j], 1e-12);
      EXPECT_GE(one.flow[j], one.signal[j] - 1e-13);  // the signal is a flow
    }
    for (std::size_t l = 0; l < 3; ++l) {
      EXPECT_NEAR(one.shares[l].residual, 0.3, 1e-13);
      double sum = one.shares[l].residual;
      for (std::size_t h = 0; h < system.weights.size(); ++h) {
        EXPECT_NEAR(one.shares[l].heads[h], 0.7 * system.weights[h], 1e-13);
        EXPECT_NEAR(one.layers[l].heads[h], other.layers[l].heads[h], 1e-12);
        EXPECT_NEAR(third.shares[l].heads[h], one.shares[l].heads[h], 1e-13);
        sum += one.shares[l].heads[h];
      }
      EXPECT_NEAR(sum, 1.0, 1e-13);
    }
  }
}

TEST(AttentionFlow, OfOneLayerIsItsLastRow) {
  RandomSequence draws(3, Purpose::kTest, 0);
  const Matrix layer = random_attention(12, 1.0, draws);
  const std::vector<double> flow = attention_flow({layer});
  for (int j = 0; j < 12; ++j) EXPECT_EQ(flow[static_cast<std::size_t>(j)], layer(11, j));
}

// A way back is needed: the shortest ways alone do not give the maximum.
TEST(AttentionFlow, TakesFlowBack) {
  Matrix first(4, 4);
  first(1, 0) = first(2, 0) = 1.0;
  Matrix second(4, 4);
  second(2, 1) = 1.0;
  second(3, 1) = second(2, 2) = second(3, 2) = 1.0;
  Matrix third(4, 4);
  third(3, 2) = 1.0;
  third(3, 3) = 2.0;
  EXPECT_EQ(attention_flow({first, second, third}).front(), 2.0);
  EXPECT_EQ(attention_flow({first, second, third}).back(), 0.0);
}

}  // namespace
}  // namespace synergraph

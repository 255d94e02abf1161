#include "synergraph/heads/measure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "synergraph/core/error.h"
#include "tests/support/cross_head.h"
#include "tests/support/random_inputs.h"

namespace synergraph {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

MetricsOptions theory_options() {
  MetricsOptions options = convention_options(Convention::kExact);
  options.normalization = Normalization::kPerHead;
  return options;
}

// Neither head ever carries u to tau; together they do, and mix in 10 steps.
// A line of text can ask for many large matrices: that is refused before they are made.
TEST(HeadsOfGraph, KeepToTheMemory) {
  std::vector<GraphHead> parts;
  for (int h = 0; h < 8; ++h) parts.push_back({"", 1.0, chain_graph(kMaxNodes)});
  EXPECT_THROW(heads_of_graph(multi_head_graph(std::move(parts))), InputError);
  const MultiHeadGraph small = multi_head_graph({{"", 1.0, chain_graph(64)}});
  constexpr std::size_t kNeeded = 5 * 64 * 64 * sizeof(double);
  EXPECT_EQ(heads_of_graph(small, kNeeded).size(), 1U);
  EXPECT_THROW(heads_of_graph(small, kNeeded - 1), InputError);
}

TEST(WorkedExample1, HeadsThatFailAloneSucceedTogether) {
  const std::vector<Head> heads = heads_of_graph(worked_example(1));
  for (const double w : {0.5, 0.25, 0.9}) {
    const std::vector<double> weights = {w, 1.0 - w};
    const Matrix signal = signal_curves(combine_diffusion(heads, weights), 2);
    EXPECT_DOUBLE_EQ(signal(2, 0), w * (1.0 - w) / 4.0);
    for (const Head& head : heads) EXPECT_EQ(signal_curves(head.diffusion, 2)(2, 0), 0.0);
    EXPECT_EQ(testing_support::cross_head(heads, weights, 2).share(0), 1.0);
  }
  const HeadsMetrics metrics = measure_heads(heads, {0.5, 0.5}, theory_options());
  for (const Metrics& head : metrics.heads) {
    EXPECT_EQ(head.walk.mixing[0], kInfinity);
    EXPECT_EQ(head.fidelity.minimax, 0.0);
    EXPECT_EQ(head.forward_probability, 0.0);
    EXPECT_EQ(head.bound.steps, kInfinity);
  }
  EXPECT_EQ(metrics.combined.walk.mixing[0], 10.0);
  EXPECT_EQ(metrics.combined.fidelity.minimax, 27.0 / 64);
  EXPECT_EQ(metrics.mixing_synergy, kInfinity);
  EXPECT_EQ(metrics.synergy.value, kInfinity);
}

// The combined minimax fidelity exceeds that of either head: 3/8, 1/4, and 5/12 together.
TEST(WorkedExample2, CombinedExceedsTheBestHead) {
  const std::vector<Head> heads = heads_of_graph(worked_example(2));
  const HeadsMetrics metrics = measure_heads(heads, {0.5, 0.5}, theory_options());
  EXPECT_NEAR(metrics.heads[0].fidelity.minimax, 0.375, 1e-15);
  EXPECT_NEAR(metrics.heads[1].fidelity.minimax, 0.25, 1e-15);
  EXPECT_NEAR(metrics.combined.fidelity.minimax, 5.0 / 12, 1e-15);
  EXPECT_EQ(metrics.synergy.best_head, 0);
  EXPECT_NEAR(metrics.synergy.value, (5.0 / 12) / 0.375, 1e-14);
  EXPECT_TRUE(metrics.combined.fidelity.certified);
}

TEST(Weights, AreNormalisedAndChecked) {
  EXPECT_EQ(normalised_weights({1, 3}, 2), (std::vector<double>{0.25, 0.75}));
  EXPECT_EQ(normalised_weights({0, 3}, 2), (std::vector<double>{0, 1}));
  EXPECT_THROW(normalised_weights({1, 3}, 3), InputError);
  EXPECT_THROW(normalised_weights({1, -3}, 2), InputError);
  EXPECT_THROW(normalised_weights({0, 0}, 2), InputError);
  EXPECT_THROW(normalised_weights({1, std::nan("")}, 2), InputError);
  EXPECT_EQ(normalised_weights({1e308, 1e308}, 2), (std::vector<double>{0.5, 0.5}));
  EXPECT_EQ(normalised_weights({1e-310, 3e-310}, 2)[1], 3e-310 / (1e-310 + 3e-310));
}

TEST(LearnedWeights, AreTheNormsOfColumnBlocks) {
  Matrix projection(2, 4);
  projection(0, 0) = 3.0;
  projection(1, 1) = 4.0;  // first block: norm 5
  projection(0, 2) = 6.0;
  projection(0, 3) = 8.0;
  projection(1, 2) = 10.0;
  projection(1, 3) = std::sqrt(25.0);  // second block: norm 15
  EXPECT_EQ(learned_weights(projection, 2), (std::vector<double>{0.25, 0.75}));
  EXPECT_THROW(learned_weights(projection, 3), InputError);
  EXPECT_THROW(learned_weights(projection, 0), InputError);
}

TEST(MeasureHeads, OfOneHeadIsTheHead) {
  for (std::uint32_t index = 0; index < 300; ++index) {
    auto system = testing_support::random_attention_system(index);
    system.heads.resize(1);
    for (const auto convention : {Convention::kExact, Convention::kPublished}) {
      const HeadsMetrics metrics =
          measure_heads(system.heads, {1.0}, convention_options(convention));
      EXPECT_EQ(metrics.synergy.best_head, 0);
      const double alone = metrics.heads[0].fidelity.minimax;
      EXPECT_NEAR(metrics.combined.fidelity.minimax, alone, 1e-14 * alone);
      EXPECT_EQ(metrics.combined.walk.mixing, metrics.heads[0].walk.mixing);
      EXPECT_EQ(metrics.cross_head_share, 0.0);
    }
  }
}

TEST(MeasureHeads, HandlesOneAndTwoNodes) {
  for (const int nodes : {1, 2}) {
    for (const auto convention : {Convention::kExact, Convention::kPublished}) {
      RandomSequence draws(1, Purpose::kTest);
      const std::vector<Head> heads = {
          head_of_attention("a", testing_support::random_attention(nodes, 1.0, draws)),
          head_of_attention("b", testing_support::random_attention(nodes, 1.0, draws))};
      const HeadsMetrics metrics = measure_heads(heads, {0.5, 0.5}, convention_options(convention));
      EXPECT_GE(metrics.combined.fidelity.minimax, 0.0);
      EXPECT_LE(metrics.combined.fidelity.minimax, 1.0);
      if (nodes == 1) {
        EXPECT_EQ(metrics.combined.walk.mixing[0], 0.0);
        EXPECT_EQ(metrics.combined.walk.hitting.max, 0.0);
        EXPECT_EQ(metrics.combined.fidelity.minimax, 1.0);
      }
    }
  }
}

TEST(MeasureHeads, HandlesIdentityHeadsAndAlmostIdentityHeads) {
  for (const double leak : {0.0, 1e-300, 1e-13}) {
    const int n = 20;
    Matrix attention(n, n);
    for (int i = 0; i < n; ++i) {
      attention(i, i) = 1.0;
      if (i > 0) attention(i, i - 1) = leak;
    }
    const std::vector<Head> heads(3, head_of_attention("", attention));
    MetricsOptions options = convention_options(Convention::kExact);
    options.fidelity.step_limit = 1000;
    const HeadsMetrics metrics = measure_heads(heads, normalised_weights({1, 1, 1}, 3), options);
    if (leak == 0.0) {
      EXPECT_EQ(metrics.combined.walk.mixing[0], kInfinity);
      EXPECT_EQ(metrics.combined.fidelity.minimax, 0.0);
      EXPECT_TRUE(metrics.combined.fidelity.certified);
      EXPECT_TRUE(std::isnan(metrics.synergy.value));
    } else {
      // Each of n - 1 moves takes 1/leak steps on average (exactly (1 + leak) / leak).
      EXPECT_NEAR(metrics.combined.walk.hitting.max * leak, n - 1.0, 1e-10);
      EXPECT_GT(metrics.combined.walk.mixing[0] * leak, n - 1.0);
      EXPECT_LT(metrics.combined.walk.mixing[0] * leak, 2.0 * n);
      EXPECT_LE(metrics.combined.fidelity.minimax, metrics.combined.fidelity.minimax_upper);
    }
  }
}

TEST(Ratio, SaysWhatCannotBeCompared) {
  EXPECT_EQ(ratio(3, 2), 1.5);
  EXPECT_EQ(ratio(3, 0), kInfinity);
  EXPECT_EQ(ratio(kInfinity, 10), kInfinity);
  EXPECT_EQ(ratio(10, kInfinity), 0.0);
  EXPECT_TRUE(std::isnan(ratio(0, 0)));
  EXPECT_TRUE(std::isnan(ratio(kInfinity, kInfinity)));
}

// Copies of one head are that head: no synergy, to the last bit, however many and however slow.
TEST(Synergy, OfCopiesIsExactlyOne) {
  const double d = 0x1.0p-14;
  Matrix slow(3, 3);
  slow(0, 0) = 1.0;
  slow(1, 0) = slow(2, 1) = d;
  slow(1, 1) = slow(2, 2) = 1.0 - d;
  std::vector<Head> originals = {head_of_attention("", slow)};
  for (std::uint32_t index = 0; index < 100; ++index)
    originals.push_back(testing_support::random_attention_system(index).heads.front());
  for (const int nodes : {2, 3, 9})
    originals.push_back(heads_of_graph(multi_head_graph({{"", 1.0, chain_graph(nodes)}})).front());
  for (const Head& head : originals)
    for (const std::size_t copies : {2U, 9U, 13U}) {
      const std::vector<Head> heads(copies, head);
      for (const auto convention : {Convention::kExact, Convention::kPublished}) {
        const HeadsMetrics metrics =
            measure_heads(heads, normalised_weights(std::vector<double>(copies, 1.0), copies),
                          convention_options(convention));
        if (metrics.combined.fidelity.minimax > 0.0) {
          EXPECT_EQ(metrics.synergy.value, 1.0);
        }
        EXPECT_EQ(metrics.synergy.present(), false);
        EXPECT_EQ(metrics.combined.walk.mixing, metrics.heads[0].walk.mixing);
      }
    }
}

// The slow head is the better one, by far, but needs a hundred million steps to show it.
TEST(Synergy, TheBestHeadMayBeSlow) {
  Matrix slow(3, 3);
  slow(0, 0) = 1.0;
  slow(1, 0) = slow(2, 1) = 1e-8;
  slow(1, 1) = slow(2, 2) = 0.99999999;
  Matrix fast(3, 3);
  fast(0, 0) = 1.0;
  fast(1, 0) = fast(2, 0) = 0.9;
  fast(1, 1) = 0.1;
  fast(2, 1) = 0.0625;
  fast(2, 2) = 0.0375;
  const std::vector<Head> heads = {head_of_attention("", slow), head_of_attention("", fast)};
  MetricsOptions options = convention_options(Convention::kExact);
  const HeadsMetrics exact = measure_heads(heads, {0.5, 0.5}, options);
  EXPECT_EQ(exact.synergy.best_head, 0);
  EXPECT_TRUE(exact.synergy.best_head_decided);
  EXPECT_NEAR(exact.synergy.best_head_fidelity, std::exp(-1.0), 1e-8);
  EXPECT_NEAR(exact.synergy.value, 0.0908, 5e-5);
  EXPECT_EQ(exact.synergy.present(), false);
  // With a limit the intervals do not decide it, and that is said.
  options.fidelity.step_limit = 100;
  const HeadsMetrics limited = measure_heads(heads, {0.5, 0.5}, options);
  EXPECT_FALSE(limited.synergy.best_head_decided);
  EXPECT_TRUE(std::isnan(limited.synergy.value));
  EXPECT_LE(limited.synergy.lower, exact.synergy.value);
  EXPECT_GE(limited.synergy.upper, exact.synergy.value);
  EXPECT_EQ(limited.synergy.present(), false);  // 0.0334 against at least 0.0625
}

TEST(Synergy, IsDecidedByTheIntervalsWhereTheyDecide) {
  using testing::Optional;
  const Synergy clear = compare_with_best({{0.2, 0.3}, {0.4, 0.5}}, {0.6, 0.7});
  EXPECT_EQ(clear.best_head, 1);
  EXPECT_TRUE(clear.best_head_decided);
  EXPECT_DOUBLE_EQ(clear.lower, 1.2);
  EXPECT_DOUBLE_EQ(clear.upper, 1.75);
  EXPECT_TRUE(std::isnan(clear.value));
  EXPECT_THAT(clear.present(), Optional(true));
  const Synergy open = compare_with_best({{0.2, 0.6}, {0.4, 0.5}}, {0.5, 0.5});
  EXPECT_EQ(open.best_head, 1);
  EXPECT_FALSE(open.best_head_decided);
  EXPECT_EQ(open.best_head_fidelity_upper, 0.6);
  EXPECT_EQ(open.present(), std::nullopt);
  const Synergy tie = compare_with_best({{0.4, 0.4}, {0.4, 0.4}}, {0.4, 0.4});
  EXPECT_EQ(tie.best_head, 0);
  EXPECT_TRUE(tie.best_head_decided);
  EXPECT_EQ(tie.value, 1.0);
  EXPECT_THAT(tie.present(), Optional(false));
  EXPECT_TRUE(std::isnan(compare_with_best({{0, 0}}, {0, 0}).value));
  EXPECT_THAT(compare_with_best({{0, 0}}, {0, 0}).present(), Optional(false));
}

TEST(LearnedWeights, OfHugeAndTinyProjections) {
  Matrix projection(1, 2);
  for (const double unit : {1e-200, 1.0, 1e200}) {
    projection(0, 0) = unit;
    projection(0, 1) = 3.0 * unit;
    EXPECT_DOUBLE_EQ(learned_weights(projection, 2)[1], 0.75);
  }
}

}  // namespace
}  // namespace synergraph

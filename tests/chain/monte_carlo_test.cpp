#include "synergraph/chain/monte_carlo.h"

#include <gtest/gtest.h>

#include <cmath>

#include "synergraph/chain/hitting.h"
#include "synergraph/core/error.h"
#include "synergraph/graph/generators.h"
#include "tests/support/random_inputs.h"

namespace synergraph {
namespace {

/// Within 4.5 standard errors; a deterministic estimate must be exact to rounding.
void expect_agreement(const MonteCarloEstimate& estimate, const HittingTimes& exact) {
  EXPECT_NEAR(estimate.mean, exact.mean, 4.5 * estimate.mean_error + 1e-12 * exact.mean);
}

TEST(MonteCarlo, AgreesWithTheExactMeanUnderEveryNormalisation) {
  const MonteCarloOptions options{.walks = 200, .cutoff = 40, .seed = 11};
  for (std::uint32_t index = 0; index < 250; ++index) {
    SCOPED_TRACE(index);
    for (const auto& system : {testing_support::random_graph_system(index),
                               testing_support::random_attention_system(index)}) {
      for (const auto normalization : {Normalization::kPerHead, Normalization::kPooled}) {
        const Walk walk = combine_walk(system.heads, system.weights, normalization);
        expect_agreement(simulate(walk, options), truncated_hitting_times(walk, options.cutoff));
      }
      const Matrix pooled = combine_diffusion(system.heads, system.weights);
      expect_agreement(simulate_published(pooled, options),
                       truncated_hitting_times(published_walk(pooled), options.cutoff));
    }
  }
}

TEST(MonteCarlo, StandardErrorsAreThoseOfTheLaw) {
  // T from any node of a star is geometric with parameter 1/2: variance 2.
  const MonteCarloEstimate estimate =
      simulate(walk_of_graph(star_graph(20)), {.walks = 20000, .cutoff = 1000});
  EXPECT_NEAR(estimate.mean_error, std::sqrt(19 * 2.0 / 20000) / 20,
              0.02 * std::sqrt(19 * 2.0 / 20000) / 20);
  EXPECT_EQ(estimate.node[19], 0.0);
}

TEST(MonteCarlo, IsTheSameForAnyNumberOfThreads) {
  const auto system = testing_support::random_attention_system(42);
  const Walk walk = combine_walk(system.heads, system.weights, Normalization::kPooled);
  MonteCarloOptions options{.walks = 200, .cutoff = 50, .seed = 3};
  const MonteCarloEstimate one = simulate(walk, options, {.threads = 1});
  for (const int threads : {2, 7}) {
    const MonteCarloEstimate many = simulate(walk, options, {.threads = threads});
    EXPECT_EQ(many.node, one.node);
    EXPECT_EQ(many.mean, one.mean);
    EXPECT_EQ(many.mean_error, one.mean_error);
  }
  options.seed = 4;
  EXPECT_NE(simulate(walk, options).node, one.node);
}

TEST(MonteCarlo, RejectsTooFewWalks) {
  const Walk walk = walk_of_graph(chain_graph(3));
  EXPECT_THROW(simulate(walk, {.walks = 1}), UsageError);
  EXPECT_THROW(simulate(walk, {.walks = 5, .cutoff = -1}), UsageError);
}

// The sample variance divides by S - 1: two walks from the first node of two.
TEST(MonteCarlo, ErrorsDivideByOneLess) {
  const MonteCarloEstimate two =
      simulate(walk_of_graph(star_graph(2)), {.walks = 2, .cutoff = 1000, .seed = 5});
  const MonteCarloEstimate other =
      simulate(walk_of_graph(star_graph(2)), {.walks = 2, .cutoff = 1000, .seed = 5});
  EXPECT_EQ(two.mean, other.mean);
  // Times a and b: their mean m, variance (a - m)^2 + (b - m)^2 over 1, error sqrt(variance / 2)
  // = |a - b| / 2. All of them are whole numbers, so twice the mean and twice the error have the
  // same parity, and the error is not zero for some seed.
  int distinct = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const MonteCarloEstimate estimate =
        simulate(walk_of_graph(star_graph(2)), {.walks = 2, .cutoff = 1000, .seed = seed});
    const double sum = 2.0 * estimate.node[0];
    const double difference = 4.0 * estimate.mean_error;  // of two nodes, one is there
    EXPECT_EQ(difference, std::round(difference)) << seed;
    EXPECT_EQ(std::fmod(sum + difference, 2.0), 0.0) << seed;
    distinct += difference > 0.0 ? 1 : 0;
  }
  EXPECT_GT(distinct, 5);
}

// A walk that leaves once in a thousand: fifty walks of a hundred steps mostly see nothing, and the
// standard error is 0. The bound knows that it could have been missed.
TEST(MonteCarlo, BoundsHoldWhereNothingRareWasSeen) {
  const Walk walk = walk_of_graph(FeedforwardGraph(2, {{0, 1, 1e-5}}));
  const double exact = truncated_hitting_times(walk, 100).mean;
  const MonteCarloEstimate estimate = simulate(walk, {.walks = 50, .cutoff = 100});
  ASSERT_EQ(estimate.mean_error, 0.0);
  EXPECT_NE(estimate.mean, exact);
  EXPECT_LE(std::abs(estimate.mean - exact), estimate.mean_bound);
  // And they hold for at least 95 of 100 in general, with room to spare.
  int failed = 0;
  for (std::uint32_t index = 0; index < 200; ++index) {
    const auto system = testing_support::random_attention_system(index);
    const Walk random = combine_walk(system.heads, system.weights, Normalization::kPooled);
    const HittingTimes times = truncated_hitting_times(random, 30);
    const MonteCarloEstimate sampled = simulate(random, {.walks = 20, .cutoff = 30, .seed = index});
    failed += std::abs(sampled.mean - times.mean) > sampled.mean_bound * (1 + 1e-12) ? 1 : 0;
  }
  EXPECT_EQ(failed, 0);
}

}  // namespace
}  // namespace synergraph

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
  for (int j = 0; j < 19; ++j)
    EXPECT_NEAR(estimate.node_error[static_cast<std::size_t>(j)], std::sqrt(2.0 / 20000),
                0.05 * std::sqrt(2.0 / 20000));
  EXPECT_NEAR(estimate.mean_error, std::sqrt(19 * 2.0 / 20000) / 20,
              0.02 * std::sqrt(19 * 2.0 / 20000) / 20);
  EXPECT_EQ(estimate.node[19], 0.0);
}

TEST(MonteCarlo, IsTheSameForAnyNumberOfThreads) {
  const auto system = testing_support::random_attention_system(42);
  const Walk walk = combine_walk(system.heads, system.weights, Normalization::kPooled);
  MonteCarloOptions options{.walks = 200, .cutoff = 50, .seed = 3, .threads = 1};
  const MonteCarloEstimate one = simulate(walk, options);
  for (const int threads : {2, 7}) {
    options.threads = threads;
    const MonteCarloEstimate many = simulate(walk, options);
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

}  // namespace
}  // namespace synergraph

#include "synergraph/weights/best_weights.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "synergraph/core/error.h"
#include "synergraph/diffusion/fidelity.h"
#include "synergraph/heads/measure.h"
#include "tests/support/random_inputs.h"
#include "tests/weights/weights_reference.h"

namespace synergraph {
namespace {

using namespace testing_support;  // NOLINT: this test's own helpers

MetricsOptions with(Normalization normalization) {
  MetricsOptions options = convention_options(
      normalization == Normalization::kPublished ? Convention::kPublished : Convention::kExact);
  options.normalization = normalization;
  return options;
}

/// The goal as measure() has it.
double measured(const std::vector<Head>& heads, const std::vector<double>& weights, WeightGoal goal,
                const MetricsOptions& options) {
  if (goal == WeightGoal::kFidelity)
    return fidelity(combine_diffusion(heads, weights), options.fidelity).minimax;
  const Walk walk = combine_walk(heads, weights, options.normalization);
  if (goal == WeightGoal::kHittingTime) return hitting_times(walk).mean;
  const auto cutoff = options.walk.cutoff;
  return 1.0 - truncated_hitting_times(walk, cutoff).mean / static_cast<double>(cutoff);
}

/// Is `a` no better than `b`, but for rounding?
void expect_no_better(double a, double b, WeightGoal goal) {
  constexpr double kRounding = 1e-12;
  if (goal == WeightGoal::kHittingTime)
    EXPECT_GE(a * (1.0 + kRounding), b);
  else
    EXPECT_LE(a, b * (1.0 + kRounding) + 1e-300);
}

std::vector<Head> softmax_heads(int nodes, int count, double sharpness, std::uint32_t index) {
  RandomSequence draws(31, Purpose::kTest, index);
  std::vector<Head> heads;
  for (int h = 0; h < count; ++h)
    heads.push_back(head_of_attention("", random_attention(nodes, sharpness, draws)));
  return heads;
}

/// All weights with multiples of 1 / parts within `radius` of `centre`.
void visit_simplex(const std::vector<double>& centre, double radius, int parts,
                   const std::function<void(const std::vector<double>&)>& visit) {
  const auto heads = centre.size();
  std::vector<double> weights(heads);
  const std::function<void(std::size_t, double)> fill = [&](std::size_t h, double left) {
    if (h + 1 == heads) {
      weights[h] = left;
      visit(weights);
      return;
    }
    const double low = std::max(0.0, centre[h] - radius);
    const double high = std::min(left, centre[h] + radius);
    for (int k = 0; k <= parts; ++k) {
      weights[h] = low + (high - low) * k / parts;
      if (weights[h] <= left) fill(h + 1, left - weights[h]);
    }
  };
  fill(0, 1.0);
}

/// The best weights by a fine grid and ever finer ones around its best point.
double brute_force(const std::vector<Head>& heads, WeightGoal goal, const MetricsOptions& options) {
  std::vector<double> centre(heads.size(), 1.0 / static_cast<double>(heads.size()));
  const bool time = goal == WeightGoal::kHittingTime;
  double best = time ? std::numeric_limits<double>::infinity() : 0.0;
  double radius = 1.0;
  for (int level = 0; level < 24; ++level) {
    std::vector<double> found = centre;
    visit_simplex(centre, radius, level == 0 ? (heads.size() == 2 ? 2000 : 100) : 10,
                  [&](const std::vector<double>& weights) {
                    const double value = measured(heads, weights, goal, options);
                    if (time ? value < best : value > best) {
                      best = value;
                      found = weights;
                    }
                  });
    centre = found;
    radius = level == 0 ? 0.02 : radius * 0.5;
  }
  return best;
}

TEST(BestWeights, AreThoseOfAFineGrid) {
  int cases = 0;
  int optimal = 0;
  for (const auto& [goal, name] : kNamesOf<WeightGoal>)
    for (const auto& [normalization, walk] : kNamesOf<Normalization>) {
      if (goal == WeightGoal::kHittingTime && normalization == Normalization::kPublished) continue;
      if (goal == WeightGoal::kFidelity && normalization == Normalization::kPerHead) continue;
      for (std::uint32_t index = 0; index < 12; ++index) {
        const int count = 2 + static_cast<int>(index % 2);
        SCOPED_TRACE(testing::Message() << name << ", " << walk << ", " << index);
        const std::vector<Head> heads =
            softmax_heads(4 + static_cast<int>(index % 5), count, 0.5 + index % 4, index);
        BestWeightsOptions options;
        options.convention = with(normalization);
        options.bound_parts = 400;
        const std::vector<double> given(heads.size(), 1.0);
        const BestWeights best = best_weights(one_system(heads), given, goal, options);
        const double expected = brute_force(heads, goal, options.convention);
        // The grid's last step is 1e-9 wide, and a kink's value changes as much.
        if (goal == WeightGoal::kHittingTime)
          EXPECT_LE(best.value, expected * (1.0 + 1e-7));
        else
          EXPECT_GE(best.value, expected * (1.0 - 1e-7));
        expect_no_better(expected, best.bound, goal);
        EXPECT_NEAR(best.value, measured(heads, best.weights, goal, options.convention),
                    1e-14 * best.value);
        ++cases;
        optimal += best.optimal ? 1 : 0;
      }
    }
  EXPECT_GT(optimal, cases * 9 / 10);
}

TEST(BestWeights, HaveBoundsThatNoWeightsExceed) {
  int tighter = 0;
  for (std::uint32_t index = 0; index < 240; ++index) {
    const System system =
        index % 3 == 1 ? random_graph_system(index) : random_attention_system(index);
    RandomSequence draws(77, Purpose::kTest, index);
    for (const auto& [goal, name] : kNamesOf<WeightGoal>)
      for (const auto& [normalization, walk] : kNamesOf<Normalization>) {
        SCOPED_TRACE(testing::Message() << name << ", " << walk << ", " << index);
        BestWeightsOptions options;
        options.convention = with(normalization);
        options.starts = 2;
        options.bound_parts = index % 4 == 0 ? 40 : 1;
        const BestWeights best =
            best_weights(one_system(system.heads), system.weights, goal, options);
        EXPECT_DOUBLE_EQ(best.given_value,
                         measured(system.heads, system.weights, goal, options.convention));
        expect_no_better(best.given_value, best.value, goal);
        expect_no_better(best.adaptive_value, best.value, goal);
        expect_no_better(best.value, best.bound, goal);
        expect_no_better(best.bound, best.simple_bound, goal);
        tighter += goal == WeightGoal::kFidelity && best.bound < 0.999 * best.simple_bound ? 1 : 0;
        for (int k = 0; k < 8; ++k) {
          std::vector<double> weights = random_weights(system.heads.size(), draws);
          if (k % 2 == 1) weights[draws.below(weights.size())] *= 100.0;
          weights = normalised_weights(weights, weights.size());
          expect_no_better(measured(system.heads, weights, goal, options.convention), best.bound,
                           goal);
        }
      }
  }
  EXPECT_GT(tighter, 100);
}

TEST(BestWeights, HaveTheSimpleBoundOfItsDefinition) {
  for (std::uint32_t index = 0; index < 60; ++index) {
    SCOPED_TRACE(index);
    System system = random_attention_system(index);
    const int nodes = system.heads.front().diffusion.rows();
    if (index % 2 == 1) {  // a head whose last token attends to itself alone
      Matrix attention = system.heads.front().diffusion;
      for (int j = 0; j < nodes; ++j) attention(nodes - 1, j) = j == nodes - 1 ? 1.0 : 0.0;
      system.heads.push_back(head_of_attention("", std::move(attention)));
      system.weights.push_back(0.5);
    }
    for (const Convention convention : {Convention::kExact, Convention::kPublished}) {
      BestWeightsOptions options;
      options.convention = convention_options(convention);
      options.starts = options.bound_parts = 1;
      const bool exact = convention == Convention::kExact;
      const BestWeights best =
          best_weights(one_system(system.heads), system.weights, WeightGoal::kFidelity, options);
      const auto expected = static_cast<double>(
          real_fidelity_bound(system.heads, nodes - (exact ? 1 : 0), exact ? 400 : 100));
      EXPECT_NEAR(best.simple_bound, expected, 1e-12);
    }
  }
}

// The bound lets every node choose its weights at every step. The time from a node is linear in the
// mixture of its rows, so one head is best. A published walk has running sums
// min(1, sum_h w_h C_h), which are concave in the weights: one head is best there too where times
// fall from node to node.
TEST(BestWeights, HaveTheSimpleSpeedBoundOfItsDefinition) {
  for (const auto& [normalization, walk] : kNamesOf<Normalization>) {
    int above = 0;
    for (std::uint32_t index = 0; index < 120; ++index) {
      SCOPED_TRACE(testing::Message() << walk << ", " << index);
      const System system = random_attention_system(index);
      BestWeightsOptions options;
      options.convention = with(normalization);
      options.starts = options.bound_parts = 1;
      const RealSpeedBound expected = real_speed_bound(
          system.heads, normalization, static_cast<int>(options.convention.walk.cutoff));
      if (normalization == Normalization::kPublished && !expected.falling) continue;
      const BestWeights best =
          best_weights(one_system(system.heads), system.weights, WeightGoal::kSpeed, options);
      EXPECT_NEAR(best.simple_bound, static_cast<double>(expected.speed), 1e-12);
      above += expected.speed > best.value + 1e-6 ? 1 : 0;
    }
    EXPECT_GT(above, 10) << walk;  // otherwise the value itself is the bound
  }
}

/// With so many ascents; with one bound cell, no more ascents follow from the bound.
BestWeights after_ascents(const std::vector<Head>& heads, const std::vector<double>& given,
                          WeightGoal goal, int starts, int bound_parts = 1) {
  BestWeightsOptions options;
  options.starts = starts;
  options.bound_parts = bound_parts;
  return best_weights(one_system(heads), given, goal, options);
}

TEST(BestWeights, CountTheIterationsOfAllAscents) {
  const std::vector<double> given = {0.7, 0.2, 0.1};
  const std::vector<double> equal = {1.0, 1.0, 1.0};
  for (const auto& [goal, name] : kNamesOf<WeightGoal>)
    for (std::uint32_t index = 0; index < 4; ++index) {
      SCOPED_TRACE(testing::Message() << name << ", " << index);
      const std::vector<Head> heads = softmax_heads(9, 3, 1.0, 40 + index);
      const int from_given = after_ascents(heads, given, goal, 1).iterations;
      const int from_equal = after_ascents(heads, equal, goal, 1).iterations;
      EXPECT_GT(from_given, 0);
      EXPECT_GT(from_equal, 0);
      EXPECT_EQ(after_ascents(heads, given, goal, 2).iterations, from_given + from_equal);
    }
}

TEST(BestWeights, ClimbAsOftenAsAsked) {
  const std::vector<Head> heads = softmax_heads(7, 4, 1.0, 50);
  for (const auto& [goal, name] : kNamesOf<WeightGoal>) {
    for (const int starts : {0, 1, 2, 3, 7, 12})
      EXPECT_EQ(after_ascents(heads, {4, 3, 2, 1}, goal, starts).starts, std::max(1, starts))
          << name;
    EXPECT_EQ(after_ascents({heads.front()}, {1}, goal, 12).starts, 0) << name;  // no choice
  }
}

// The first starts are the given weights, equal weights and the best first step. Every later start
// has a distance of at least 0.2 from all starts before it: for weights (a, 1 - a) of two heads,
// 0.1 in a. At most 11 such numbers fit into [0, 1]. Equal weights are one of them, so there are at
// most 13 starts. Candidates that are far from all starts become starts. The 13 multiples of 1/12
// are candidates, and each start is near at most 3 of them, so there are at least 5 starts.
TEST(BestWeights, ClimbFromStartsThatAreFarApart) {
  for (const auto& [goal, name] : kNamesOf<WeightGoal>)
    for (std::uint32_t index = 0; index < 6; ++index)
      for (const double first : {0.5, 0.8, 1.0}) {
        SCOPED_TRACE(testing::Message() << name << ", " << index << ", " << first);
        const BestWeights best =
            after_ascents(softmax_heads(6, 2, 1.0, 60 + index), {first, 1.0 - first}, goal, 1000);
        EXPECT_GE(best.starts, 5);
        EXPECT_LE(best.starts, 13);
      }
}

// The search for a bound makes 41 parts, two at a time. While the bound stays open, it proposes new
// weights before each cut: 20 times. The first starts / 4 proposals get an ascent, the others only
// where they are better than the best weights so far.
TEST(BestWeights, ClimbFromFewOfTheWeightsWhereABoundIsAttained) {
  const std::vector<double> given(5, 1.0);
  int cases = 0;
  for (std::uint32_t index = 0; index < 8; ++index) {
    const std::vector<Head> heads = softmax_heads(10, 5, 1.0, 70 + index);
    for (const int starts : {3, 8, 12}) {
      SCOPED_TRACE(testing::Message() << index << ", " << starts);
      const BestWeights without = after_ascents(heads, given, WeightGoal::kFidelity, starts);
      const BestWeights tried = after_ascents(heads, given, WeightGoal::kFidelity, starts, 41);
      if (tried.optimal || tried.value != without.value) continue;
      EXPECT_EQ(tried.starts, without.starts + starts / 4);
      ++cases;
    }
  }
  EXPECT_GT(cases, 6);
}

TEST(BestWeights, OfCopiesAreAnyWeights) {
  for (const auto& [goal, name] : kNamesOf<WeightGoal>)
    for (const auto& [normalization, walk] : kNamesOf<Normalization>) {
      SCOPED_TRACE(testing::Message() << name << ", " << walk);
      const std::vector<Head> heads(3, softmax_heads(9, 1, 1.5, 5).front());
      BestWeightsOptions options;
      options.convention = with(normalization);
      const std::vector<double> given = {0.2, 0.5, 0.3};
      const BestWeights best = best_weights(one_system(heads), given, goal, options);
      EXPECT_TRUE(best.optimal);
      EXPECT_EQ(best.value, best.given_value);
      if (std::isfinite(best.value)) {
        EXPECT_NEAR(best.bound, best.value, 1e-12 * best.value);
        EXPECT_NEAR(best.gradient_norm, 0.0, 1e-12);
      }
    }
}

/// Node i takes from i - 1 alone, and the sink from all alike, `signal` in all.
Head chain_head(int nodes, double keep) {
  Matrix attention(nodes, nodes);
  attention(0, 0) = 1.0;
  for (int i = 1; i < nodes; ++i) {
    attention(i, i) = keep;
    attention(i, i - 1) = 1.0 - keep;
  }
  return head_of_attention("", std::move(attention));
}

// A chain that keeps nothing carries every signal whole: no weights do better.
TEST(BestWeights, AreOnAHeadThatIsBestInEveryEntry) {
  const std::vector<Head> heads = {chain_head(6, 0.6), chain_head(6, 0.0), chain_head(6, 0.3)};
  const BestWeights best =
      best_weights(one_system(heads), std::vector<double>{1, 1, 1}, WeightGoal::kFidelity);
  EXPECT_NEAR(best.value, 1.0, 1e-12);
  EXPECT_NEAR(best.weights[1], 1.0, 1e-9);
  EXPECT_TRUE(best.optimal);
}

TEST(BestWeights, OfOneHeadAreAll) {
  for (const auto& [goal, name] : kNamesOf<WeightGoal>) {
    const std::vector<Head> heads = softmax_heads(8, 1, 1.0, 3);
    const BestWeights best = best_weights(one_system(heads), std::vector<double>{2.0}, goal);
    EXPECT_EQ(best.weights, std::vector<double>{1.0});
    EXPECT_EQ(best.value, best.given_value);
    EXPECT_TRUE(best.optimal) << name << best.value << " " << best.bound;
    EXPECT_EQ(best.gradient_norm, 0.0);
    EXPECT_EQ(best.adaptive_head, 0);
  }
}

// A walk that takes thousands of steps: however late its signal comes, there is nothing to choose.
TEST(BestWeights, OfOneSlowHeadAreProven) {
  const std::vector<Head> heads = {chain_head(6, 0.999)};
  for (const auto& [goal, name] : kNamesOf<WeightGoal>) {
    const BestWeights best = best_weights(one_system(heads), std::vector<double>{1.0}, goal);
    EXPECT_TRUE(best.optimal) << name << best.value << " " << best.bound;
    EXPECT_NEAR(best.bound, best.value, 1e-12 * best.value) << name;
  }
}

TEST(BestWeights, OfOneAndTwoNodes) {
  for (const auto& [goal, name] : kNamesOf<WeightGoal>)
    for (const auto& [normalization, walk] : kNamesOf<Normalization>)
      for (const int nodes : {1, 2}) {
        SCOPED_TRACE(testing::Message() << name << ", " << walk << ", " << nodes);
        const std::vector<Head> heads = softmax_heads(nodes, 3, 1.0, 8);
        BestWeightsOptions options;
        options.convention = with(normalization);
        const BestWeights best =
            best_weights(one_system(heads), std::vector<double>{1, 1, 1}, goal, options);
        expect_no_better(best.value, best.bound, goal);
        EXPECT_TRUE(best.optimal);
        if (nodes == 1) {
          EXPECT_EQ(best.value, best.given_value);
        }
      }
}

// Where no head carries a node's signal, no weights do.
TEST(BestWeights, OfHeadsWithoutASignalAreWorthNothing) {
  std::vector<Head> heads = softmax_heads(6, 3, 1.0, 4);
  for (Head& head : heads)
    for (int i = 3; i < 6; ++i) {
      for (int j = 0; j < 6; ++j) head.diffusion(i, j) = 0.0;
      head.diffusion(i, i) = 1.0;
    }
  const BestWeights best =
      best_weights(one_system(heads), std::vector<double>{1, 1, 1}, WeightGoal::kFidelity);
  EXPECT_EQ(best.value, 0.0);
  EXPECT_EQ(best.bound, 0.0);
  EXPECT_TRUE(best.optimal);
}

TEST(BestWeights, OfSixteenHeadsBeatTheGivenOnesOnSeveralSystems) {
  HeadSystems systems;
  for (std::uint32_t s = 0; s < 3; ++s) systems.add(softmax_heads(30, 16, 1.0, 100 + s));
  for (const auto& [goal, name] : kNamesOf<WeightGoal>) {
    BestWeightsOptions options;
    options.bound_parts = 4;
    options.execution.threads = 1;
    const std::vector<double> given(16, 1.0);
    const BestWeights best = best_weights(systems, given, goal, options);
    SCOPED_TRACE(name);
    expect_no_better(best.given_value, best.value, goal);
    EXPECT_NE(best.given_value, best.value);
    expect_no_better(best.value, best.bound, goal);
    expect_no_better(best.bound, best.simple_bound, goal);
    EXPECT_LT(best.gradient_norm, 1e-5);
    RandomSequence draws(5, Purpose::kTest);
    for (int k = 0; k < 20; ++k) {
      std::vector<double> near = best.weights;
      for (double& w : near) w += 0.02 * draws.uniform();
      expect_no_better(value_and_gradient(systems, near, goal).value, best.bound, goal);
    }
    double sum = 0.0;
    for (const double w : best.weights) sum += w;
    EXPECT_NEAR(sum, 1.0, 1e-14);
    options.execution.threads = 3;
    const BestWeights again = best_weights(systems, given, goal, options);
    EXPECT_EQ(again.weights, best.weights);
    EXPECT_EQ(again.value, best.value);
    EXPECT_EQ(again.bound, best.bound);
    EXPECT_EQ(again.gradient_norm, best.gradient_norm);
  }
}

TEST(BestWeights, RefuseWhatCannotBeWeighted) {
  HeadSystems systems;
  EXPECT_THROW(best_weights(systems, std::vector<double>{}, WeightGoal::kSpeed), InputError);
  systems.add(softmax_heads(5, 2, 1.0, 1));
  EXPECT_THROW(best_weights(systems, std::vector<double>{1.0}, WeightGoal::kSpeed), InputError);
  EXPECT_THROW(best_weights(systems, std::vector<double>{0.0, 0.0}, WeightGoal::kSpeed),
               InputError);
  EXPECT_THROW(systems.add(softmax_heads(5, 3, 1.0, 1)), InputError);
  EXPECT_THROW(systems.add(std::vector<Head>{}), InputError);
  BestWeightsOptions options;
  options.execution.stop = [] { return true; };
  EXPECT_THROW(best_weights(systems, std::vector<double>{1.0, 1.0}, WeightGoal::kSpeed, options),
               Stopped);
}

}  // namespace
}  // namespace synergraph

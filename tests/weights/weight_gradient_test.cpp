#include <gtest/gtest.h>

#include <cmath>

#include "synergraph/diffusion/fidelity.h"
#include "synergraph/weights/best_weights.h"
#include "tests/support/random_inputs.h"
#include "tests/weights/weights_reference.h"

namespace synergraph {
namespace {

using namespace testing_support;  // NOLINT: this test's own helpers

/// Every slope is the derivative of `value_at(weights)` towards its head, and their weighted sum
/// is 0. Rounding of sums of some hundred products, relative to the largest slope.
template <class Value>
void expect_slopes(const WeightValue& found, std::span<const double> weights, Value value_at,
                   double tolerance = 1e-11) {
  ASSERT_EQ(found.slope.size(), weights.size());
  Real largest = std::abs(Real{found.value}) * 1e-2L;
  for (const double slope : found.slope) largest = std::max(largest, std::abs(Real{slope}));
  if (largest == 0.0L) return;
  double sum = 0.0;
  for (std::size_t h = 0; h < weights.size(); ++h) {
    const auto along = [&](Real e) { return value_at(towards(weights, h, e)); };
    const Real expected = derivative(along, 1e-4L);
    const Real error = std::abs(derivative(along, 2e-4L) - expected);  // of the rule, and more
    EXPECT_NEAR(found.slope[h], static_cast<double>(expected),
                static_cast<double>(tolerance * largest + error))
        << "head " << h;
    EXPECT_LE(error, 1e-3L * largest);
    sum += weights[h] * found.slope[h];
  }
  EXPECT_NEAR(sum, 0.0, tolerance * static_cast<double>(largest));
}

System a_system(std::uint32_t index) {
  return index % 2 == 0 ? random_attention_system(index) : random_graph_system(index);
}

TEST(WeightGradient, OfFidelityIsTheDifferenceInExtendedPrecision) {
  int finite = 0;
  int absorbed = 0;
  for (std::uint32_t index = 0; index < 400; ++index) {
    SCOPED_TRACE(index);
    const System system = a_system(index);
    for (const Convention convention : {Convention::kExact, Convention::kPublished}) {
      const MetricsOptions options = convention_options(convention);
      const Fidelity there =
          fidelity(combine_diffusion(system.heads, system.weights), options.fidelity);
      const WeightValue found = value_and_gradient(one_system(system.heads), system.weights,
                                                   WeightGoal::kFidelity, options);
      EXPECT_NEAR(found.value, there.minimax, 1e-15);
      if (there.node.size() < 2) continue;
      const auto node = static_cast<std::size_t>(there.minimax_node);
      if (std::isfinite(there.minimax_time)) {
        const auto steps = static_cast<int>(there.minimax_time);
        expect_slopes(found, system.weights, [&](const RealVector& weights) {
          return real_signals(real_diffusion(system.heads, weights), steps).back()[node];
        });
        ++finite;
      } else {
        expect_slopes(found, system.weights, [&](const RealVector& weights) {
          return real_absorption(real_diffusion(system.heads, weights), there.minimax_node);
        });
        ++absorbed;
      }
    }
  }
  EXPECT_GT(finite, 300);
  EXPECT_GT(absorbed, 20);
}

/// Attention that keeps all but `leak` of what it has.
Matrix slowed(Matrix attention, double leak) {
  for (int i = 1; i < attention.rows(); ++i) {
    double rest = 0.0;
    for (int j = 0; j < i; ++j) rest += attention(i, j) *= leak;
    attention(i, i) = 1.0 - rest;
  }
  return attention;
}

// Thousands of steps: by squaring. The reference steps.
TEST(WeightGradient, OfSlowSignalsIsRightToo) {
  for (std::uint32_t index = 0; index < 6; ++index) {
    SCOPED_TRACE(index);
    RandomSequence draws(7, Purpose::kTest, index);
    std::vector<Head> heads;
    for (int h = 0; h < 3; ++h)
      heads.push_back(head_of_attention("", slowed(random_attention(6, 1.0, draws), 2e-4)));
    const std::vector<double> weights = random_weights(3, draws);
    const Fidelity there = fidelity(combine_diffusion(heads, weights));
    ASSERT_GT(there.minimax_time, 1100.0);
    const auto steps = static_cast<int>(there.minimax_time);
    const auto node = static_cast<std::size_t>(there.minimax_node);
    const WeightValue found = value_and_gradient(one_system(heads), weights, WeightGoal::kFidelity);
    expect_slopes(
        found, weights,
        [&](const RealVector& at) {
          return real_signals(real_diffusion(heads, at), steps).back()[node];
        },
        1e-9);  // the diagonals are known to 1e-16 only, and the powers multiply it
  }
}

TEST(WeightGradient, OfSpeedIsTheDifferenceInExtendedPrecision) {
  for (std::uint32_t index = 0; index < 200; ++index) {
    SCOPED_TRACE(index);
    const System system = a_system(index);
    for (const Normalization normalization : {Normalization::kPooled, Normalization::kPerHead})
      for (const int cutoff : {1, 2, 10, 100, 1500}) {
        if (cutoff == 1500 && index > 30) continue;
        MetricsOptions options = convention_options(Convention::kExact);
        options.normalization = normalization;
        options.walk.cutoff = cutoff;
        const WeightValue found = value_and_gradient(one_system(system.heads), system.weights,
                                                     WeightGoal::kSpeed, options);
        const auto value_at = [&](const RealVector& weights) {
          return real_speed(real_walk(system.heads, weights, normalization), cutoff);
        };
        const RealVector here(system.weights.begin(), system.weights.end());
        EXPECT_NEAR(found.value, static_cast<double>(value_at(here)), 1e-13);
        expect_slopes(found, system.weights, value_at);
      }
  }
}

// Smooth where no running sum is one.
TEST(WeightGradient, OfPublishedSpeedIsTheDifferenceBetweenKinks) {
  int checked = 0;
  for (std::uint32_t index = 0; index < 400; index += 2) {
    SCOPED_TRACE(index);
    const System system = random_attention_system(index);
    const RealVector here(system.weights.begin(), system.weights.end());
    const RealMatrix diffusion = real_diffusion(system.heads, here);
    Real nearest = 1.0L;
    for (std::size_t j = 1; j < diffusion.size(); ++j) {
      Real sum = 0.0L;
      for (std::size_t i = j; i + 1 < diffusion.size(); ++i) {
        sum += diffusion[i][j];
        nearest = std::min(nearest, std::abs(sum - 1.0L));
      }
    }
    if (nearest < 2e-3L) continue;
    ++checked;
    const MetricsOptions options = convention_options(Convention::kPublished);
    const WeightValue found =
        value_and_gradient(one_system(system.heads), system.weights, WeightGoal::kSpeed, options);
    expect_slopes(found, system.weights, [&](const RealVector& weights) {
      return real_speed(real_walk(system.heads, weights, Normalization::kPublished), 100);
    });
  }
  EXPECT_GT(checked, 100);
}

TEST(WeightGradient, OfHittingTimesIsTheDifferenceInExtendedPrecision) {
  int checked = 0;
  for (std::uint32_t index = 0; index < 400; ++index) {
    SCOPED_TRACE(index);
    const System system = a_system(index);
    for (const Normalization normalization : {Normalization::kPooled, Normalization::kPerHead}) {
      MetricsOptions options = convention_options(Convention::kExact);
      options.normalization = normalization;
      const WeightValue found = value_and_gradient(one_system(system.heads), system.weights,
                                                   WeightGoal::kHittingTime, options);
      if (!std::isfinite(found.value)) {
        EXPECT_TRUE(found.slope.empty());
        continue;
      }
      ++checked;
      const auto value_at = [&](const RealVector& weights) {
        return real_hitting(real_walk(system.heads, weights, normalization));
      };
      const RealVector here(system.weights.begin(), system.weights.end());
      EXPECT_NEAR(found.value, static_cast<double>(value_at(here)), 1e-13 * found.value);
      expect_slopes(found, system.weights, value_at);
    }
  }
  EXPECT_GT(checked, 300);
}

TEST(WeightGradient, OfSeveralSystemsIsTheMean) {
  std::vector<System> list;
  HeadSystems together;
  for (std::uint32_t index = 0; list.size() < 3; ++index) {
    System system = random_attention_system(index);
    if (system.heads.size() != 3) continue;
    together.add(system.heads);
    list.push_back(std::move(system));
  }
  const std::vector<double> weights = {0.5, 0.3, 0.2};
  for (const auto& [goal, name] : kNamesOf<WeightGoal>) {
    const WeightValue found = value_and_gradient(together, weights, goal);
    double value = 0.0;
    std::vector<double> slope(3, 0.0);
    for (const System& system : list) {
      const WeightValue one = value_and_gradient(one_system(system.heads), weights, goal);
      value += one.value / 3.0;
      for (std::size_t h = 0; h < 3; ++h) slope[h] += one.slope[h] / 3.0;
    }
    EXPECT_NEAR(found.value, value, 1e-14 * value) << name;
    for (std::size_t h = 0; h < 3; ++h) EXPECT_NEAR(found.slope[h], slope[h], 1e-12 * value);
  }
}

}  // namespace
}  // namespace synergraph

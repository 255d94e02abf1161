#include "synergraph/study/published.h"

#include <gtest/gtest.h>

namespace synergraph {
namespace {

constexpr Quantity kTime = Quantity::kTruncatedHittingMean;
constexpr Quantity kFidelity = Quantity::kMinimaxFidelity;

TEST(Published, HasThePapersCells) {
  EXPECT_EQ(published_value(kTime, "copy", 1, 0)->mean, 3.8344);
  EXPECT_EQ(published_value(kTime, "copy", 4, 3)->mean, 7.8050);
  EXPECT_EQ(published_value(kTime, "copy", 4, 3)->std, 0.5391);
  EXPECT_EQ(published_value(kTime, "cycle", 16, 3)->mean, 41.9292);
  EXPECT_EQ(published_value(kFidelity, "copy", 16, 2)->mean, 0.34);
  EXPECT_EQ(published_value(kFidelity, "copy", 16, 2)->std, 0.07);
  EXPECT_EQ(published_value(kFidelity, "cycle", 8, 1)->mean, 0.63);
  EXPECT_EQ(published_comparison("copy", 8, 2)->individual, 0.18);
  EXPECT_EQ(published_comparison("copy", 8, 2)->combined, 0.10);
  EXPECT_EQ(published_comparison("cycle", 16, 0)->combined, 0.67);
}

// Sums over all cells, added up from the paper: a wrong or missing figure changes them.
TEST(Published, IsComplete) {
  double time = 0;
  double time_std = 0;
  double fidelity = 0;
  double fidelity_std = 0;
  double individual = 0;
  double combined = 0;
  for (const std::string_view task : kPublishedTasks)
    for (const int heads : kPublishedHeads)
      for (int layer = 0; layer < kPublishedLayers; ++layer) {
        const auto mixing = published_value(kTime, task, heads, layer);
        const auto faithful = published_value(kFidelity, task, heads, layer);
        ASSERT_TRUE(mixing && faithful) << task << heads << layer;
        time += mixing->mean;
        time_std += mixing->std;
        fidelity += faithful->mean;
        fidelity_std += faithful->std;
        const auto comparison = published_comparison(task, heads, layer);
        EXPECT_EQ(comparison.has_value(), heads > 1);
        if (!comparison) continue;
        individual += comparison->individual;
        combined += comparison->combined;
      }
  EXPECT_NEAR(time, 645.6204, 1e-9);
  EXPECT_NEAR(time_std, 26.7109, 1e-9);
  EXPECT_NEAR(fidelity, 8.56, 1e-9);
  EXPECT_NEAR(fidelity_std, 1.37, 1e-9);
  EXPECT_NEAR(individual, 7.73, 1e-9);
  EXPECT_NEAR(combined, 8.77, 1e-9);
}

TEST(Published, HasNothingElse) {
  EXPECT_FALSE(published_value(kTime, "zero", 4, 0));
  EXPECT_FALSE(published_value(kTime, "copy", 2, 0));
  EXPECT_FALSE(published_value(kFidelity, "copy", 4, 4));
  EXPECT_FALSE(published_value(kFidelity, "copy", 4, -1));
  EXPECT_FALSE(published_value(Quantity::kHittingMean, "copy", 4, 0));
  EXPECT_FALSE(published_comparison("copy", 1, 0));
  EXPECT_FALSE(published_comparison("", 4, 0));
}

}  // namespace
}  // namespace synergraph

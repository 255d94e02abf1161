#include "synergraph/statistics/summary.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace synergraph {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(SummaryTest, MeanAndPopulationDeviation) {
  const Summary summary = summarise({4.0, 2.0, 4.0, 5.0, 4.0, 5.0, 7.0, 9.0});
  EXPECT_DOUBLE_EQ(summary.mean, 5.0);
  EXPECT_DOUBLE_EQ(summary.std, 2.0);
  EXPECT_EQ(summary.min, 2.0);
  EXPECT_EQ(summary.median, 4.5);
  EXPECT_EQ(summary.max, 9.0);
  EXPECT_EQ(summary.never + summary.undefined, 0U);
}

TEST(SummaryTest, InfiniteAndMissingValuesAreCountedNotAveraged) {
  const Summary summary = summarise({kInfinity, 1.0, kNan, 3.0, kInfinity});
  EXPECT_EQ(summary.samples, 5U);
  EXPECT_EQ(summary.never, 2U);
  EXPECT_EQ(summary.undefined, 1U);
  EXPECT_DOUBLE_EQ(summary.mean, 2.0);
  EXPECT_DOUBLE_EQ(summary.std, 1.0);
  EXPECT_EQ(summary.median, kInfinity);  // of 1, 3, inf, inf: between 3 and infinity
  EXPECT_EQ(summary.max, kInfinity);
}

TEST(SummaryTest, NothingButInfinityOrNothingAtAll) {
  const Summary never = summarise({kInfinity, kInfinity});
  EXPECT_EQ(never.mean, kInfinity);
  EXPECT_EQ(never.median, kInfinity);
  EXPECT_TRUE(std::isnan(never.std));
  const Summary none = summarise({kNan});
  EXPECT_TRUE(std::isnan(none.mean) && std::isnan(none.median));
  EXPECT_EQ(none.undefined, 1U);
}

TEST(SummaryTest, QuantilesAreInterpolatedAndMayBeInfinite) {
  std::vector<double> values;
  for (int k = 0; k <= 20; ++k) values.push_back(k * k);
  EXPECT_DOUBLE_EQ(summarise(values).quantile_10, 4.0);
  EXPECT_DOUBLE_EQ(summarise(values).quantile_90, 324.0);
  EXPECT_DOUBLE_EQ(summarise({1.0, 2.0}).quantile_10, 1.1);
  EXPECT_DOUBLE_EQ(summarise({1.0, 2.0}).quantile_90, 1.9);
  const Summary late = summarise({1.0, 2.0, 3.0, kInfinity, kInfinity});
  EXPECT_DOUBLE_EQ(late.quantile_10, 1.4);
  EXPECT_EQ(late.quantile_90, kInfinity);
  EXPECT_TRUE(std::isnan(summarise({kNan}).quantile_90));
}

TEST(SummaryTest, TheOrderOfTheSamplesDoesNotMatter) {
  const Summary a = summarise({0.1, 0.7, 1e9, 0.3});
  const Summary b = summarise({1e9, 0.3, 0.1, 0.7});
  EXPECT_EQ(a.mean, b.mean);
  EXPECT_EQ(a.std, b.std);
}

// Squares that would overflow, or vanish: mean and deviation of v times any unit are theirs of v
// times that unit.
TEST(Summary, OfHugeAndTinyNumbers) {
  for (const double unit : {1e-300, 1e-170, 1.0, 1e154, 1e200, 4e307}) {
    const Summary summary = summarise({1.0 * unit, 2.0 * unit, 4.0 * unit});
    EXPECT_NEAR(summary.mean / unit, 7.0 / 3, 1e-14) << unit;
    EXPECT_NEAR(summary.std / unit, std::sqrt(14.0) / 3, 1e-14) << unit;
  }
}

}  // namespace
}  // namespace synergraph

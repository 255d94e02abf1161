#include "synergraph/statistics/mean_difference.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "synergraph/statistics/intervals.h"

namespace synergraph {
namespace {

const std::vector<double> kA = {1.0, 2.5, 3.25, 4.0, 7.5};
const std::vector<double> kB = {1.5, 2.25, 4.5, 6.0, 7.0};

// Reference: scipy.stats.t.sf, ttest_rel and ttest_ind(equal_var=False), scipy 1.10; the ends of
// the interval without pairs by mpmath with 30 digits.
TEST(StudentTails, AreTwoSided) {
  EXPECT_NEAR(student_tails(-0.1, 3), 0.9266523488008058, 1e-14);
  EXPECT_NEAR(student_tails(40, 100) / 2.4621076021400736e-63, 1.0, 1e-10);
  EXPECT_NEAR(student_tails(3, std::numeric_limits<double>::infinity()), 0.0026997960632601866,
              1e-16);
  EXPECT_EQ(student_tails(0.0, 5), 1.0);
  EXPECT_TRUE(std::isnan(student_tails(1.0, 0.0)));
  for (const double p : {0.9, 0.975, 0.9999})  // the inverse of the quantile
    EXPECT_NEAR(student_tails(student_quantile(p, 7), 7), 2.0 * (1.0 - p), 1e-12);
}

TEST(MeanDifference, OfPairs) {
  const MeanDifference of = paired_difference(kA, kB);
  EXPECT_NEAR(of.difference, 0.6, 1e-14);
  EXPECT_NEAR(of.low, -0.6911216073808603, 1e-12);
  EXPECT_NEAR(of.high, 1.8911216073808603, 1e-12);
  EXPECT_NEAR(of.p, 0.26649909433528784, 1e-12);
  EXPECT_EQ(of.count_a, 5U);
  const MeanDifference back = paired_difference(kB, kA);
  EXPECT_DOUBLE_EQ(back.low, -of.high);
  EXPECT_DOUBLE_EQ(back.p, of.p);
  EXPECT_THROW(paired_difference(kA, std::vector<double>{1.0}), std::invalid_argument);
}

TEST(MeanDifference, OfSamplesWithoutPairs) {
  const MeanDifference of =
      unpaired_difference(moments_of(kA), moments_of(std::vector<double>{0.5, 0.25, 0.75}), 0.9);
  EXPECT_NEAR(of.difference, -3.15, 1e-14);
  EXPECT_NEAR(of.low, -5.456258996539102, 1e-11);
  EXPECT_NEAR(of.high, -0.843741003460898, 1e-11);
  EXPECT_NEAR(of.p, 0.043037672642291414, 1e-12);
}

TEST(MeanDifference, IsNotTestedWhereNothingVaries) {
  const std::vector<double> ones(4, 1.0);
  const std::vector<double> rounded = {1.0, 1.0 + 1e-15, 1.0, 1.0 - 1e-15};
  const MeanDifference same = paired_difference(ones, rounded);
  EXPECT_EQ(same.p, 1.0);  // of rounding, however sure
  EXPECT_EQ(same.difference, 0.0);
  const MeanDifference shifted = paired_difference(ones, std::vector<double>(4, 3.0));
  EXPECT_EQ(shifted.difference, 2.0);
  EXPECT_TRUE(std::isnan(shifted.p) && std::isnan(shifted.low));
  const MeanDifference one = paired_difference(std::vector<double>{1.0}, std::vector<double>{2.0});
  EXPECT_EQ(one.difference, 1.0);
  EXPECT_TRUE(std::isnan(one.p));
  EXPECT_TRUE(std::isnan(paired_difference({}, {}).difference));
  EXPECT_TRUE(std::isnan(unpaired_difference(moments_of(kA), moments_of({})).p));
}

}  // namespace
}  // namespace synergraph

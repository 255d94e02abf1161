#include "synergraph/study/verify.h"

#include <gtest/gtest.h>

#include <limits>

namespace synergraph {
namespace {

// 50 sequences with standard deviation 7 have a mean with standard error 7 / sqrt(49) = 1.
TEST(Compare, CountsStandardErrorsOfTheDifference) {
  const ComparedValue at_four = compare({10.0, 7.0}, 0.0, 14.0, 0.0, 1000);
  EXPECT_DOUBLE_EQ(at_four.standard_error, 1.0);
  EXPECT_DOUBLE_EQ(at_four.deviation, 4.0);
  EXPECT_TRUE(at_four.agrees);
  EXPECT_FALSE(compare({10.0, 7.0}, 0.0, 14.01, 0.0, 1000).agrees);
  EXPECT_FALSE(compare({10.0, 7.0}, 0.0, 5.99, 0.0, 1000).agrees);
}

// Ours adds 12 / sqrt(145 - 1) = 1 in quadrature.
TEST(Compare, AddsOurOwnError) {
  EXPECT_DOUBLE_EQ(compare({10.0, 7.0}, 0.0, 10.0, 12.0, 145).standard_error, std::sqrt(2.0));
}

TEST(Compare, AllowsForRounding) {
  const ComparedValue near = compare({0.0, 0.0}, 0.005, 0.0049, 0.0, 1000);
  EXPECT_EQ(near.deviation, 0.0);
  EXPECT_TRUE(near.agrees);
  const ComparedValue far = compare({0.0, 0.0}, 0.005, 0.0051, 0.0, 1000);
  EXPECT_EQ(far.deviation, std::numeric_limits<double>::infinity());
  EXPECT_FALSE(far.agrees);
}

TEST(Compare, NeverAgreesWithANumberThatDoesNotExist) {
  EXPECT_FALSE(compare({1.0, 1.0}, 0.0, std::nan(""), 0.0, 100).agrees);
  EXPECT_FALSE(compare({1.0, 1.0}, 0.0, std::numeric_limits<double>::infinity(), 0.0, 100).agrees);
}

TEST(VerifiedModelTest, AgreesOnlyIfEveryNumberOfEveryLayerDoes) {
  const ComparedValue good = compare({10.0, 7.0}, 0.0, 10.0, 7.0, 1000);
  const ComparedValue bad = compare({10.0, 7.0}, 0.0, 30.0, 7.0, 1000);
  ASSERT_TRUE(good.agrees);
  ASSERT_FALSE(bad.agrees);
  VerifiedModel model;
  model.layers.resize(2);
  for (VerifiedLayer& layer : model.layers) layer.mixing_time = layer.fidelity = good;
  EXPECT_TRUE(model.agrees());
  model.layers[1].fidelity = bad;
  EXPECT_FALSE(model.agrees());
  model.layers[1].fidelity = good;
  model.layers[0].mixing_time = bad;
  EXPECT_FALSE(model.agrees());
}

}  // namespace
}  // namespace synergraph

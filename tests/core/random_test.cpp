#include "synergraph/core/random.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace synergraph {
namespace {

// Known answer of Philox4x32-10 for an all-zero counter and key (Salmon et al. 2011, kat_vectors).
// Our counter carries the purpose in its last word, so the comparison uses purpose 0.
TEST(RandomStream, IsPhilox4x32) {
  const auto words = RandomStream(0, static_cast<Purpose>(0)).words(0);
  EXPECT_EQ(words, (std::array<std::uint32_t, 4>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
}

TEST(RandomStream, IsAPureFunctionOfItsIndices) {
  const RandomStream a(5, Purpose::kWalk, 3);
  const auto later = a.words(1000);
  EXPECT_EQ(RandomStream(5, Purpose::kWalk, 3).words(1000), later);
  EXPECT_NE(RandomStream(6, Purpose::kWalk, 3).words(1000), later);
  EXPECT_NE(RandomStream(5, Purpose::kData, 3).words(1000), later);
  EXPECT_NE(RandomStream(5, Purpose::kWalk, 4).words(1000), later);
  EXPECT_NE(a.words(1001), later);
  EXPECT_NE(a.words(1000 + (std::uint64_t{1} << 32U)), later);
}

TEST(RandomSequence, UniformsAndNormalsHaveTheirMoments) {
  RandomSequence draws(1, Purpose::kTest);
  const int count = 200000;
  double sum = 0.0;
  double square = 0.0;
  double normal_sum = 0.0;
  double normal_square = 0.0;
  for (int k = 0; k < count; ++k) {
    const double u = draws.uniform();
    ASSERT_GE(u, 0.0);
    ASSERT_LT(u, 1.0);
    sum += u;
    square += u * u;
    const double z = draws.normal();
    normal_sum += z;
    normal_square += z * z;
  }
  // Five standard errors: sd of u is 1/sqrt(12), of u^2 sqrt(4/45), of z 1, of z^2 sqrt(2).
  const double root = std::sqrt(count);
  EXPECT_NEAR(sum / count, 0.5, 5 * std::sqrt(1.0 / 12) / root);
  EXPECT_NEAR(square / count, 1.0 / 3, 5 * std::sqrt(4.0 / 45) / root);
  EXPECT_NEAR(normal_sum / count, 0.0, 5 / root);
  EXPECT_NEAR(normal_square / count, 1.0, 5 * std::sqrt(2.0) / root);
}

TEST(RandomSequence, BelowIsUniformOnItsRange) {
  RandomSequence draws(2, Purpose::kTest);
  const int bound = 7;
  const int count = 70000;
  std::vector<int> seen(bound, 0);
  for (int k = 0; k < count; ++k) ++seen[draws.below(bound)];
  double chi_square = 0.0;
  for (const int s : seen) chi_square += std::pow(s - count / bound, 2) / (count / bound);
  EXPECT_LT(chi_square, 27.9);  // 99.99 % point of chi-square with 6 degrees of freedom
  EXPECT_EQ(RandomSequence(3, Purpose::kTest).below(1), 0U);
}

}  // namespace
}  // namespace synergraph

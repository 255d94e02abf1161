#include "synergraph/statistics/symmetric_sum.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "synergraph/core/random.h"

namespace synergraph {
namespace {

// Against all 2^12 signs of random numbers: the bound is never below the chance.
TEST(SymmetricSum, BoundsTheChanceOfFairSigns) {
  RandomSequence draws(8, Purpose::kTest);
  constexpr unsigned kCount = 12;
  for (int index = 0; index < 60; ++index) {
    std::vector<double> sizes;
    double squares = 0.0;
    for (unsigned k = 0; k < kCount; ++k) {
      sizes.push_back(index == 0 ? 1.0 : std::pow(draws.uniform(), index % 7));
      squares += sizes.back() * sizes.back();
    }
    for (const double at : {0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.4}) {
      const double sum = at * std::sqrt(squares);
      int reached = 0;
      for (unsigned signs = 0; signs < 1U << kCount; ++signs) {
        double drawn = 0.0;
        for (unsigned k = 0; k < kCount; ++k)
          drawn += (signs >> k & 1U) != 0 ? sizes[k] : -sizes[k];
        if (drawn >= sum) ++reached;
      }
      EXPECT_GE(symmetric_sum_chance(sum, squares) * (1U << kCount), reached) << at;
    }
  }
}

TEST(SymmetricSum, IsOneWhereNothingIsAboveZero) {
  EXPECT_EQ(symmetric_sum_chance(0.0, 1.0), 1.0);
  EXPECT_EQ(symmetric_sum_chance(-1.0, 1.0), 1.0);
  EXPECT_EQ(symmetric_sum_chance(0.0, 0.0), 1.0);
  EXPECT_EQ(symmetric_sum_chance(NAN, 1.0), 1.0);
  EXPECT_LT(symmetric_sum_chance(5.0, 1.0), 1e-6);
}

}  // namespace
}  // namespace synergraph

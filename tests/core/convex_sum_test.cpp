#include "synergraph/core/convex_sum.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/random_inputs.h"

namespace synergraph {
namespace {

using testing_support::random_attention;

// Copies of one matrix have that matrix as their mean, to the last bit, whatever the weights.
TEST(ConvexSum, OfCopiesIsTheMatrix) {
  for (std::uint32_t index = 0; index < 300; ++index) {
    RandomSequence draws(31, Purpose::kTest, index);
    const int n = 1 + static_cast<int>(draws.below(40));
    const Matrix matrix = random_attention(n, 10.0 * draws.uniform(), draws);
    ConvexSum sum(n, n, ConvexSum::Part::kLower);
    const auto copies = 1 + draws.below(16);
    for (std::uint64_t h = 0; h < copies; ++h)
      sum.add(matrix,
              index % 2 == 0 ? 1.0 / static_cast<double>(copies) : std::exp(20.0 * draws.normal()));
    const Matrix mean = sum.take();
    for (int i = 0; i < n; ++i)
      for (int j = 0; j <= i; ++j) ASSERT_EQ(mean(i, j), matrix(i, j)) << index;
  }
}

// Each entry is the mean, rounded once: within half a unit in the last place of what extended
// precision gives, and the part that was not asked for is left alone.
TEST(ConvexSum, RoundsEachEntryOnce) {
  static_assert(std::numeric_limits<long double>::digits >= 64);
  for (std::uint32_t index = 0; index < 300; ++index) {
    RandomSequence draws(32, Purpose::kTest, index);
    const int n = 1 + static_cast<int>(draws.below(20));
    const auto count = 2 + draws.below(8);
    std::vector<Matrix> matrices;
    std::vector<double> weights;
    ConvexSum sum(n, n, ConvexSum::Part::kUpper);
    for (std::uint64_t h = 0; h < count; ++h) {
      Matrix& matrix = matrices.emplace_back(n, n);
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) matrix(i, j) = std::exp(5.0 * draws.normal());
      weights.push_back(h == 1 ? 0.0 : draws.uniform());
      sum.add(matrix, weights.back());
    }
    const Matrix mean = sum.take();
    long double total = 0.0L;
    for (const double weight : weights) total += weight;
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        long double expected = 0.0L;
        for (std::size_t h = 0; h < matrices.size(); ++h)
          expected += static_cast<long double>(weights[h]) * matrices[h](i, j);
        expected /= total;
        if (j < i)
          ASSERT_EQ(mean(i, j), 0.0);
        else
          ASSERT_LE(std::abs(mean(i, j) - expected), 0x1.02p-53L * expected) << index;
      }
  }
}

}  // namespace
}  // namespace synergraph

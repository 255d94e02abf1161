#include "synergraph/core/array_math.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "tests/support/random_numbers.h"

namespace synergraph {
namespace {

using testing_support::random_numbers;

// Every length meets whole registers, several of them, and what is left over; every offset some
// alignment.
TEST(ArrayMath, AgreesWithPlainLoops) {
  const auto a = random_numbers(200, 1);
  const auto b = random_numbers(200, 2);
  for (int offset = 0; offset < 4; ++offset) {
    for (int count = 0; count <= 150; ++count) {
      const double* x = a.data() + offset;
      double sum = 0.0;
      double product = 0.0;
      double most = 0.5;
      for (int k = 0; k < count; ++k) {
        sum += x[k];
        product += x[k] * b[static_cast<std::size_t>(k)];
        most = std::max(most, x[k]);
      }
      ASSERT_NEAR(total(x, count), sum, 1e-15 * (count + 1)) << count;
      ASSERT_NEAR(dot(x, b.data(), count), product, 1e-15 * (count + 1)) << count;
      ASSERT_EQ(largest(x, count, 0.5), most) << count;
      auto to = b;
      add_scaled(x, 0.25, count, to.data());
      for (int k = 0; k < 150; ++k) {
        const auto at = static_cast<std::size_t>(k);
        ASSERT_NEAR(to[at], b[at] + (k < count ? 0.25 * x[k] : 0.0), 1e-15) << count << " " << k;
      }
    }
  }
}

TEST(ArrayMath, WithinFindsTheOneEntryThatIsNot) {
  for (int count = 0; count <= 40; ++count) {
    auto values = random_numbers(40, 3);
    ASSERT_TRUE(within(values.data(), count, 0.0, 1.0));
    for (int k = 0; k < 40; ++k) {
      for (const double bad : {-1e-300, 1.5, std::numeric_limits<double>::quiet_NaN(),
                               std::numeric_limits<double>::infinity()}) {
        auto with = values;
        with[static_cast<std::size_t>(k)] = bad;
        ASSERT_EQ(within(with.data(), count, 0.0, 1.0), k >= count) << count << " " << k;
      }
    }
  }
}

}  // namespace
}  // namespace synergraph

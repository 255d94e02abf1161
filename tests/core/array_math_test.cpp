#include "synergraph/core/array_math.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

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

// Sizes below, at and above the tiles; a number does not depend on the tile that it is in.
TEST(ArrayMath, ProductsOfRowsAgreeWithPlainLoops) {
  const auto a = random_numbers(9 * 40, 4);
  const auto b = random_numbers(7 * 40, 5);
  for (const int count : {0, 1, 5, 8, 23, 40})
    for (int rows = 1; rows <= 9; ++rows)
      for (int columns = 1; columns <= 7; ++columns) {
        std::vector<double> out(63, 0.5);
        std::vector<double> one(1, 0.5);
        add_products({a.data(), rows, count, 40}, {b.data(), columns, count, 40},
                     {out.data(), rows, columns, 7});
        for (int i = 0; i < rows; ++i)
          for (int j = 0; j < columns; ++j) {
            const double* x = a.data() + std::ptrdiff_t{40} * i;
            const double* y = b.data() + std::ptrdiff_t{40} * j;
            ASSERT_NEAR(out[static_cast<std::size_t>(7 * i + j)],
                        0.5 + std::inner_product(x, x + count, y, 0.0), 1e-15 * (count + 1));
            one[0] = 0.5;
            add_products({x, 1, count, 40}, {y, 1, count, 40}, {one.data(), 1, 1, 1});
#ifdef __clang__  // with sanitizers it fuses products and sums in some tiles only
            ASSERT_NEAR(out[static_cast<std::size_t>(7 * i + j)], one[0], 1e-15 * (count + 1));
#else
            ASSERT_EQ(out[static_cast<std::size_t>(7 * i + j)], one[0]);
#endif
          }
      }
}

TEST(ArrayMath, ContributionsAgreeWithPlainLoops) {
  auto a = random_numbers(6 * 40, 6);
  for (std::size_t k = 0; k < a.size(); k += 7) a[k] = k % 2 == 0 ? 0.0 : -0.0;
  const auto b = random_numbers(40, 7);
  const std::vector<double> factors = {0.0, 0.25, 1.0, -2.0, 0.5, 8.0};
  for (int count = 0; count <= 40; ++count)
    for (int rows = 1; rows <= 6; ++rows) {
      std::vector<double> out(6);
      l1_contributions({a.data(), rows, count, 40}, b.data(), factors.data(), out.data());
      for (int i = 0; i < rows; ++i) {
        const double* x = a.data() + std::ptrdiff_t{40} * i;
        double sum = 0.0;
        for (int k = 0; k < count; ++k)
          sum += std::abs(x[k]) - std::abs(x[k] - factors[static_cast<std::size_t>(i)] *
                                                      b[static_cast<std::size_t>(k)]);
        ASSERT_NEAR(out[static_cast<std::size_t>(i)], sum, 1e-14 * (count + 1)) << count;
        double one = 0.0;
        l1_contributions({x, 1, count, 40}, b.data(), &factors[static_cast<std::size_t>(i)], &one);
        ASSERT_EQ(out[static_cast<std::size_t>(i)], one);
      }
    }
}

// With small integers b, scaled down, and every |a| of about 1, the sum of b's signed integers is
// exact; the difference of the two lengths has lost all of it.
TEST(ArrayMath, ContributionsFarBelowTheEntriesKeepTheirDigits) {
  constexpr int kCount = 37;
  auto a = random_numbers(kCount, 8);
  std::vector<double> b(kCount);
  double expected = 0.0;
  for (int k = 0; k < kCount; ++k) {
    const auto at = static_cast<std::size_t>(k);
    a[at] = std::copysign(1.0 + std::abs(a[at]), a[at]);
    b[at] = k % 11 - 4;
    expected += std::copysign(1.0, a[at]) * b[at];
  }
  for (const int exponent : {-20, -60, -400}) {
    const double factor = std::ldexp(1.0, exponent);
    double out = 0.0;
    l1_contributions({a.data(), 1, kCount, kCount}, b.data(), &factor, &out);
    ASSERT_EQ(out, std::ldexp(expected, exponent));
  }
}

// Where f exceeds the entry it overshoots: |y| - |y - f| = 2 |y| - |f| for the same sign, -|f| for
// the other; neither overflows on the way.
TEST(ArrayMath, ContributionsBeyondTheEntries) {
  const std::vector<double> a = {3.0, -3.0, 3.0, 0.0, -0.0, 1.5e308};
  const std::vector<double> b = {5.0, -5.0, -5.0, 5.0, 5.0, 1.75e308};
  const std::vector<double> expected = {1.0, 1.0, -5.0, -5.0, -5.0, 1.25e308};
  const double factor = 1.0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    double out = 0.0;
    l1_contributions({&a[k], 1, 1, 1}, &b[k], &factor, &out);
    ASSERT_NEAR(out, expected[k], 1e-15 * std::abs(expected[k]));
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

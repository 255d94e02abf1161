#include "synergraph/graph/attention_rounding.h"

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

namespace synergraph {
namespace {

TEST(RoundingCheck, RoundingIsToleratedAndNothingMore) {
  // Softmax rows rounded to each type pass; a row that lost more than rounding does not.
  for (const FloatType type :
       {FloatType::kFloat16, FloatType::kBFloat16, FloatType::kFloat32, FloatType::kFloat64}) {
    const double unit = type == FloatType::kFloat16    ? 0x1p-11
                        : type == FloatType::kBFloat16 ? 0x1p-8
                        : type == FloatType::kFloat32  ? 0x1p-24
                                                       : 0x1p-53;
    const AttentionCheck check = rounding_check(type, 128);
    EXPECT_GE(check.row_tolerance, 2.0 * unit);
    EXPECT_LE(check.row_tolerance, 150.0 * unit);
    EXPECT_EQ(check.causal_tolerance, unit / 128);
  }
  // 4 u + n (v + s / 2), as documented.
  const auto tolerance = [](FloatType type, int n) {
    return rounding_check(type, n).row_tolerance;
  };
  EXPECT_EQ(tolerance(FloatType::kFloat16, 100), 0x1p-9 + 100 * 0x1.8p-24);
  EXPECT_EQ(tolerance(FloatType::kBFloat16, 100), 0x1p-6 + 100 * 0x1p-24);
  EXPECT_EQ(tolerance(FloatType::kFloat32, 100), 0x1p-22 + 100 * 0x1p-24);
  EXPECT_EQ(tolerance(FloatType::kFloat64, 100), 0x1p-51 + 100 * 0x1p-53);
}

TEST(RoundingShown, ATypeCountsOnlyWhereItHoldsEveryEntry) {
  const auto shown = [](std::vector<double> row) {
    const RowTolerance tolerance =
        rounding_shown(FloatType::kFloat64, 3, row.data(), static_cast<int>(row.size()));
    for (const FloatType type :
         {FloatType::kBFloat16, FloatType::kFloat16, FloatType::kFloat32, FloatType::kFloat64})
      if (tolerance.value == rounding_check(type, 3).row_tolerance) return name_of(type);
    return std::string_view("none");
  };
  EXPECT_EQ(shown({0.5, 255 * 0x1p-10}), "bfloat16");
  EXPECT_EQ(shown({0.5, 0x1p-133}), "bfloat16");
  EXPECT_EQ(shown({0.5, 257 * 0x1p-10}), "float16");
  EXPECT_EQ(shown({0.5, 2047 * 0x1p-12}), "float16");
  EXPECT_EQ(shown({0.5, 257 * 0x1p-24}), "float16");
  EXPECT_EQ(shown({0.5, 257 * 0x1p-25}), "float32");  // below float16's last place
  EXPECT_EQ(shown({0.5, 2049 * 0x1p-12}), "float32");
  EXPECT_EQ(shown({0.5, 257 * 0x1p+10}), "float32");  // above float16's largest
  EXPECT_EQ(shown({0.5, 16777215 * 0x1p-25}), "float32");
  EXPECT_EQ(shown({0.5, 16777217 * 0x1p-25}), "float64");
  EXPECT_EQ(shown({0.1, 0.5}), "float64");
  // A file of float16 may hold what was bfloat16; a file of bfloat16 is that.
  const double half = 0.5;
  EXPECT_EQ(rounding_shown(FloatType::kFloat16, 3, &half, 1).value,
            rounding_check(FloatType::kBFloat16, 3).row_tolerance);
  const double odd = 257 * 0x1p-10;
  EXPECT_EQ(rounding_shown(FloatType::kFloat16, 3, &odd, 1).value,
            rounding_check(FloatType::kFloat16, 3).row_tolerance);
}

}  // namespace
}  // namespace synergraph

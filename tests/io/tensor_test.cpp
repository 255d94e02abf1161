#include "synergraph/io/tensor.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>

#include "tests/io/expect_error.h"

namespace synergraph {
namespace {

/// A source that notes how much it was asked for.
class CountingBytes final : public ByteSource {
 public:
  explicit CountingBytes(std::uint64_t size) : ByteSource("counted", size) {}
  mutable std::uint64_t reads = 0;
  mutable std::size_t largest = 0;

 private:
  void read_at(std::uint64_t /*offset*/, void* out, std::size_t count) const override {
    std::memset(out, 0, count);
    ++reads;
    largest = std::max(largest, count);
  }
};

Tensor of_int32(const std::vector<std::int32_t>& values, Shape shape,
                std::vector<std::int64_t> strides, std::int64_t first = 0) {
  std::string bytes(values.size() * 4, '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  TensorLayout layout;
  layout.first = first;
  layout.strides = std::move(strides);
  return {{"t", DType::kInt32, std::move(shape)},
          memory_bytes("memory", std::move(bytes)),
          std::move(layout)};
}

/// Element (i, j, ...) by the definition of strides.
std::vector<std::int64_t> by_definition(const std::vector<std::int32_t>& values, const Shape& shape,
                                        const std::vector<std::int64_t>& strides,
                                        std::int64_t first) {
  std::vector<std::int64_t> all;
  const std::int64_t count = element_count(shape).value();
  for (std::int64_t k = 0; k < count; ++k) {
    std::int64_t rest = k;
    std::int64_t place = first;
    for (std::size_t d = shape.size(); d-- > 0;) {
      place += rest % shape[d] * strides[d];
      rest /= shape[d];
    }
    all.push_back(values[static_cast<std::size_t>(place)]);
  }
  return all;
}

TEST(TensorTest, ReadsAnyRangeOfAnyStrides) {
  std::vector<std::int32_t> values(400);
  std::iota(values.begin(), values.end(), 1000);
  struct Case {
    Shape shape;
    std::vector<std::int64_t> strides;
    std::int64_t first;
  };
  const std::vector<Case> cases{
      {{3, 4, 5}, {20, 5, 1}, 7},   // C order
      {{3, 4, 5}, {1, 3, 12}, 0},   // Fortran order
      {{3, 4, 5}, {5, 15, 1}, 2},   // first two axes exchanged
      {{3, 4, 5}, {40, 10, 2}, 1},  // every other element
      {{2, 1, 3, 1, 4}, {1, 9, 2, 9, 6}, 0},
      {{3, 4}, {0, 1}, 3},  // rows repeated
      {{3, 4}, {1, 0}, 3},  // columns repeated
      {{5, 4}, {1, 1}, 0},  // overlapping windows
      {{7}, {50}, 5},
      {{}, {}, 11},
  };
  for (const Case& c : cases) {
    const Tensor tensor = of_int32(values, c.shape, c.strides, c.first);
    const std::vector<std::int64_t> expected = by_definition(values, c.shape, c.strides, c.first);
    const auto size = static_cast<std::int64_t>(expected.size());
    for (std::int64_t from = 0; from <= size; ++from) {
      for (std::int64_t count = 0; count <= size - from; ++count) {
        std::vector<std::int64_t> part(static_cast<std::size_t>(count) + 1, -7);
        tensor.read(from, count, part.data());
        ASSERT_TRUE(std::equal(part.begin(), part.end() - 1, expected.begin() + from))
            << to_string(c.shape) << " " << from << " " << count;
        ASSERT_EQ(part.back(), -7);
      }
    }
  }
}

TEST(TensorTest, LongStridedRunsMatchTheDefinition) {
  std::vector<std::int32_t> values(3 * 70001);
  std::iota(values.begin(), values.end(), 0);
  for (const std::vector<std::int64_t>& strides :
       {std::vector<std::int64_t>{1, 3}, std::vector<std::int64_t>{70001, 1}}) {
    const Tensor tensor = of_int32(values, {3, 70001}, strides);
    EXPECT_EQ(tensor.values<std::int64_t>(), by_definition(values, {3, 70001}, strides, 0));
  }
}

TEST(TensorTest, RefusesLayoutsOutsideTheBytes) {
  const std::vector<std::int32_t> six{1, 2, 3, 4, 5, 6};
  EXPECT_NO_THROW(of_int32(six, {2, 3}, {3, 1}));
  const auto refuses = [&](Shape shape, std::vector<std::int64_t> strides, std::int64_t first) {
    EXPECT_THROW(of_int32(six, std::move(shape), std::move(strides), first), InputError);
  };
  constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();
  refuses({2, 3}, {3, 1}, 1);
  refuses({2, 3}, {4, 1}, 0);
  refuses({2, 3}, {3, 1}, -1);
  refuses({2, 3}, {-3, 1}, 3);
  refuses({2, 3}, {kHuge, kHuge}, 0);
  refuses({kHuge / 8}, {kHuge}, 0);
  refuses({kHuge}, {0}, 0);
  refuses({2, 3}, {1}, 0);
  refuses({1}, {1}, kHuge);
  EXPECT_NO_THROW(of_int32(six, {0, 3}, {kHuge, kHuge}, kHuge));
}

TEST(TensorTest, RefusesRangesOutsideTheTensor) {
  const Tensor tensor = of_int32({1, 2, 3}, {3}, {1});
  std::vector<double> out(4);
  constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();
  for (const auto& [first, count] : {std::pair<std::int64_t, std::int64_t>{0, 4},
                                     {2, 2},
                                     {-1, 1},
                                     {0, -1},
                                     {4, 0},
                                     {1, kHuge}}) {
    expect_input_error("memory: tensor 't'", [&, from = first, number = count] {
      tensor.read(from, number, out.data());
    });
  }
}

TEST(TensorTest, ElementCountNeverOverflows) {
  EXPECT_EQ(element_count({}), 1);
  EXPECT_EQ(element_count({0, 5}), 0);
  EXPECT_EQ(element_count({std::int64_t{1} << 59, 1}), std::int64_t{1} << 59);
  EXPECT_FALSE(element_count({std::int64_t{1} << 60}));
  EXPECT_FALSE(element_count({std::int64_t{1} << 32, std::int64_t{1} << 32}));
  EXPECT_FALSE(element_count({0, std::int64_t{1} << 32, std::int64_t{1} << 32}));
  EXPECT_EQ(element_count(Shape(64, 1)), 1);
  EXPECT_FALSE(element_count(Shape(65, 1)));
  EXPECT_FALSE(element_count({-1}));
  EXPECT_FALSE(element_count(Shape(65, 1)));
}

TEST(TensorTest, EveryHalfConvertsExactly) {
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const int exponent = static_cast<int>(bits >> 10U & 31U);
    const double fraction = static_cast<double>(bits & 1023U) / 1024;
    double expected =
        exponent == 0 ? std::ldexp(fraction, -14) : std::ldexp(1 + fraction, exponent - 15);
    if (exponent == 31) {
      expected = fraction == 0 ? std::numeric_limits<double>::infinity()
                               : std::numeric_limits<double>::quiet_NaN();
    }
    if ((bits & 0x8000U) != 0) expected = -expected;
    double value = 0;
    ASSERT_TRUE(convert_elements(DType::kFloat16, ByteOrder::kLittle,
                                 reinterpret_cast<const std::byte*>(&half), 1, &value));
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(value)) << bits;
    } else {
      ASSERT_EQ(value, expected) << bits;
      ASSERT_EQ(std::signbit(value), std::signbit(expected)) << bits;
    }
  }
}

TEST(TensorTest, EveryBfloatIsTheUpperHalfOfAFloat) {
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const auto expected = std::bit_cast<float>(bits << 16U);
    float value = 0;
    ASSERT_TRUE(convert_elements(DType::kBFloat16, ByteOrder::kLittle,
                                 reinterpret_cast<const std::byte*>(&half), 1, &value));
    ASSERT_EQ(std::isnan(value), std::isnan(expected)) << bits;
    if (std::isnan(expected)) continue;
    ASSERT_EQ(value, expected) << bits;
  }
}

TEST(TensorTest, ReadsSlabsInBoundedPieces) {
  constexpr std::int64_t kRows = std::int64_t{1} << 20;
  const auto bytes = std::make_shared<CountingBytes>(kRows * 64 * 2);
  std::vector<double> slab(1 << 20);
  for (const bool fortran : {false, true}) {
    TensorLayout layout;
    layout.strides = fortran ? fortran_strides({kRows, 64}) : c_strides({kRows, 64});
    const Tensor tensor({"t", DType::kFloat16, {kRows, 64}}, bytes, layout);
    bytes->reads = 0;
    tensor.read(kRows, 1 << 20, slab.data());
    EXPECT_LE(bytes->largest, std::size_t{1} << 18);
    EXPECT_LE(bytes->reads, 1024U);
  }
}

}  // namespace
}  // namespace synergraph

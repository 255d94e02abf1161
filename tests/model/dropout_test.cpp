#include "synergraph/model/dropout.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <vector>

#include "synergraph/core/error.h"
#include "synergraph/core/random.h"

namespace synergraph {
namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes mask(const Dropout& dropout, int layer, DropoutSite site, std::uint64_t first,
           std::size_t count) {
  Bytes bytes(count);
  dropout.mask(layer, site, first, count, bytes.data());
  return bytes;
}

bool bit(const Bytes& bytes, std::size_t element) {
  return ((bytes[element / 8] >> (element % 8)) & 1U) != 0;
}

// The definition in the header, one element at a time.
TEST(Dropout, MasksFollowTheirDefinition) {
  const std::uint64_t seed = 0x123456789abcdefULL;
  const std::uint32_t step = 77;
  const Dropout dropout(0.3, seed, step);
  const RandomStream stream(seed, Purpose::kDropout, step);
  const auto threshold = static_cast<std::uint32_t>(std::lround(0.3 * 65536));
  for (const std::uint64_t first :
       {std::uint64_t{0}, std::uint64_t{4096}, std::uint64_t{1} << 33U}) {
    const Bytes bytes = mask(dropout, 3, DropoutSite::kMlp, first, 40);
    for (std::uint64_t element = 0; element < 320; ++element) {
      const std::uint64_t u = first + element / 8;
      const std::uint64_t block = (std::uint64_t{7} << 40U) + 8 * (u / 8) + element % 8;
      const auto half = static_cast<unsigned>(u % 8);
      const std::uint32_t draw = (stream.words(block)[half / 2] >> (16U * (half % 2))) & 0xFFFFU;
      ASSERT_EQ(bit(bytes, element), draw >= threshold) << first << " " << element;
    }
  }
}

TEST(Dropout, DropsAtItsRate) {
  for (const double rate : {0.1, 0.5, 0.9}) {
    const std::size_t count = 100000;
    const Bytes bytes = mask(Dropout(rate, 5, 1), 0, DropoutSite::kAttention, 0, count);
    double kept = 0.0;
    for (const std::uint8_t byte : bytes) kept += std::popcount(byte);
    const double elements = 8.0 * static_cast<double>(count);
    EXPECT_NEAR(kept / elements, 1.0 - rate, 5.0 * std::sqrt(rate * (1.0 - rate) / elements));
    EXPECT_NEAR(Dropout(rate, 5, 1).scale() * (1.0 - rate), 1.0, 2e-4);
  }
}

// Two independent masks of rate p agree with probability p^2 + (1-p)^2.
TEST(Dropout, MasksOfDifferentStepsLayersSitesSeedsAndPlacesAreIndependent) {
  const double rate = 0.5;
  const std::size_t count = 50000;
  const Bytes base = mask(Dropout(rate, 9, 4), 1, DropoutSite::kAttention, 0, count);
  const std::vector<Bytes> others = {
      mask(Dropout(rate, 9, 5), 1, DropoutSite::kAttention, 0, count),
      mask(Dropout(rate, 9, 4), 2, DropoutSite::kAttention, 0, count),
      mask(Dropout(rate, 9, 4), 1, DropoutSite::kMlp, 0, count),
      mask(Dropout(rate, 10, 4), 1, DropoutSite::kAttention, 0, count),
      mask(Dropout(rate, 9, 4), 1, DropoutSite::kAttention, 8, count),
      mask(Dropout(rate, 9, 4), 1, DropoutSite::kAttention, count, count),
  };
  for (const Bytes& other : others) {
    double agree = 0.0;
    for (std::size_t k = 0; k < count; ++k)
      agree += 8 - std::popcount(static_cast<std::uint8_t>(base[k] ^ other[k]));
    const double elements = 8.0 * static_cast<double>(count);
    EXPECT_NEAR(agree / elements, 0.5, 5.0 * std::sqrt(0.25 / elements));
  }
  // Neighbouring elements too.
  double agree = 0.0;
  for (std::size_t k = 0; k + 1 < 8 * count; ++k) agree += bit(base, k) == bit(base, k + 1) ? 1 : 0;
  EXPECT_NEAR(agree / (8.0 * static_cast<double>(count)), 0.5, 0.005);
}

TEST(Dropout, ScaleMakesUpForTheRoundedRate) {
  // 0.1 is 6553.6 / 65536, rounded to 6554: 58982 of 65536 are kept.
  EXPECT_EQ(Dropout(0.1, 1, 1).scale(), 65536.0F / 58982.0F);
  EXPECT_EQ(Dropout(0.5, 1, 1).scale(), 2.0F);
  EXPECT_EQ(Dropout(1.0 - 1e-9, 1, 1).scale(), 65536.0F);  // something is always kept
}

TEST(Dropout, IsOffByDefaultAndAtRateZero) {
  EXPECT_FALSE(Dropout().active());
  EXPECT_FALSE(Dropout(0.0, 1, 1).active());
  EXPECT_EQ(Dropout().scale(), 1.0F);
  EXPECT_THROW(Dropout(1.0, 1, 1), UsageError);
  EXPECT_THROW(Dropout(-0.1, 1, 1), UsageError);
  EXPECT_THROW(Dropout(std::nan(""), 1, 1), UsageError);
}

}  // namespace
}  // namespace synergraph

#include "synergraph/core/parse_number.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace synergraph {
namespace {

TEST(ParseNumber, TakesAllOfTheTextOrNothing) {
  double real = 0.0;
  EXPECT_TRUE(parse_number("-2.5e-1", real));
  EXPECT_EQ(real, -0.25);
  for (const char* text : {"", " 1", "1 ", "+1", "1,5", "1e", "0x10", "1e999", "one"})
    EXPECT_FALSE(parse_number(text, real)) << text;
  int whole = 0;
  EXPECT_TRUE(parse_number("-2147483648", whole));
  EXPECT_EQ(whole, INT32_MIN);
  for (const char* text : {"2147483648", "1.0", "1e3", "--1", "1L"})
    EXPECT_FALSE(parse_number(text, whole)) << text;
  std::uint64_t seed = 0;
  EXPECT_TRUE(parse_number("18446744073709551615", seed));
  EXPECT_EQ(seed, UINT64_MAX);
  for (const char* text : {"-1", "18446744073709551616"})
    EXPECT_FALSE(parse_number(text, seed)) << text;
  unsigned char byte = 0;
  EXPECT_TRUE(parse_number("fe", byte, 16));
  EXPECT_EQ(byte, 254);
}

TEST(ParseNumber, TellsWhereALeadingNumberEnds) {
  int value = 0;
  EXPECT_EQ(parse_leading_number("-12, 3", value), 3U);
  EXPECT_EQ(value, -12);
  for (const char* text : {"", ",1", "99999999999"})
    EXPECT_EQ(parse_leading_number(text, value), 0U) << text;
}

}  // namespace
}  // namespace synergraph

#include "synergraph/core/token_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "synergraph/core/error.h"

namespace synergraph {
namespace {

using testing::ElementsAre;

std::vector<int> places(const std::string& text, int tokens) {
  return TokenChoice(text, "--from").places(tokens, "--from");
}

TEST(TokenChoice, HasNumbersRangesAndSlices) {
  EXPECT_THAT(places("5", 8), ElementsAre(5));
  EXPECT_THAT(places("-1", 8), ElementsAre(7));
  EXPECT_THAT(places("2-4", 8), ElementsAre(2, 3, 4));
  EXPECT_THAT(places("6,0,6", 8), ElementsAre(0, 6));
  EXPECT_THAT(places("::3", 8), ElementsAre(0, 3, 6));
  EXPECT_THAT(places("5:", 8), ElementsAre(5, 6, 7));
  EXPECT_THAT(places(":-6,-2:", 8), ElementsAre(0, 1, 6, 7));
  EXPECT_THAT(places("1:100:2", 8), ElementsAre(1, 3, 5, 7));
  EXPECT_TRUE(TokenChoice().empty());
}

TEST(TokenChoice, KnowsASingleToken) {
  EXPECT_EQ(TokenChoice("7", "").single(), 7);
  EXPECT_EQ(TokenChoice("-7", "").single(), -7);
  for (const char* several : {"1,2", "1-2", "1:2"}) EXPECT_FALSE(TokenChoice(several, "").single());
}

TEST(TokenChoice, RefusesWhatIsNoChoice) {
  for (const char* text : {"", ",", "1,", "a", "1.5", "3-1", "--1", "1-", "-3--1", "::0", "::-1",
                           "1:2:3:4", " 1", "99999999999999999999"})
    EXPECT_THROW(TokenChoice(text, "--from"), UsageError) << text;
  for (const char* text : {"8", "-9", "5-8", "8:", "3:3"})
    EXPECT_THROW(places(text, 8), InputError) << text;
  EXPECT_THROW(places("0", 0), InputError);
}

}  // namespace
}  // namespace synergraph

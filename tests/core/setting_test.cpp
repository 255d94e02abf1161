#include "synergraph/core/setting.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace synergraph {
namespace {

TEST(Setting, EveryDoorSpellsMarkedKeysInItsOwnWay) {
  const std::string message = option_mark("row_tolerance") + ": 2 > " + option_mark("most");
  EXPECT_EQ(spelled(message, OptionSpelling::kKey), "row_tolerance: 2 > most");
  EXPECT_EQ(spelled(message, OptionSpelling::kProgram), "--row-tolerance: 2 > --most");
  // What a user wrote stays as it is.
  for (const auto spelling : {OptionSpelling::kKey, OptionSpelling::kProgram})
    for (const std::string text : {"", "a --b_c row_tolerance", "x_y"})
      EXPECT_EQ(spelled(text, spelling), text);
  // A mark without its end loses no text.
  const std::string open = option_mark("key").substr(0, 6);
  EXPECT_EQ(spelled(open, OptionSpelling::kProgram), "key");
}

TEST(Setting, RangesContainTheirEndsUnlessTheyAreAbove) {
  EXPECT_TRUE(kStepRange.contains(1));
  EXPECT_FALSE(kStepRange.contains(0));
  EXPECT_TRUE(kThresholdRange.contains(1.0));
  EXPECT_FALSE(kThresholdRange.contains(0.0));
  EXPECT_FALSE(kThresholdRange.contains(std::numeric_limits<double>::quiet_NaN()));
  EXPECT_EQ(described(kThresholdRange), "a number above 0, at most 1");
  EXPECT_EQ(described(NumberRange<int>{}), "a whole number of at least 0");
}

TEST(Setting, OnlyTheNamedFacesRemain) {
  unsigned seen = face::kAll;
  const auto visit = [&](const Setting& setting, int) { seen = setting.faces; };
  auto in_program = only_for(face::kProgram | face::kC, visit);
  in_program(Setting{.key = "a", .group = "", .help = "", .faces = face::kLibrary}, 0);
  EXPECT_EQ(seen, face::kC);
}

}  // namespace
}  // namespace synergraph

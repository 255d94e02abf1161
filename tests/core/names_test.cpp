#include "synergraph/core/names.h"

#include <gmock/gmock.h>

namespace synergraph {

enum class Shade { kLight, kDark, kUnnamed };

template <>
inline constexpr NameTable<Shade, 3> kNamesOf<Shade>{
    {{Shade::kDark, "dark"}, {Shade::kLight, "light"}, {Shade::kDark, "black"}}};

namespace {

TEST(Names, AreReadBackAsTheyAreWritten) {
  for (const Shade shade : {Shade::kLight, Shade::kDark})
    EXPECT_EQ(parse_name<Shade>(name_of(shade)), shade);
  EXPECT_EQ(name_of(Shade::kDark), "dark");
  EXPECT_EQ(parse_name<Shade>("black"), Shade::kDark);
  EXPECT_EQ(name_of(Shade::kUnnamed), "");
  for (const char* other : {"", "Dark", "dark ", "dar"}) EXPECT_FALSE(parse_name<Shade>(other));
  EXPECT_THAT(all_names<Shade>(), testing::ElementsAre("dark", "light", "black"));
  static_assert(Named<Shade> && !Named<int>);
}

}  // namespace
}  // namespace synergraph

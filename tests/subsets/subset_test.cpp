#include "synergraph/subsets/subset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "synergraph/core/error.h"

namespace synergraph {
namespace {

TEST(Subset, IsASetOfHeads) {
  EXPECT_THAT(heads_in(0), testing::IsEmpty());
  EXPECT_THAT(heads_in(0b101001), testing::ElementsAre(0, 3, 5));
  EXPECT_EQ(heads_in(all_heads(kMaxExactHeads)).size(), 20U);
}

TEST(HeadsOfTable, CountsThemAndChecksTheTable) {
  for (int heads = 1; heads <= kMaxExactHeads; ++heads)
    EXPECT_EQ(heads_of_table(std::vector<double>(std::size_t{1} << heads)), heads);
  for (const std::size_t size : {0U, 1U, 3U, 6U, 1U << 21U})
    EXPECT_THROW(heads_of_table(std::vector<double>(size)), InputError);
  for (const double wrong :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()})
    EXPECT_THROW(heads_of_table(std::vector<double>{0.0, 1.0, wrong, 1.0}), InputError);
}

}  // namespace
}  // namespace synergraph

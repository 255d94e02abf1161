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

TEST(SubsetsOfSize, AreInLexicographicOrder) {
  EXPECT_THAT(subsets_of_size(4, 2),
              testing::ElementsAre(0b0011, 0b0101, 0b1001, 0b0110, 0b1010, 0b1100));
  EXPECT_THAT(subsets_of_size(3, 0), testing::ElementsAre(0));
  EXPECT_THAT(subsets_of_size(3, 4), testing::IsEmpty());
  for (int heads = 2; heads <= 9; ++heads) {
    std::size_t pair = 0;
    for (const Subset set : subsets_of_size(heads, 2)) {
      const std::vector<int> in = heads_in(set);
      EXPECT_EQ(pair_index(heads, in[0], in[1]), pair++);
    }
    std::size_t triple = 0;
    for (const Subset set : subsets_of_size(heads, 3)) {
      const std::vector<int> in = heads_in(set);
      EXPECT_EQ(triple_index(heads, in[0], in[1], in[2]), triple++);
    }
  }
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

#include "synergraph/model/tasks.h"

#include <gtest/gtest.h>

#include <set>

#include "synergraph/core/error.h"

namespace synergraph {
namespace {

TEST(Tasks, SayWhatTheModelShallAnswer) {
  const Sequences inputs{2, 4, {5, 6, 7, 8, 1, 2, 3, 4}};
  EXPECT_EQ(targets(find_task("copy"), inputs).tokens, inputs.tokens);
  EXPECT_EQ(targets(find_task("cycle"), inputs).tokens,
            (std::vector<std::int32_t>{8, 5, 6, 7, 4, 1, 2, 3}));
  EXPECT_EQ(targets(find_task("zero"), inputs).tokens, std::vector<std::int32_t>(8, 0));
}

TEST(Tasks, UnknownNamesAreRefusedWithTheKnownOnes) {
  try {
    find_task("sort");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "unknown task 'sort': expected one of copy, cycle, zero");
  }
}

TEST(RandomSequences, AreUniformAndDependOnSeedAndIndexAlone) {
  const Sequences few = random_sequences(3, 10, 50, 16);
  const Sequences many = random_sequences(3, 400, 50, 16);
  EXPECT_TRUE(std::equal(few.tokens.begin(), few.tokens.end(), many.tokens.begin()));
  EXPECT_NE(random_sequences(4, 10, 50, 16).tokens, few.tokens);
  std::set<std::vector<std::int32_t>> rows;
  for (int k = 0; k < many.count; ++k) rows.insert({many.row(k), many.row(k) + 50});
  EXPECT_EQ(rows.size(), 400U);

  std::vector<double> seen(16, 0.0);
  for (const std::int32_t token : many.tokens) seen.at(static_cast<std::size_t>(token)) += 1.0;
  double chi_square = 0.0;
  for (const double count : seen) chi_square += (count - 1250.0) * (count - 1250.0) / 1250.0;
  EXPECT_LT(chi_square, 44.3);  // 99.99 % point of chi-square with 15 degrees of freedom
}

TEST(RandomSequences, NeedSizes) {
  EXPECT_THROW(random_sequences(1, 0, 5, 5), UsageError);
  EXPECT_THROW(random_sequences(1, 5, 5, 0), UsageError);
}

}  // namespace
}  // namespace synergraph

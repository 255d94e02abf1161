#include "synergraph/subsets/subset_search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <numeric>

#include "synergraph/core/error.h"
#include "tests/subsets/games.h"

namespace synergraph {
namespace {

using testing_support::random_game;

SubsetFunction function_of(const std::vector<double>& table) {
  return [&table](std::span<const int> heads) {
    Subset subset = 0;
    for (const int head : heads) subset |= Subset{1} << head;
    return table[subset];
  };
}

TEST(FindSubsets, FindsTheBestWhereItLooksAtAll) {
  for (std::uint32_t stream = 0; stream < 200; ++stream) {
    const auto heads = static_cast<int>(1 + stream % 8);
    const std::vector<double> table = random_game(heads, stream);
    const std::vector<SubsetChoice> best = best_subsets(table);
    const FoundSubsets found = find_subsets(heads, function_of(table));
    EXPECT_EQ(found.values, static_cast<std::int64_t>(table.size()));
    for (std::size_t size = 0; size < best.size(); ++size) {
      EXPECT_EQ(found.best[size].value, best[size].value);
      EXPECT_TRUE(found.best[size].certified);
    }
    const PruningPath addition = greedy_addition(table);
    const PruningPath removal = greedy_removal(table);
    EXPECT_EQ(found.addition.order, addition.order);
    EXPECT_EQ(found.addition.value, addition.value);
    EXPECT_EQ(found.addition.loss, addition.loss);
    EXPECT_EQ(found.removal.order, removal.order);
    EXPECT_EQ(found.removal.loss, removal.loss);
  }
}

// Without looking at all: never above the best, at least as good as the paths, and no exchange of
// one head makes it better.
TEST(FindSubsets, FindsWhatNoExchangeImproves) {
  for (std::uint32_t stream = 0; stream < 200; ++stream) {
    const auto heads = static_cast<int>(4 + stream % 6);
    const std::vector<double> table = random_game(heads, stream);
    const std::vector<SubsetChoice> best = best_subsets(table);
    std::vector<int> order(static_cast<std::size_t>(heads));
    std::iota(order.begin(), order.end(), 0);
    const FoundSubsets found =
        find_subsets(heads, function_of(table), {.exhaustive = 0, .orders = {order}});
    for (std::size_t first = 0; first < table.size(); first = 2 * first + 1)
      EXPECT_EQ(found.orders[0].value[static_cast<std::size_t>(std::popcount(first))],
                table[first]);
    for (std::size_t size = 0; size < best.size(); ++size) {
      const FoundSubset& here = found.best[size];
      ASSERT_EQ(here.heads.size(), size);
      EXPECT_EQ(here.value, function_of(table)(here.heads));
      EXPECT_LE(here.value, best[size].value);
      EXPECT_EQ(here.certified, size <= 1 || size + 2 >= best.size());
      if (here.certified) {
        EXPECT_EQ(here.value, best[size].value);
      }
      for (const PruningPath* path : {&found.addition, &found.removal, &found.orders[0]}) {
        EXPECT_LE(path->value[size], here.value);
        EXPECT_EQ(path->loss[size], here.value - path->value[size]);
      }
      Subset set = 0;
      for (const int head : here.heads) set |= Subset{1} << head;
      for (int in = 0; in < heads; ++in)
        for (int out = 0; out < heads; ++out)
          if ((set >> in & 1U) == 0 && (set >> out & 1U) == 1) {
            EXPECT_LE(table[(set | Subset{1} << in) ^ Subset{1} << out], here.value);
          }
    }
  }
}

// Three heads that are worth something only together, among forty: greedy addition cannot see them,
// the exchanges find them from what removal leaves.
TEST(FindSubsets, WithFortyHeads) {
  const SubsetFunction value = [](std::span<const int> heads) {
    double sum = 0.0;
    int united = 0;
    for (const int head : heads) {
      sum += 0.001 * (head % 7);
      united += head == 3 || head == 17 || head == 38 ? 1 : 0;
    }
    return sum + (united == 3 ? 1.0 : 0.0);
  };
  const FoundSubsets found = find_subsets(40, value);
  const FoundSubsets threads = find_subsets(40, value, {.execution = {.threads = 4}});
  EXPECT_THAT(found.best[3].heads, testing::ElementsAre(3, 17, 38));
  EXPECT_FALSE(found.best[3].certified);
  EXPECT_TRUE(found.best[2].certified);
  EXPECT_GT(found.addition.loss[3], 0.9);
  for (std::size_t size = 3; size <= 40; ++size) EXPECT_LT(found.removal.loss[size], 1e-12);
  EXPECT_EQ(found.values, threads.values);
  for (std::size_t size = 0; size <= 40; ++size)
    EXPECT_EQ(found.best[size].heads, threads.best[size].heads);
}

TEST(FindSubsets, StopsAndRefuses) {
  const SubsetFunction value = [](std::span<const int> heads) {
    return static_cast<double>(heads.size());
  };
  EXPECT_THROW(find_subsets(0, value), InputError);
  EXPECT_THROW(find_subsets(3, value, {.orders = {{0, 1, 1}}}), InputError);
  EXPECT_THROW(find_subsets(3, [](std::span<const int>) { return std::nan(""); }), InputError);
  EXPECT_THROW(find_subsets(3, value, {.execution = {.stop = [] { return true; }}}), Stopped);
}

}  // namespace
}  // namespace synergraph

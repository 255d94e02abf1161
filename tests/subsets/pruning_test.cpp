#include "synergraph/subsets/pruning.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "synergraph/core/error.h"
#include "synergraph/subsets/game.h"
#include "tests/subsets/games.h"

namespace synergraph {
namespace {

using nlohmann::json;
using testing::Each;
using testing::ElementsAre;
using testing_support::additive_game;
using testing_support::random_game;

constexpr std::uint32_t kGames = 2000;

int heads_of(std::uint32_t stream) {
  return static_cast<int>(1 + stream % 8);
}

TEST(BestSubsets, OfTheVectors) {
  std::ifstream file(std::string(SYNERGRAPH_TEST_DATA) + "/subsets/expected.json");
  const json layers = json::parse(file)["layers"];
  for (const json& layer : layers)
    for (const std::string kind : {"fidelity", "speed"}) {
      const auto values = layer[kind + "_values"].get<std::vector<double>>();
      const std::vector<SubsetChoice> best = best_subsets(values);
      ASSERT_EQ(best.size(), 6U);
      EXPECT_EQ(best[0].heads, 0U);
      for (const json& expected : layer[kind]["best_subsets"]) {
        const SubsetChoice& choice = best[expected[0].get<std::size_t>()];
        EXPECT_EQ(choice.heads, expected[1].get<Subset>());
        EXPECT_EQ(choice.value, expected[2].get<double>());
      }
    }
}

TEST(BestSubsets, AreThoseOfAnEnumeration) {
  for (std::uint32_t stream = 0; stream < kGames; ++stream) {
    const int heads = heads_of(stream);
    const std::vector<double> values = random_game(heads, stream);
    const std::vector<SubsetChoice> best = best_subsets(values);
    ASSERT_EQ(best.size(), static_cast<std::size_t>(heads) + 1);
    for (int size = 0; size <= heads; ++size) {
      std::vector<Subset> subsets = subsets_of_size(heads, size);
      std::sort(subsets.begin(), subsets.end());
      const Subset expected =
          *std::max_element(subsets.begin(), subsets.end(),
                            [&](Subset a, Subset b) { return values[a] < values[b]; });
      EXPECT_EQ(best[static_cast<std::size_t>(size)].heads, expected);
      EXPECT_EQ(best[static_cast<std::size_t>(size)].value, values[expected]);
    }
  }
}

TEST(BestSubsets, TiesGoToTheSmallestIndex) {
  const double more = 0.5 * (1.0 + 1e-14);
  const double most = 0.5 * (1.0 + 1e-11);
  EXPECT_EQ(best_subsets(std::vector<double>{0, 0.5, more, 0.5})[1].heads, 1U);
  EXPECT_EQ(best_subsets(std::vector<double>{0, 0.5, most, 0.5})[1].heads, 2U);
}

Subset first(const PruningPath& path, std::size_t count) {
  Subset taken = 0;
  for (std::size_t k = 0; k < count; ++k) taken |= Subset{1} << path.order[k];
  return taken;
}

TEST(PruningPath, HasTheValuesOfItsPrefixesAndWhatTheyLose) {
  for (std::uint32_t stream = 0; stream < kGames; ++stream) {
    const std::vector<double> values = random_game(heads_of(stream), stream);
    const std::vector<SubsetChoice> best = best_subsets(values);
    for (const PruningPath& path :
         {greedy_addition(values), greedy_removal(values), shapley_path(values)}) {
      ASSERT_EQ(path.value.size(), best.size());
      ASSERT_EQ(path.loss.size(), best.size());
      EXPECT_EQ(first(path, path.order.size()), all_heads(heads_of(stream)));
      for (std::size_t k = 0; k < best.size(); ++k) {
        EXPECT_EQ(path.value[k], values[first(path, k)]);
        EXPECT_EQ(path.loss[k], best[k].value - path.value[k]);
        EXPECT_GE(path.loss[k], 0.0);
      }
    }
  }
}

TEST(GreedyPaths, TakeTheBestStepAndTheSmallestIndexOfTies) {
  for (std::uint32_t stream = 0; stream < kGames; ++stream) {
    const int heads = heads_of(stream);
    const std::vector<double> values = random_game(heads, stream);
    const PruningPath addition = greedy_addition(values);
    const PruningPath removal = greedy_removal(values);
    for (std::size_t k = 0; k < addition.order.size(); ++k) {
      const Subset before = first(addition, k);
      const Subset after = first(addition, k + 1);
      const Subset rest = first(removal, k);
      const Subset from = first(removal, k + 1);
      for (int head = 0; head < heads; ++head) {
        const Subset bit = Subset{1} << head;
        if ((before & bit) == 0) {
          EXPECT_GE(values[after], values[before | bit]);
          if (values[after] == values[before | bit]) {
            EXPECT_LE(after, before | bit);
          }
        }
        if ((from & bit) != 0) {
          EXPECT_GE(values[rest], values[from ^ bit]);
          if (values[rest] == values[from ^ bit]) {
            EXPECT_LE(rest, from ^ bit);
          }
        }
      }
    }
  }
}

TEST(ShapleyPath, FallsAndTakesTheFirstOfTwins) {
  for (std::uint32_t stream = 0; stream < kGames; ++stream) {
    const std::vector<double> values = random_game(heads_of(stream), stream);
    const std::vector<double> shapley = shapley_values(values);
    const std::vector<int> order = shapley_path(values).order;
    for (std::size_t k = 1; k < order.size(); ++k)
      EXPECT_GE(shapley[static_cast<std::size_t>(order[k - 1])],
                shapley[static_cast<std::size_t>(order[k])] - 1e-12);
  }
  std::vector<double> twins(1U << 10U);
  for (Subset set = 0; set < twins.size(); ++set) twins[set] = std::sqrt(std::popcount(set));
  EXPECT_THAT(shapley_path(twins).order, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9));
}

TEST(PruningPath, OfAnAdditiveGameLosesNothing) {
  const std::vector<double> values = additive_game({0.3, -0.2, 0.7, 0.1, 0.5});
  for (const PruningPath& path :
       {greedy_addition(values), greedy_removal(values), shapley_path(values)}) {
    EXPECT_THAT(path.order, ElementsAre(2, 4, 0, 3, 1));
    EXPECT_THAT(path.loss, Each(0.0));
  }
  EXPECT_EQ(subsets_beating_all(values).best->heads, 0b11101U);
}

// Two heads that need each other: addition takes the third head first, and loses.
TEST(GreedyAddition, MayLose) {
  std::vector<double> values(8, 0.0);
  for (Subset set = 0; set < 8; ++set)
    values[set] = (set & 3U) == 3 ? 1.0 : (set & 4U) != 0 ? 0.2 : 0.0;
  const PruningPath addition = greedy_addition(values);
  EXPECT_THAT(addition.order, ElementsAre(2, 0, 1));
  EXPECT_THAT(addition.loss, ElementsAre(0.0, 0.0, 0.8, 0.0));
  EXPECT_THAT(greedy_removal(values).order, ElementsAre(0, 1, 2));
}

TEST(SmallestSubset, HasTheFewestHeadsThatKeepTheShare) {
  for (std::uint32_t stream = 0; stream < kGames; ++stream) {
    const std::vector<double> values = random_game(heads_of(stream), stream);
    const double keep = static_cast<double>(stream % 11) / 10.0;
    const SubsetChoice found = smallest_subset(values, keep);
    const double enough = keep * values.back();
    if (values.back() >= 0.0) {
      EXPECT_GE(found.value, enough);
    }
    for (Subset set = 0; set < values.size(); ++set) {
      if (std::popcount(set) < std::popcount(found.heads)) {
        EXPECT_LT(values[set], enough);
      }
      if (std::popcount(set) == std::popcount(found.heads)) {
        EXPECT_LE(values[set], found.value);
      }
    }
  }
}

TEST(SmallestSubset, TakesWhatIsEqualOnPaper) {
  const std::vector<double> values = {0.0, 0.1, 0.3 * (1.0 - 1e-15), 0.3};
  EXPECT_EQ(smallest_subset(values, 1.0).heads, 2U);
  EXPECT_EQ(smallest_subset(values, 0.0).heads, 0U);
  EXPECT_EQ(smallest_subset(std::vector<double>{-3, -2, -2, -1}, 0.5).heads, 3U);
  EXPECT_THROW(smallest_subset(values, 1.1), InputError);
  EXPECT_THROW(smallest_subset(values, std::nan("")), InputError);
}

TEST(SubsetsBeatingAll, AreCounted) {
  for (std::uint32_t stream = 0; stream < kGames; ++stream) {
    const std::vector<double> values = random_game(heads_of(stream), stream);
    std::uint64_t count = 0;
    for (const double value : values) count += value > values.back() ? 1 : 0;
    const BetterSubsets better = subsets_beating_all(values);
    EXPECT_EQ(better.count, count);
    ASSERT_EQ(better.best.has_value(), count > 0);
    if (count == 0) continue;
    for (Subset set = 0; set < values.size(); ++set) {
      EXPECT_LE(values[set], better.best->value);
      if (values[set] == better.best->value) {
        EXPECT_GE(std::popcount(set), std::popcount(better.best->heads));
      }
    }
  }
  EXPECT_EQ(subsets_beating_all(std::vector<double>{0, 0.3 * (1.0 + 1e-15), 0, 0.3}).count, 0U);
}

}  // namespace
}  // namespace synergraph

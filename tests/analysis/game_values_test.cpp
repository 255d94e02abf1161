#include "synergraph/analysis/game_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <set>

#include "synergraph/core/error.h"
#include "synergraph/statistics/estimate.h"
#include "synergraph/subsets/game.h"
#include "tests/subsets/games.h"

namespace synergraph {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing_support::additive_game;
using testing_support::random_game;

using Tables = std::vector<std::vector<double>>;  // of each sample

/// Answers from tables, and notes what was asked.
struct Asked {
  std::vector<Tables> layers;
  std::set<std::pair<int, std::vector<int>>> sets = {};
  int twice = 0;
  std::size_t most = 0;

  GameFunction function() {
    return [this](int layer, std::span<const std::vector<int>> asked, std::span<double> values) {
      const Tables& tables = layers[static_cast<std::size_t>(layer)];
      most = std::max(most, asked.size());
      for (std::size_t k = 0; k < asked.size(); ++k) {
        if (!sets.emplace(layer, asked[k]).second) ++twice;
        Subset subset = 0;
        for (const int head : asked[k]) subset |= Subset{1} << head;
        for (std::size_t s = 0; s < tables.size(); ++s)
          values[k * tables.size() + s] = tables[s][subset];
      }
    };
  }
};

std::vector<AttentionLayer> shapes(const std::vector<int>& heads, int samples) {
  std::vector<AttentionLayer> layers;
  for (const int count : heads) {
    layers.emplace_back();
    layers.back().name = std::to_string(layers.size() - 1);
    layers.back().heads = count;
    layers.back().samples = samples;
  }
  return layers;
}

TEST(GameValues, AreTheIndicesOfEverySample) {
  Asked asked{{{random_game(4, 0), random_game(4, 1), random_game(4, 2)},
               {random_game(1, 0), random_game(1, 1), random_game(1, 2)}}};
  const HeadValues values = value_games(shapes({4, 1}, 3), asked.function(), {});
  EXPECT_EQ(asked.sets.size(), 16u + 2u);
  EXPECT_EQ(asked.twice, 0);
  EXPECT_THAT(values.options.values, ElementsAre(HeadValue::kLoss));
  EXPECT_EQ(name_of(HeadValue::kLoss), "loss");
  EXPECT_FALSE(parse_name<HeadValue>("loss").has_value());  // no setting
  const ValueOfHeads& value = values.layer_values[0].values[0];
  EXPECT_TRUE(values.layer_values[0].exact);
  for (std::size_t h = 0; h < 4; ++h) {
    std::vector<double> each;
    for (const auto& table : asked.layers[0]) each.push_back(shapley_values(table)[h]);
    EXPECT_EQ(value.heads[h].shapley.mean, estimate(each).mean);
    EXPECT_EQ(value.heads[h].shapley.error, estimate(each).error);
  }
  std::vector<double> mean(16);
  for (std::size_t s = 0; s < 16; ++s)
    for (const auto& table : asked.layers[0]) mean[s] += table[s];
  for (double& one : mean) one /= 3;
  const std::vector<SubsetChoice> best = best_subsets(mean);
  for (std::size_t k = 0; k < best.size(); ++k)
    EXPECT_DOUBLE_EQ(value.pruning.best[k].value, best[k].value);
}

HeadValueOptions sampled_options() {
  HeadValueOptions options;
  options.exact_heads = 3;
  options.sampling.least_batches = 4;
  options.sampling.batch = 1;
  options.sampling.max_permutations = 1;
  options.sampling.precision = 0.0;
  return options;
}

// Every order tells what each head of an additive game is worth: no error is that of orders.
TEST(GameValues, OfSampledAdditiveGamesAreExact) {
  Asked asked{{{additive_game({1, 2, 3, -4, 5}), additive_game({2, 2, 4, -4, 7})}}};
  const HeadValues values = value_games(shapes({5}, 2), asked.function(), sampled_options());
  EXPECT_EQ(asked.twice, 0);
  const LayerHeadValues& layer = values.layer_values[0];
  EXPECT_FALSE(layer.exact);
  EXPECT_EQ(layer.permutations, 4 * 2 * 5);
  EXPECT_TRUE(layer.values[0].pairs.empty());
  const std::vector<double> means = {1.5, 2, 3.5, -4, 6};
  const std::vector<double> errors = {0.5, 0, 0.5, 0, 1};
  for (std::size_t h = 0; h < means.size(); ++h) {
    EXPECT_NEAR(layer.values[0].heads[h].shapley.mean, means[h], 1e-13);
    EXPECT_NEAR(layer.values[0].heads[h].shapley.error, errors[h], 1e-13);
    EXPECT_NEAR(layer.values[0].heads[h].alone.mean, means[h], 1e-13);
    EXPECT_NEAR(layer.values[0].heads[h].dropped.mean, means[h], 1e-13);
  }
  EXPECT_THAT(layer.values[0].pruning.best[4].heads, ElementsAre(0, 1, 2, 4));
  EXPECT_NEAR(layer.values[0].better->value, 13.0, 1e-13);
}

// Samples that do not differ have no error but that of the orders, which they share.
TEST(GameValues, ErrorsOfSharedOrdersDoNotFallWithSamples) {
  const std::vector<double> table = random_game(6, 1);
  Asked one{{{table}}};
  Asked many{{Tables(9, table)}};
  HeadValueOptions options = sampled_options();
  options.sampling.pairs = true;
  const HeadValues first = value_games(shapes({6}, 1), one.function(), options);
  const HeadValues same = value_games(shapes({6}, 9), many.function(), options);
  const std::vector<double> exact = shapley_values(table);
  for (std::size_t h = 0; h < 6; ++h) {
    const Estimate& a = first.layer_values[0].values[0].heads[h].shapley;
    const Estimate& b = same.layer_values[0].values[0].heads[h].shapley;
    EXPECT_NEAR(a.mean, b.mean, 1e-13);
    EXPECT_NEAR(a.error, b.error, 1e-12);
    EXPECT_GT(a.error, 0.0);
    EXPECT_LT(std::abs(a.mean - exact[h]), 5 * a.error);
  }
  EXPECT_EQ(first.layer_values[0].values[0].pairs.size(), 15u);
  EXPECT_EQ(same.layer_values[0].permutations, 4 * 12);
}

TEST(GameValues, ManyHeadsAreSampled) {
  const int heads = 33;  // more than a subset's bits
  const GameFunction size = [](int, std::span<const std::vector<int>> sets, std::span<double> v) {
    for (std::size_t k = 0; k < sets.size(); ++k)
      v[k] = std::sqrt(static_cast<double>(sets[k].size()));
  };
  const HeadValues values = value_games(shapes({heads}, 1), size, sampled_options());
  for (const ValueOfHead& head : values.layer_values[0].values[0].heads)
    EXPECT_NEAR(head.shapley.mean, std::sqrt(33.0) / 33, 1e-12);
}

TEST(GameValues, StopAndRefuse) {
  const GameFunction infinite = [](int, std::span<const std::vector<int>>, std::span<double> v) {
    std::fill(v.begin(), v.end(), INFINITY);
  };
  try {
    value_games(shapes({2}, 1), infinite, {});
    ADD_FAILURE();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("layer 0: the value of a set of heads is not finite"));
  }
  const GameFunction silent = [](int, std::span<const std::vector<int>>, std::span<double>) {};
  EXPECT_THROW(value_games(shapes({2}, 1), silent, {}), InputError);
  EXPECT_THROW(value_games(shapes({0}, 1), silent, {}), InputError);
  EXPECT_THROW(value_games(shapes({2}, 0), silent, {}), InputError);
  HeadValueOptions stopped;
  stopped.execution.stop = [] { return true; };
  EXPECT_THROW(value_games(shapes({2}, 1), silent, stopped), Stopped);
}

TEST(GameValues, AskForSetsInParts) {
  Asked asked{{{random_game(10, 1)}}};
  std::vector<std::pair<std::uint64_t, std::uint64_t>> heard;
  HeadValueOptions options;
  options.execution.progress.listener = [&](std::uint64_t done, std::uint64_t total,
                                            const std::string&) {
    heard.emplace_back(done, total);
  };
  value_games(shapes({10}, 1), asked.function(), options);
  EXPECT_EQ(asked.most, 256u);
  EXPECT_THAT(heard, testing::Contains(std::pair(std::uint64_t{512}, std::uint64_t{1024})));
  EXPECT_EQ(heard.back(), std::pair(std::uint64_t{1024}, std::uint64_t{1024}));
}

}  // namespace
}  // namespace synergraph

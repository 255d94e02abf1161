#include "synergraph/subsets/game.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>

#include "synergraph/core/error.h"
#include "tests/subsets/games.h"

namespace synergraph {
namespace {

using nlohmann::json;
using testing_support::additive_game;
using testing_support::random_game;

long double factorial(int n) {
  return n < 2 ? 1.0L : n * factorial(n - 1);
}

/// d_A v(S), term by term.
long double derivative(const std::vector<double>& values, Subset set, Subset others) {
  long double sum = 0.0L;
  for (Subset part = set;; part = (part - 1) & set) {
    const bool odd = std::popcount(set ^ part) % 2 == 1;
    sum += odd ? -values[others | part] : values[others | part];
    if (part == 0) return sum;
  }
}

/// sum over S without A of weight(|S|) d_A v(S).
template <class Weight>
long double by_definition(const std::vector<double>& values, Subset set, const Weight& weight) {
  long double sum = 0.0L;
  for (Subset others = 0; others < values.size(); ++others)
    if ((others & set) == 0) sum += weight(std::popcount(others)) * derivative(values, set, others);
  return sum;
}

long double shapley_by_definition(const std::vector<double>& values, Subset set) {
  const int heads = heads_of_table(values);
  const int size = std::popcount(set);
  return by_definition(values, set, [&](int s) {
    return factorial(heads - size - s) * factorial(s) / factorial(heads - size + 1);
  });
}

double total(const std::vector<double>& numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), 0.0);
}

double largest(const std::vector<double>& numbers) {
  double most = 0.0;
  for (const double number : numbers) most = std::max(most, std::abs(number));
  return most;
}

/// Shapley-Taylor indices of the sets of `order` heads.
std::vector<double> top_taylor(const std::vector<double>& values, int order) {
  const std::vector<double> all = shapley_taylor_interactions(values, order);
  const std::size_t sets = subsets_of_size(heads_of_table(values), order).size();
  return {all.end() - static_cast<std::ptrdiff_t>(sets), all.end()};
}

struct AllIndices : GameIndices {
  explicit AllIndices(const std::vector<double>& values)
      : GameIndices(game_indices(values)),
        taylor_pairs(top_taylor(values, 2)),
        taylor_triples(top_taylor(values, 3)) {}
  std::vector<double> taylor_pairs, taylor_triples;
};

/// All lists of indices one after the other.
std::vector<double> all_of(const AllIndices& indices) {
  std::vector<double> all;
  for (const auto* list : {&indices.shapley, &indices.banzhaf, &indices.pairs, &indices.triples,
                           &indices.taylor_pairs, &indices.taylor_triples})
    all.insert(all.end(), list->begin(), list->end());
  return all;
}

void expect_near(const std::vector<double>& actual, const std::vector<double>& expected,
                 double tolerance) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t k = 0; k < actual.size(); ++k)
    EXPECT_NEAR(actual[k], expected[k], tolerance) << k;
}

TEST(GameVectors, AreReproduced) {
  std::ifstream file(std::string(SYNERGRAPH_TEST_DATA) + "/subsets/expected.json");
  const json layers = json::parse(file)["layers"];
  ASSERT_EQ(layers.size(), 2U);
  for (const json& layer : layers)
    for (const std::string kind : {"fidelity", "speed"}) {
      const auto values = layer[kind + "_values"].get<std::vector<double>>();
      const json& expected = layer[kind];
      const auto compare = [&](const std::vector<double>& actual, const char* name) {
        std::vector<double> list;
        for (const json& number : expected[name]) list.push_back(number.get<double>());
        ASSERT_EQ(actual.size(), list.size()) << name;
        for (std::size_t k = 0; k < list.size(); ++k)
          EXPECT_NEAR(actual[k], list[k], 1e-12 * std::abs(list[k])) << kind << name << k;
      };
      const GameIndices indices = game_indices(values);
      EXPECT_EQ(values.back(), expected["all"].get<double>());
      compare(indices.shapley, "shapley");
      compare(indices.banzhaf, "banzhaf");
      compare(indices.pairs, "interaction_pairs");  // sorted by name: lexicographic
      compare(indices.triples, "interaction_triples");
      std::vector<double> dividends = values;
      moebius_transform(dividends);
      compare(dividends, "moebius");
    }
}

TEST(Moebius, IsTheAlternatingSumAndInverts) {
  for (std::uint32_t stream = 0; stream < 4000; ++stream) {
    const std::vector<double> values = random_game(static_cast<int>(1 + stream % 8), stream);
    std::vector<double> dividends = values;
    moebius_transform(dividends);
    if (stream < 400) {
      for (Subset set = 0; set < values.size(); ++set)
        EXPECT_NEAR(dividends[set], static_cast<double>(derivative(values, set, 0)), 1e-13 * 256);
    }
    inverse_moebius_transform(dividends);
    expect_near(dividends, values, 1e-13 * 256);
  }
}

TEST(Moebius, OfAnAdditiveGameIsWhatEveryHeadIsWorth) {
  const std::vector<double> worth = {3, -1, 4, 1, -5, 9};
  std::vector<double> values = additive_game(worth);
  moebius_transform(values);
  for (Subset set = 0; set < values.size(); ++set)
    EXPECT_EQ(values[set], std::has_single_bit(set)
                               ? worth[static_cast<std::size_t>(std::countr_zero(set))]
                               : 0.0);
}

TEST(GameIndices, AreTheirDefinitions) {
  for (std::uint32_t stream = 0; stream < 400; ++stream) {
    const auto heads = static_cast<int>(1 + stream % 7);
    const std::vector<double> values = random_game(heads, stream);
    const AllIndices indices(values);
    const double tolerance = 1e-14 * largest(values);
    const std::array<std::vector<double>, 3> shapley = {indices.shapley, indices.pairs,
                                                        indices.triples};
    const std::array<std::vector<double>, 3> taylor = {indices.shapley, indices.taylor_pairs,
                                                       indices.taylor_triples};
    for (int size = 1; size <= 3; ++size) {
      const auto order = static_cast<std::size_t>(size - 1);
      const std::vector<Subset> sets = subsets_of_size(heads, size);
      ASSERT_EQ(shapley[order].size(), sets.size());
      ASSERT_EQ(taylor[order].size(), sets.size());
      EXPECT_EQ(shapley_interactions(values, size), shapley[order]);
      for (std::size_t k = 0; k < sets.size(); ++k) {
        EXPECT_NEAR(shapley[order][k], static_cast<double>(shapley_by_definition(values, sets[k])),
                    tolerance);
        const auto taylor_weight = [&](int s) {
          return size * factorial(s) * factorial(heads - 1 - s) / factorial(heads);
        };
        EXPECT_NEAR(taylor[order][k],
                    static_cast<double>(by_definition(values, sets[k], taylor_weight)), tolerance);
        if (size == 1) {
          const auto equal = [&](int) { return std::ldexp(1.0L, 1 - heads); };
          EXPECT_NEAR(indices.banzhaf[k],
                      static_cast<double>(by_definition(values, sets[k], equal)), tolerance);
        }
      }
    }
    EXPECT_EQ(shapley_values(values), indices.shapley);
    EXPECT_EQ(banzhaf_values(values), indices.banzhaf);
  }
}

TEST(GameIndices, SumToTheValueOfAll) {
  for (std::uint32_t stream = 0; stream < 2000; ++stream) {
    std::vector<double> values = random_game(static_cast<int>(1 + stream % 10), stream);
    values[0] = 0.25;
    const double gained = values.back() - values.front();
    const double tolerance = 1e-13 * largest(values) * static_cast<double>(values.size());
    EXPECT_NEAR(total(shapley_values(values)), gained, tolerance);
    for (int order = 1; order <= 3; ++order)
      EXPECT_NEAR(total(shapley_taylor_interactions(values, order)), gained, tolerance);
  }
}

TEST(GameIndices, TaylorIndicesOfSmallerSetsAreDividends) {
  const std::vector<double> values = random_game(6, 1);
  std::vector<double> dividends = values;
  moebius_transform(dividends);
  std::vector<double> expected;
  for (int size = 1; size <= 2; ++size)
    for (const Subset set : subsets_of_size(6, size)) expected.push_back(dividends[set]);
  const std::vector<double> top = top_taylor(values, 3);
  expected.insert(expected.end(), top.begin(), top.end());
  expect_near(shapley_taylor_interactions(values, 3), expected, 1e-14);
  EXPECT_EQ(shapley_taylor_interactions(values, 1), game_indices(values).shapley);
}

TEST(GameIndices, AreLinear) {
  for (std::uint32_t stream = 0; stream < 1000; ++stream) {
    const auto heads = static_cast<int>(1 + stream % 8);
    const std::vector<double> a = random_game(heads, stream);
    const std::vector<double> b = random_game(heads, stream + 5001);
    std::vector<double> sum = a;
    for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += 3.0 * b[k];
    std::vector<double> expected = all_of(AllIndices(a));
    const std::vector<double> of_b = all_of(AllIndices(b));
    for (std::size_t k = 0; k < expected.size(); ++k) expected[k] += 3.0 * of_b[k];
    expect_near(all_of(AllIndices(sum)), expected, 1e-13 * largest(sum));
  }
}

/// Every index of a set of heads of which `head` is one.
void expect_zero_with(const AllIndices& indices, int heads, int head) {
  const auto check = [&](const std::vector<double>& list, int size) {
    const std::vector<Subset> sets = subsets_of_size(heads, size);
    for (std::size_t k = 0; k < sets.size(); ++k)
      if ((sets[k] >> head & 1U) != 0) {
        EXPECT_EQ(list[k], 0.0);
      }
  };
  check(indices.shapley, 1);
  check(indices.banzhaf, 1);
  check(indices.pairs, 2);
  check(indices.triples, 3);
  check(indices.taylor_pairs, 2);
  check(indices.taylor_triples, 3);
}

TEST(GameIndices, OfAHeadThatAddsNothingAreExactlyZero) {
  for (std::uint32_t stream = 0; stream < 1000; ++stream) {
    const auto heads = static_cast<int>(1 + stream % 8);
    const auto idle = static_cast<int>(stream / 8) % heads;
    std::vector<double> values = random_game(heads, stream);
    for (Subset set = 0; set < values.size(); ++set)
      values[set] = values[set & ~(Subset{1} << idle)];
    expect_zero_with(AllIndices(values), heads, idle);
  }
}

TEST(GameIndices, OfTwinsAreEqual) {
  for (std::uint32_t stream = 0; stream < 1000; ++stream) {
    const auto heads = static_cast<int>(2 + stream % 7);
    std::vector<double> values = random_game(heads, stream);
    for (Subset set = 0; set < values.size(); ++set)  // the first two heads change places
      if ((set & 3U) == 2) values[set] = values[set ^ 3U];
    const GameIndices indices = game_indices(values);
    const double tolerance = 1e-14 * largest(values);
    EXPECT_NEAR(indices.shapley[0], indices.shapley[1], tolerance);
    EXPECT_NEAR(indices.banzhaf[0], indices.banzhaf[1], tolerance);
    for (int j = 2; j < heads; ++j) {
      EXPECT_NEAR(indices.pairs[pair_index(heads, 0, j)], indices.pairs[pair_index(heads, 1, j)],
                  tolerance);
      for (int k = j + 1; k < heads; ++k)
        EXPECT_NEAR(indices.triples[triple_index(heads, 0, j, k)],
                    indices.triples[triple_index(heads, 1, j, k)], tolerance);
    }
  }
}

// u_R(S) = 1 where S has all heads of R: Shapley 1/r in R; interactions 1/(r-a+1) within R
// (Grabisch and Roubens); Taylor, order k < r: 1/C(r, k) within R; Banzhaf 2^(1-r).
TEST(GameIndices, OfUnanimityGames) {
  const int heads = 9;
  for (const Subset united : {0b1U, 0b11U, 0b101001U, 0b110110101U, all_heads(heads)}) {
    std::vector<double> values(std::size_t{1} << heads);
    for (Subset set = 0; set < values.size(); ++set)
      values[set] = (set & united) == united ? 1.0 : 0.0;
    const int r = std::popcount(united);
    const AllIndices indices(values);
    const auto check = [&](const std::vector<double>& list, int size, double within) {
      const std::vector<Subset> sets = subsets_of_size(heads, size);
      for (std::size_t k = 0; k < sets.size(); ++k)
        EXPECT_NEAR(list[k], (sets[k] & ~united) == 0 ? within : 0.0, 1e-15) << united << sets[k];
    };
    check(indices.shapley, 1, 1.0 / r);
    check(indices.banzhaf, 1, std::ldexp(1.0, 1 - r));
    check(indices.pairs, 2, 1.0 / (r - 1));
    check(indices.triples, 3, 1.0 / (r - 2));
    check(indices.taylor_pairs, 2, 2.0 / (r * (r - 1)));
    check(indices.taylor_triples, 3, 6.0 / (r * (r - 1) * (r - 2)));
  }
}

// Tables of the largest size, among them one whose values hardly differ, against sums in extended
// precision.
TEST(GameIndices, LoseNoDigitsWithTwentyHeads) {
  const int heads = kMaxExactHeads;
  for (const std::uint32_t stream : {0U, 1U, 2U}) {
    const std::vector<double> values = random_game(heads, stream);
    const GameIndices indices = game_indices(values);
    const auto check = [&](const std::vector<double>& list, int size, std::size_t step) {
      std::vector<long double> weight;
      long double binomial = 1.0L;
      for (int s = 0; s <= heads - size; ++s) {
        weight.push_back(1.0L / (binomial * (heads - size + 1)));
        binomial = binomial * (heads - size - s) / (s + 1);
      }
      const std::vector<Subset> sets = subsets_of_size(heads, size);
      for (std::size_t k = 0; k < sets.size(); k += step) {
        std::array<std::vector<long double>, 2> sums;  // by sign and size
        sums.fill(std::vector<long double>(weight.size()));
        for (Subset set = 0; set < values.size(); ++set)
          sums[static_cast<std::size_t>(std::popcount(sets[k] & ~set)) % 2]
              [static_cast<std::size_t>(std::popcount(set & ~sets[k]))] += values[set];
        long double expected = 0.0L;
        for (std::size_t s = 0; s < weight.size(); ++s)
          expected += weight[s] * (sums[0][s] - sums[1][s]);
        EXPECT_NEAR(list[k], static_cast<double>(expected),
                    1e-13 * std::abs(static_cast<double>(expected)));
      }
    };
    check(indices.shapley, 1, 1);
    check(indices.pairs, 2, 17);
    check(indices.triples, 3, 101);
  }
}

TEST(GameIndices, LeaveOutHigherOrders) {
  const std::vector<double> values = random_game(5, 0);
  const GameIndices first = game_indices(values, 1);
  EXPECT_THAT(first.pairs, testing::IsEmpty());
  EXPECT_THAT(first.triples, testing::IsEmpty());
  EXPECT_EQ(game_indices(values, 2).pairs, game_indices(values, 3).pairs);
  EXPECT_THAT(game_indices(random_game(2, 0)).triples, testing::IsEmpty());
  EXPECT_THROW(game_indices(values, 0), InputError);
  EXPECT_THROW(shapley_interactions(values, 4), InputError);
  EXPECT_THROW(game_indices(std::vector<double>(3)), InputError);
}

}  // namespace
}  // namespace synergraph

#include "synergraph/subsets/sampled_game.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <numeric>

#include "synergraph/core/error.h"
#include "synergraph/subsets/game.h"
#include "tests/subsets/games.h"

namespace synergraph {
namespace {

using testing::Each;
using testing_support::random_game;

/// Games over the sum of what the heads of a set are worth.
using WorthGame = std::function<double(double worth, int count)>;

PrefixValues values_of(const std::vector<double>& worth, const std::vector<WorthGame>& games) {
  return [=](std::span<const int> order, int begin, int step, std::span<double> values) {
    double sum = 0.0;
    std::size_t next = 0;
    for (int count = 0; count <= static_cast<int>(order.size()); ++count) {
      if (count > 0)
        sum += worth[static_cast<std::size_t>(order[static_cast<std::size_t>(count - 1)])];
      if (count < begin || (count - begin) % step != 0) continue;
      for (const WorthGame& game : games) values[next++] = game(sum, count);
    }
    ASSERT_EQ(next, values.size());
  };
}

PrefixValues values_of_table(const std::vector<double>& table) {
  return [&table](std::span<const int> order, int begin, int step, std::span<double> values) {
    Subset taken = 0;
    std::size_t next = 0;
    for (int count = 0; count <= static_cast<int>(order.size()); ++count) {
      if (count > 0) taken |= Subset{1} << order[static_cast<std::size_t>(count - 1)];
      if (count >= begin && (count - begin) % step == 0) values[next++] = table[taken];
    }
    ASSERT_EQ(next, values.size());
  };
}

std::vector<double> worths(int heads) {
  RandomSequence draws(15, Purpose::kTest, static_cast<std::uint32_t>(heads));
  std::vector<double> worth;
  for (int head = 0; head < heads; ++head) worth.push_back(draws.uniform());
  return worth;
}

TEST(SampledGame, TheFirstGamesMayDecideWhenToStop) {
  const std::vector<double> worth = worths(6);
  const WorthGame additive = [](double sum, int) { return sum; };
  const WorthGame rough = [](double sum, int count) { return std::sin(50 * sum) * count; };
  SamplingOptions options{.precision = 1e-9, .batch = 1, .max_permutations = 200};
  options.least_batches = 2;
  EXPECT_EQ(sample_games(6, 2, values_of(worth, {additive, rough}), options).permutations, 17 * 12);
  options.deciding_games = 1;
  const GameSample sample = sample_games(6, 2, values_of(worth, {additive, rough}), options);
  EXPECT_EQ(sample.permutations, 2 * 12);
  EXPECT_TRUE(sample.games[0].reached);
  EXPECT_FALSE(sample.games[1].reached);
  options.least_batches = 1;
  EXPECT_THROW(sample_games(6, 2, values_of(worth, {additive, rough}), options), InputError);
}

// Every order tells what each head of an additive game is worth; an order and its reverse together
// tell it of a quadratic one; a square with every head at every place tells it of a symmetric one.
TEST(SampledGame, IsExactForAdditiveQuadraticAndSymmetricGames) {
  for (const int heads : {1, 2, 3, 7, 8, 40, 41}) {
    const std::vector<double> worth = worths(heads);
    const double all = std::accumulate(worth.begin(), worth.end(), 0.0);
    const GameSample sample =
        sample_games(heads, 3,
                     values_of(worth, {[](double sum, int) { return 0.5 + sum; },
                                       [](double sum, int) { return sum * sum; },
                                       [](double, int count) { return std::sqrt(count); }}),
                     {.precision = 1e-12, .batch = 1, .pairs = true});
    EXPECT_EQ(sample.permutations, 16 * heads);
    const double tolerance = 1e-13 * all * all;
    const auto& additive = sample.games[0];
    const auto& quadratic = sample.games[1];
    const auto& symmetric = sample.games[2];
    EXPECT_EQ(additive.none, 0.5);
    for (int i = 0; i < heads; ++i) {
      const auto at = static_cast<std::size_t>(i);
      EXPECT_NEAR(additive.shapley[at], worth[at], tolerance);
      EXPECT_NEAR(quadratic.shapley[at], worth[at] * all, tolerance);
      EXPECT_NEAR(symmetric.shapley[at], std::sqrt(heads) / heads, tolerance);
      for (int j = i + 1; j < heads; ++j) {
        const std::size_t pair = pair_index(heads, i, j);
        EXPECT_NEAR(additive.pairs[pair], 0.0, tolerance);
        EXPECT_NEAR(quadratic.pairs[pair], 2.0 * worth[at] * worth[static_cast<std::size_t>(j)],
                    tolerance);
      }
    }
    for (const SampledIndices& game : sample.games) {
      EXPECT_TRUE(game.reached);
      EXPECT_THAT(game.shapley_error, Each(testing::Lt(tolerance)));
    }
  }
}

// v = (sum of worths)^3 has closed forms: with T the sum of all and B that of the heads before i,
// phi_i = a^3 + 3 a^2 E[B] + 3 a E[B^2], I(i, j) = 3 a b T, which
// an order and its reverse tell exactly.
TEST(SampledGame, IsWithinItsErrorsOfTheClosedFormForFortyHeads) {
  for (const int heads : {40, 41}) {
    const std::vector<double> worth = worths(heads);
    const double all = std::accumulate(worth.begin(), worth.end(), 0.0);
    const double squares = std::inner_product(worth.begin(), worth.end(), worth.begin(), 0.0);
    const GameSample sample =
        sample_games(heads, 1, values_of(worth, {[](double sum, int) { return sum * sum * sum; }}),
                     {.seed = 3, .precision = 2e-5, .pairs = true});
    const SampledIndices& game = sample.games[0];
    EXPECT_TRUE(game.reached);
    EXPECT_NEAR(std::accumulate(game.shapley.begin(), game.shapley.end(), 0.0), game.all,
                1e-12 * game.all);
    for (int i = 0; i < heads; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const double a = worth[at];
      const double others = all - a;
      const double other_squares = squares - a * a;
      const double before = others / 2.0;
      const double before_squared = other_squares / 2.0 + (others * others - other_squares) / 3.0;
      const double exact = a * a * a + 3.0 * a * a * before + 3.0 * a * before_squared;
      EXPECT_NEAR(game.shapley[at], exact, 5.0 * game.shapley_error[at]);
      EXPECT_LE(game.shapley_error[at], 2e-5 * game.all);
      for (int j = i + 1; j < heads; ++j) {
        const std::size_t pair = pair_index(heads, i, j);
        EXPECT_NEAR(game.pairs[pair], 3.0 * a * worth[static_cast<std::size_t>(j)] * all, 1e-10);
      }
    }
  }
}

// Errors of the estimates, in units of their standard errors, have mean 0 and mean square 1 (with
// 31 degrees of freedom, 31/29).
TEST(SampledGame, HasNoBiasAndHonestStandardErrors) {
  for (const int heads : {6, 7}) {
    const std::vector<double> table = random_game(heads, 1);
    const GameIndices exact = game_indices(table, 2);
    double count = 0.0;
    double sum = 0.0;
    double square = 0.0;
    for (std::uint64_t seed = 0; seed < 400; ++seed) {
      const SampledIndices game = sample_games(heads, 1, values_of_table(table),
                                               {.seed = seed,
                                                .precision = 0.0,
                                                .max_permutations = 64 * heads,
                                                .pairs = true,
                                                .execution = {.threads = 1}})
                                      .games[0];
      EXPECT_FALSE(game.reached);
      for (std::size_t k = 0; k < exact.pairs.size() + exact.shapley.size(); ++k) {
        const bool head = k < exact.shapley.size();
        const std::size_t at = head ? k : k - exact.shapley.size();
        const double error = head ? (game.shapley[at] - exact.shapley[at]) / game.shapley_error[at]
                                  : (game.pairs[at] - exact.pairs[at]) / game.pairs_error[at];
        ++count;
        sum += error;
        square += error * error;
      }
    }
    EXPECT_NEAR(sum / count, 0.0, 0.1);
    EXPECT_NEAR(square / count, 31.0 / 29.0, 0.1);
  }
}

TEST(SampledGame, IsTheSameForAnyNumberOfThreads) {
  const std::vector<double> worth = worths(40);
  const auto sample = [&](int threads, std::uint64_t seed) {
    return sample_games(40, 2,
                        values_of(worth, {[](double sum, int) { return std::sin(sum); },
                                          [](double sum, int) { return sum * sum * sum; }}),
                        {.seed = seed,
                         .precision = 1e-3,
                         .max_permutations = 2000,
                         .pairs = true,
                         .execution = {.threads = threads}});
  };
  const GameSample one = sample(1, 5);
  const GameSample four = sample(4, 5);
  EXPECT_EQ(one.permutations, four.permutations);
  for (std::size_t game = 0; game < 2; ++game) {
    EXPECT_EQ(one.games[game].shapley, four.games[game].shapley);
    EXPECT_EQ(one.games[game].shapley_error, four.games[game].shapley_error);
    EXPECT_EQ(one.games[game].pairs, four.games[game].pairs);
    EXPECT_EQ(one.games[game].pairs_error, four.games[game].pairs_error);
  }
  EXPECT_NE(one.games[0].shapley, sample(1, 6).games[0].shapley);
}

TEST(SampledGame, SamplesUntilThePrecisionOrTheLimit) {
  const std::vector<double> worth = worths(22);
  const auto sample = [&](double precision, std::int64_t most) {
    return sample_games(22, 1, values_of(worth, {[](double sum, int) { return sum * sum * sum; }}),
                        {.precision = precision, .batch = 44, .max_permutations = most});
  };
  const GameSample coarse = sample(1e-3, 100000);
  const GameSample fine = sample(1e-4, 100000);
  const GameSample cut = sample(0.0, 1000);
  EXPECT_TRUE(coarse.games[0].reached);
  EXPECT_TRUE(fine.games[0].reached);
  EXPECT_GT(fine.permutations, coarse.permutations);
  EXPECT_EQ(fine.permutations % 44, 0);
  EXPECT_FALSE(cut.games[0].reached);
  EXPECT_EQ(cut.permutations, 23 * 44);
  EXPECT_THAT(cut.games[0].pairs, testing::IsEmpty());
}

TEST(SampledGame, StopsAndRefuses) {
  const PrefixValues values = values_of(worths(4), {[](double sum, int) { return sum; }});
  EXPECT_THROW(sample_games(0, 1, values), InputError);
  EXPECT_THROW(sample_games(4, 0, values), InputError);
  EXPECT_THROW(sample_games(4, 1, values, {.precision = -1.0}), InputError);
  EXPECT_THROW(sample_games(4, 1, values, {.batch = 0}), InputError);
  EXPECT_THROW(sample_games(4, 1, values_of(worths(4), {[](double, int) { return std::nan(""); }})),
               InputError);
  EXPECT_THROW(sample_games(4, 1, values, {.execution = {.stop = [] { return true; }}}), Stopped);
}

}  // namespace
}  // namespace synergraph

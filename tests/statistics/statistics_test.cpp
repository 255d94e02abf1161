#include "synergraph/statistics/intervals.h"
#include "synergraph/statistics/rank_tests.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "synergraph/core/random.h"

namespace synergraph {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
const double kNan = std::nan("");

using Groups = std::vector<std::vector<double>>;

TEST(StudentQuantile, HasTabulatedValues) {
  EXPECT_NEAR(student_quantile(0.975, 1), 12.7062047361747, 1e-12);
  EXPECT_NEAR(student_quantile(0.975, 2), 4.30265272974946, 1e-13);
  EXPECT_NEAR(student_quantile(0.975, 3), 3.18244630528371, 1e-13);
  EXPECT_NEAR(student_quantile(0.975, 4), 2.77644510519779, 1e-13);
  EXPECT_NEAR(student_quantile(0.975, 30), 2.04227245630124, 1e-13);
}

/// P(|T| < t) for a whole number of degrees, a finite sum in the angle arctan(t / sqrt(nu)).
double student_centre(double t, int nu) {
  const double angle = std::atan(t / std::sqrt(nu));
  const double square = std::cos(angle) * std::cos(angle);
  const bool odd = nu % 2 == 1;
  double term = odd ? std::cos(angle) : 1.0;
  double sum = nu == 1 ? 0.0 : term;
  for (int j = odd ? 3 : 2; j <= nu - 2; j += 2) {
    term *= square * (j - 1) / j;
    sum += term;
  }
  sum *= std::sin(angle);
  return odd ? 2 / std::numbers::pi * (angle + sum) : sum;
}

TEST(StudentQuantile, InvertsTheDistribution) {
  for (const int nu : {1, 2, 3, 4, 5, 9, 10, 39, 150, 199, 200, 201, 1000})
    for (const double p : {0.51, 0.6, 0.74, 0.76, 0.9, 0.975, 0.995})
      EXPECT_NEAR(student_centre(student_quantile(p, nu), nu), 2 * p - 1, 1e-14) << nu << ' ' << p;
}

// One degree of freedom is Cauchy's distribution; with alpha = 4 p (1 - p), two degrees have
// t = (2p - 1) sqrt(2 / alpha), four have t = 2 sqrt(cos(arccos(sqrt(alpha)) / 3) / sqrt(alpha) -
// 1).
TEST(StudentQuantile, HasClosedForms) {
  for (const double tail : {1e-300, 1e-100, 1e-12, 1e-6, 0.01, 0.2, 0.24, 0.26, 0.4, 0.499}) {
    const double alpha = 4 * tail * (1 - tail);
    const double one = 1 / std::tan(std::numbers::pi * tail);
    const double two = (1 - 2 * tail) * std::sqrt(2 / alpha);
    const double q = std::cos(std::acos(std::sqrt(alpha)) / 3) / std::sqrt(alpha);
    EXPECT_NEAR(student_quantile(tail, 1) / -one, 1, 1e-12) << tail;
    EXPECT_NEAR(student_quantile(tail, 2) / -two, 1, 1e-12) << tail;
    // q - 1 loses digits near the middle.
    EXPECT_NEAR(student_quantile(tail, 4) / (-2 * std::sqrt(q - 1)), 1, tail > 0.45 ? 1e-9 : 1e-12)
        << tail;
  }
}

// Expansion in 1/nu: z + (z^3 + z) / 4 nu + (5 z^5 + 16 z^3 + 3 z) / 96 nu^2 + ...
TEST(StudentQuantile, TendsToTheNormal) {
  for (const double nu : {300.0, 1e3, 1e4, 1e6})
    for (const double p : {0.6, 0.9, 0.975, 0.999}) {
      const double z = normal_quantile(p);
      const double z3 = z * z * z;
      const double z5 = z3 * z * z;
      const double z7 = z5 * z * z;
      const double expansion = z + (z3 + z) / (4 * nu) +
                               (5 * z5 + 16 * z3 + 3 * z) / (96 * nu * nu) +
                               (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * nu * nu * nu);
      EXPECT_NEAR(student_quantile(p, nu), expansion, 1e-12 + 300 / std::pow(nu, 4)) << nu;
    }
  EXPECT_EQ(student_quantile(0.975, kInfinity), normal_quantile(0.975));
}

TEST(NormalQuantile, HasTabulatedValues) {
  EXPECT_NEAR(normal_quantile(0.975), 1.959963984540054, 1e-14);
  EXPECT_NEAR(normal_quantile(0.995), 2.575829303548901, 1e-14);
  EXPECT_NEAR(normal_quantile(0.9), 1.2815515655446004, 1e-14);
  EXPECT_NEAR(normal_quantile(0.6), 0.2533471031357997, 1e-14);
  EXPECT_NEAR(normal_quantile(1e-10), -6.361340902404056, 1e-13);
}

TEST(Quantiles, HaveEndsAndAMiddle) {
  EXPECT_EQ(normal_quantile(0.5), 0.0);
  EXPECT_EQ(student_quantile(0.5, 3), 0.0);
  EXPECT_EQ(normal_quantile(0.0), -kInfinity);
  EXPECT_EQ(student_quantile(1.0, 3), kInfinity);
  EXPECT_TRUE(std::isnan(normal_quantile(-0.1)));
  EXPECT_TRUE(std::isnan(student_quantile(1.1, 3)));
  EXPECT_TRUE(std::isnan(student_quantile(kNan, 3)));
  EXPECT_TRUE(std::isnan(student_quantile(0.9, 0)));
}

// Of 1, 2, 3, 4: mean 2.5, standard deviation sqrt(5/3), half width t(0.975, 3) sqrt(5/12).
TEST(MeanInterval, IsStudents) {
  const Interval interval = mean_interval({1, 2, 3, 4});
  EXPECT_DOUBLE_EQ(interval.estimate, 2.5);
  EXPECT_NEAR(interval.high - 2.5, 3.18244630528371 * std::sqrt(5.0 / 12), 1e-12);
  EXPECT_NEAR(2.5 - interval.low, 3.18244630528371 * std::sqrt(5.0 / 12), 1e-12);
  EXPECT_DOUBLE_EQ(sample_std({1, 2, 3, 4}), std::sqrt(5.0 / 3));
  EXPECT_LT(mean_interval({1, 2, 3, 4}, 0.9).high, interval.high);
}

TEST(MeanInterval, KnowsNothingOfTheSpreadOfOneValue) {
  EXPECT_EQ(mean_interval({7}).estimate, 7.0);
  EXPECT_TRUE(std::isnan(mean_interval({7}).low));
  EXPECT_TRUE(std::isnan(mean_interval({7}).high));
  EXPECT_TRUE(std::isnan(sample_std({7})));
  EXPECT_TRUE(std::isnan(mean_interval({}).estimate));
  EXPECT_EQ(mean_interval({1, kInfinity}).estimate, kInfinity);
  EXPECT_TRUE(std::isnan(mean_interval({1, kInfinity}).low));
}

// The 95 % intervals cover the mean of normal values in 95 % of 4000 data sets: within four
// standard errors, 0.0138.
TEST(MeanInterval, CoversTheTruthAsOftenAsItSays) {
  RandomSequence random(5, Purpose::kTest);
  int covered = 0;
  for (int k = 0; k < 4000; ++k) {
    std::vector<double> values(3);
    for (double& value : values) value = 2 + 5 * random.normal();
    const Interval interval = mean_interval(values);
    covered += interval.low <= 2 && 2 <= interval.high ? 1 : 0;
  }
  EXPECT_NEAR(covered / 4000.0, 0.95, 0.0138);
}

// Bounds are the roots x of (k/n - x)^2 = z^2 x (1 - x) / n.
TEST(ShareInterval, SolvesWilsonsEquation) {
  const double z = normal_quantile(0.975);
  for (const auto& [k, n] : {std::pair{1, 10}, {15, 50}, {199, 200}, {5, 10}}) {
    const Interval interval = share_interval({k, n});
    EXPECT_DOUBLE_EQ(interval.estimate, static_cast<double>(k) / n);
    for (const double x : {interval.low, interval.high})
      EXPECT_NEAR(std::pow(interval.estimate - x, 2), z * z * x * (1 - x) / n, 1e-15);
    EXPECT_LT(interval.low, interval.estimate);
    EXPECT_GT(interval.high, interval.estimate);
  }
  // A published example: 0 and 15 of 148 and of 20 (Newcombe, 1998).
  EXPECT_NEAR(share_interval({15, 148}).low, 0.0624, 5e-5);
  EXPECT_NEAR(share_interval({15, 148}).high, 0.1605, 5e-5);
  EXPECT_NEAR(share_interval({0, 20}).high, 0.1611, 5e-5);
}

TEST(ShareInterval, HasBoundsAtTheEnds) {
  EXPECT_EQ(share_interval({0, 20}).low, 0.0);
  EXPECT_EQ(share_interval({20, 20}).high, 1.0);
  EXPECT_TRUE(std::isnan(share_interval({0, 0}).estimate));
  EXPECT_EQ(share_interval({0, 0}).low, 0.0);
  EXPECT_EQ(share_interval({0, 0}).high, 1.0);
}

TEST(Ranks, AverageTiesAndPutInfinityLast) {
  EXPECT_THAT(ranks({3, 1, 2}), testing::ElementsAre(3, 1, 2));
  EXPECT_THAT(ranks({5, 1, 5, 5}), testing::ElementsAre(3, 1, 3, 3));
  EXPECT_THAT(ranks({kInfinity, 1e300, kInfinity, 0}), testing::ElementsAre(3.5, 2, 3.5, 1));
  EXPECT_THAT(ranks({2, kNan, 1}), testing::ElementsAre(2, testing::IsNan(), 1));
  EXPECT_THAT(ranks({}), testing::IsEmpty());
}

// One value a group, in order: of all n! assignments only this one has every pair in order.
/// P-values under the null hypothesis: each attained level is reached as often as it says.
void expect_uniform(std::vector<double> p_values) {
  const auto count = static_cast<double>(p_values.size());
  std::sort(p_values.begin(), p_values.end());
  for (const double level : {0.05, 0.1, 0.3, 0.5, 0.8}) {
    const auto end = std::upper_bound(p_values.begin(), p_values.end(), level);
    const double a = *std::prev(end);
    EXPECT_NEAR(static_cast<double>(end - p_values.begin()) / count, a,
                4 * std::sqrt(a * (1 - a) / count));
  }
}

TEST(JonckheereTerpstra, OfSingleValuesInOrderIsOneOverTheFactorial) {
  double factorial = 1;
  Groups rising;
  for (int n = 1; n <= 8; ++n) {
    rising.push_back({0.5 * n});
    factorial *= n;
    if (n == 1) continue;
    const TestResult test = jonckheere_terpstra(rising);
    EXPECT_DOUBLE_EQ(test.p_value, 1 / factorial);
    EXPECT_DOUBLE_EQ(test.smallest_p, 1 / factorial);
    EXPECT_EQ(test.statistic, n * (n - 1) / 2.0);
    EXPECT_EQ(test.effect, 1.0);
    EXPECT_EQ(test.method, PValueMethod::kExact);
    const TestResult falling = jonckheere_terpstra(Groups(rising.rbegin(), rising.rend()));
    EXPECT_EQ(falling.p_value, 1.0);
    EXPECT_EQ(falling.effect, -1.0);
  }
}

// {1, 2} and {2, 3}: three pairs are in order, one is tied: 3.5, d = 3/4. The six ways to choose
// the first group out of 1, 2, 2', 3 have the statistics {1,2} 3.5, {1,2'} 3.5, {1,3} 2, {2,2'} 2,
// {2,3} 0.5, {2',3} 0.5.
TEST(JonckheereTerpstra, CountsTiesHalf) {
  const TestResult test = jonckheere_terpstra({{1, 2}, {2, 3}});
  EXPECT_EQ(test.statistic, 3.5);
  EXPECT_EQ(test.effect, 0.75);
  EXPECT_DOUBLE_EQ(test.p_value, 2.0 / 6);
  EXPECT_DOUBLE_EQ(jonckheere_terpstra({{1, 3}, {2, 2}}).p_value, 4.0 / 6);
  EXPECT_DOUBLE_EQ(jonckheere_terpstra({{2, 3}, {1, 2}}).p_value, 1.0);
  EXPECT_DOUBLE_EQ(test.smallest_p, 1.0 / 6);
}

// Three groups of two: 90 assignments, of which 1, 3, 8 have at least 12, 11, 10 pairs in order
// (Hollander and Wolfe: 0.0111, 0.0333, 0.0889). Two groups of five are Wilcoxon's test: 12 and 19
// of 252 have at most 4 and 5 pairs reversed (0.0476, 0.0754).
TEST(JonckheereTerpstra, HasTabulatedCriticalValues) {
  EXPECT_DOUBLE_EQ(jonckheere_terpstra({{1, 2}, {3, 4}, {5, 6}}).p_value, 1.0 / 90);
  EXPECT_DOUBLE_EQ(jonckheere_terpstra({{1, 3}, {2, 4}, {5, 6}}).p_value, 3.0 / 90);
  EXPECT_DOUBLE_EQ(jonckheere_terpstra({{1, 3}, {2, 5}, {4, 6}}).p_value, 8.0 / 90);
  EXPECT_DOUBLE_EQ(jonckheere_terpstra({{1, 2, 3, 4, 9}, {5, 6, 7, 8, 10}}).p_value, 12.0 / 252);
  EXPECT_DOUBLE_EQ(jonckheere_terpstra({{1, 2, 3, 5, 9}, {4, 6, 7, 8, 10}}).p_value, 19.0 / 252);
}

/// The p-value by visiting every assignment.
double enumerated_p(const Groups& groups) {
  std::vector<double> values;
  std::vector<int> labels;
  for (std::size_t g = 0; g < groups.size(); ++g)
    for (const double value : groups[g]) {
      values.push_back(value);
      labels.push_back(static_cast<int>(g));
    }
  const auto statistic = [&] {
    double count = 0;
    for (std::size_t a = 0; a < values.size(); ++a)
      for (std::size_t b = 0; b < values.size(); ++b)
        if (labels[a] < labels[b])
          count += values[a] < values[b] ? 1 : values[a] == values[b] ? 0.5 : 0;
    return count;
  };
  const double observed = statistic();
  int hits = 0;
  int all = 0;
  do {
    ++all;
    hits += statistic() >= observed ? 1 : 0;
  } while (std::next_permutation(labels.begin(), labels.end()));
  return static_cast<double>(hits) / all;
}

TEST(JonckheereTerpstra, CountsWhatEnumerationVisits) {
  RandomSequence random(1, Purpose::kTest);
  for (int k = 0; k < 60; ++k) {
    Groups groups(2 + random.below(3));
    for (auto& group : groups) {
      group.resize(1 + random.below(2));
      for (double& value : group) value = static_cast<double>(random.below(4));  // ties abound
    }
    EXPECT_NEAR(jonckheere_terpstra(groups).p_value, enumerated_p(groups), 1e-14);
  }
}

TEST(JonckheereTerpstra, DependsOnTheOrderOfValuesAlone) {
  const Groups groups = {{0.5, 2.25}, {1.0, 3.5, 2.25}, {7.0}};
  Groups transformed = groups;
  for (auto& group : transformed)
    for (double& value : group) value = value == 7.0 ? kInfinity : std::exp(3 * value) - 100;
  const TestResult a = jonckheere_terpstra(groups);
  const TestResult b = jonckheere_terpstra(transformed);
  EXPECT_EQ(a.p_value, b.p_value);
  EXPECT_EQ(a.statistic, b.statistic);
  EXPECT_EQ(a.effect, b.effect);
}

// A p-value that can occur, a, occurs or is undercut with probability a. Over 3000 data sets
// without a trend, within four standard errors.
TEST(JonckheereTerpstra, IsUniformWithoutATrend) {
  RandomSequence random(2, Purpose::kTest);
  std::vector<double> p_values;
  for (int k = 0; k < 3000; ++k) {
    Groups groups(3, std::vector<double>(2));
    for (auto& group : groups)
      for (double& value : group) value = random.uniform();
    p_values.push_back(jonckheere_terpstra(groups).p_value);
  }
  expect_uniform(std::move(p_values));
}

TEST(JonckheereTerpstra, PermutesAtRandomWhereCountingTakesTooLong) {
  const Groups groups = {{1, 4, 6}, {2, 5, 9, 3}, {7, 8, 10}};
  const double p = jonckheere_terpstra(groups).p_value;
  TestOptions options{.seed = 3, .exact_limit = 0, .permutations = 20000};
  const TestResult sampled = jonckheere_terpstra(groups, options);
  EXPECT_EQ(sampled.method, PValueMethod::kPermutation);
  EXPECT_NEAR(sampled.p_value, p, 4 * std::sqrt(p * (1 - p) / 20000));
  EXPECT_EQ(jonckheere_terpstra(groups, options).p_value, sampled.p_value);
  EXPECT_DOUBLE_EQ(sampled.smallest_p, 1.0 / 20001);
  options.seed = 4;
  EXPECT_NE(jonckheere_terpstra(groups, options).p_value, sampled.p_value);
}

// Four groups of ten, the first ten smallest and so on: one of 40! / 10!^4 assignments.
TEST(JonckheereTerpstra, IsExactForTenSeeds) {
  Groups groups(4);
  for (int k = 0; k < 40; ++k) groups[static_cast<std::size_t>(k / 10)].push_back(k);
  const TestResult test = jonckheere_terpstra(groups);
  EXPECT_EQ(test.method, PValueMethod::kExact);
  EXPECT_NEAR(test.p_value * 4.705360871073571e21, 1, 1e-10);
}

TEST(JonckheereTerpstra, NeedsTwoGroups) {
  EXPECT_TRUE(std::isnan(jonckheere_terpstra({}).p_value));
  EXPECT_TRUE(std::isnan(jonckheere_terpstra({{1, 2}, {}}).p_value));
  EXPECT_TRUE(std::isnan(jonckheere_terpstra({{1}, {kNan}}).p_value));
  EXPECT_EQ(jonckheere_terpstra({{1}, {}, {2}}).p_value, 0.5);
  EXPECT_EQ(jonckheere_terpstra({{1, 1}, {1, 1}}).p_value, 1.0);
}

// Without ties rho = 1 - 6 sum d^2 / (n^3 - n): d = (1, 0, -1, 0) gives 1 - 12/60.
TEST(RankCorrelation, IsSpearmans) {
  EXPECT_DOUBLE_EQ(rank_correlation({1, 2, 3, 4}, {20, 10, 30, 40}), 1 - 12.0 / 60);
  EXPECT_DOUBLE_EQ(rank_correlation({1, 2, 3}, {5, 4, kInfinity}), 0.5);
  // Ranks 1.5, 1.5, 3 against 1, 2, 3: covariance 1.5, variances 1.5 and 2.
  EXPECT_DOUBLE_EQ(rank_correlation({0, 0, 1}, {1, 2, 3}), 1.5 / std::sqrt(3.0));
  EXPECT_TRUE(std::isnan(rank_correlation({1, 1, 1}, {1, 2, 3})));
  EXPECT_TRUE(std::isnan(rank_correlation({1, 2, 3}, {1, kNan, 3})));
  EXPECT_TRUE(std::isnan(rank_correlation({}, {})));
}

// Tabulated one-sided levels, twice: n = 4: 1 and 0.8 have 1/24 and 4/24; n = 5: 0.9 has 5/120;
// n = 6: 31/35 has 12/720.
TEST(Spearman, HasTabulatedCriticalValues) {
  EXPECT_DOUBLE_EQ(spearman({1, 2, 3, 4}, {1, 2, 3, 4}).p_value, 2.0 / 24);
  EXPECT_DOUBLE_EQ(spearman({1, 2, 3, 4}, {2, 1, 3, 4}).p_value, 8.0 / 24);
  EXPECT_DOUBLE_EQ(spearman({1, 2, 3, 4, 5}, {5, 4, 3, 1, 2}).p_value, 10.0 / 120);
  const TestResult test = spearman({1, 2, 3, 4, 5, 6}, {2, 1, 3, 4, 6, 5});
  EXPECT_DOUBLE_EQ(test.effect, 31.0 / 35);
  EXPECT_DOUBLE_EQ(test.p_value, 24.0 / 720);
  EXPECT_DOUBLE_EQ(test.smallest_p, 2.0 / 720);
}

// x = 0, 0, 1 and y = 1, 2, 3: the six pairings have |rho| 0.87, 0.87, 0, 0, 0.87, 0.87.
TEST(Spearman, AveragesTies) {
  const TestResult test = spearman({0, 0, 1}, {1, 2, 3});
  EXPECT_DOUBLE_EQ(test.effect, 1.5 / std::sqrt(3.0));
  EXPECT_DOUBLE_EQ(test.p_value, 4.0 / 6);
  EXPECT_DOUBLE_EQ(spearman({1, 2, 3}, {0, 0, 1}).p_value, 4.0 / 6);
}

TEST(Spearman, DependsOnTheOrderOfValuesAlone) {
  const std::vector<double> x = {0.3, 0.1, 0.9, 0.4, 0.7};
  const std::vector<double> y = {2, 1, 4, 9, 5};
  std::vector<double> z;
  for (const double value : y) z.push_back(value == 9 ? kInfinity : std::log(value));
  EXPECT_EQ(spearman(x, y).p_value, spearman(x, z).p_value);
  EXPECT_EQ(spearman(x, y).p_value, spearman(y, x).p_value);
  for (double& value : z) value = -value;
  EXPECT_EQ(spearman(x, z).p_value, spearman(x, y).p_value);
  EXPECT_EQ(spearman(x, z).effect, -spearman(x, y).effect);
}

TEST(Spearman, IsUniformWithoutACorrelation) {
  RandomSequence random(3, Purpose::kTest);
  std::vector<double> p_values;
  for (int k = 0; k < 3000; ++k) {
    std::vector<double> x(5);
    std::vector<double> y(5);
    for (double& value : x) value = random.uniform();
    for (double& value : y) value = random.uniform();
    p_values.push_back(spearman(x, y).p_value);
  }
  expect_uniform(std::move(p_values));
}

TEST(Spearman, PermutesAtRandomWhereThereAreTooManyOrders) {
  const std::vector<double> x = {1, 2, 3, 4, 5, 6, 7};
  const std::vector<double> y = {3, 1, 2, 7, 4, 6, 5};
  const double p = spearman(x, y).p_value;
  const TestOptions options{.exact_limit = 0, .permutations = 20000};
  const TestResult sampled = spearman(x, y, options);
  EXPECT_EQ(sampled.method, PValueMethod::kPermutation);
  EXPECT_NEAR(sampled.p_value, p, 4 * std::sqrt(p * (1 - p) / 20000));
  EXPECT_EQ(spearman(x, y, options).p_value, sampled.p_value);
  std::vector<double> many(60);
  for (std::size_t k = 0; k < many.size(); ++k) many[k] = static_cast<double>(k);
  const TestResult perfect = spearman(many, many, {.permutations = 999});
  EXPECT_EQ(perfect.method, PValueMethod::kPermutation);
  EXPECT_DOUBLE_EQ(perfect.p_value, 0.001);
  EXPECT_EQ(perfect.effect, 1.0);
}

TEST(Spearman, NeedsVariation) {
  EXPECT_TRUE(std::isnan(spearman({1, 1}, {1, 2}).p_value));
  EXPECT_TRUE(std::isnan(spearman({1}, {2}).p_value));
  EXPECT_TRUE(std::isnan(spearman({1, 2, kNan}, {1, 2, 3}).p_value));
  EXPECT_DOUBLE_EQ(spearman({1, 2}, {2, 1}).p_value, 1.0);
}

// Ranks within groups: 1, 0, -1 and 1, -1, 0 give 1; -1, 1 and 1, -1 (halves) give -1/2: together
// 1/2 of scale 2 + 1/2.
TEST(SpearmanWithin, RanksWithinGroups) {
  const TestResult test = spearman_within({{3, 2, 1}, {100, 200}}, {{9, 7, 8}, {6, 5}});
  EXPECT_DOUBLE_EQ(test.effect, 0.5 / 2.5);
  EXPECT_DOUBLE_EQ(test.smallest_p, 2.0 / 12);
  // Of the twelve pairs of orders, |sum| of 2, 1, 1, -1, -1, -2 and 1/2, -1/2 is at least 1/2 in
  // all.
  EXPECT_EQ(test.p_value, 1.0);
  const TestResult perfect = spearman_within({{1, 2, 3}, {1, 2}}, {{1, 2, 3}, {1, 2}});
  EXPECT_DOUBLE_EQ(perfect.effect, 1.0);
  EXPECT_NEAR(perfect.p_value, 2.0 / 12, 4 * std::sqrt(1.0 / 6 * 5.0 / 6 / 1e5));
}

TEST(SpearmanWithin, OfOneGroupIsSpearmans) {
  const std::vector<double> x = {1, 2, 3, 4, 5};
  const std::vector<double> y = {2, 1, 3, 5, 4};
  const TestResult one = spearman_within({x}, {y});
  EXPECT_EQ(one.effect, spearman(x, y).effect);
  EXPECT_EQ(one.p_value, spearman(x, y).p_value);
  // A group without variation says nothing.
  EXPECT_EQ(spearman_within({{1, 1, 1}, x}, {{1, 2, 3}, y}).p_value, one.p_value);
  EXPECT_TRUE(std::isnan(spearman_within({{1, 1}}, {{1, 2}}).p_value));
  EXPECT_TRUE(std::isnan(spearman_within({}, {}).p_value));
}

TEST(SpearmanWithin, IsUniformWithoutACorrelation) {
  RandomSequence random(5, Purpose::kTest);
  std::vector<double> p_values;
  for (int k = 0; k < 1000; ++k) {
    std::vector<std::vector<double>> x(3, std::vector<double>(6));
    std::vector<std::vector<double>> y = x;
    for (std::size_t g = 0; g < x.size(); ++g)
      for (std::size_t h = 0; h < 6; ++h) {
        x[g][h] = random.uniform() + 10.0 * static_cast<double>(g);  // groups differ
        y[g][h] = random.uniform() + 10.0 * static_cast<double>(g);
      }
    p_values.push_back(spearman_within(x, y, {.permutations = 999}).p_value);
  }
  expect_uniform(std::move(p_values));
}

// The classic example: 0.01, 0.04, 0.03, 0.005 become 3 x 0.01, 0.06, 2 x 0.03, 4 x 0.005; the
// adjusted values never fall along the sorted ones.
TEST(Holm, StepsDown) {
  EXPECT_THAT(holm({0.01, 0.04, 0.03, 0.005}),
              testing::ElementsAre(testing::DoubleEq(0.03), testing::DoubleEq(0.06),
                                   testing::DoubleEq(0.06), testing::DoubleEq(0.02)));
  EXPECT_THAT(holm({0.6, 0.7}), testing::ElementsAre(1.0, 1.0));
  EXPECT_THAT(
      holm({0.04, kNan, 0.02}),
      testing::ElementsAre(testing::DoubleEq(0.04), testing::IsNan(), testing::DoubleEq(0.04)));
  EXPECT_THAT(holm({}), testing::IsEmpty());
}

}  // namespace
}  // namespace synergraph

#include "synergraph/chain/mixing.h"

#include <gtest/gtest.h>

#include <cmath>

#include "synergraph/chain/bounds.h"
#include "synergraph/core/error.h"
#include "synergraph/graph/generators.h"
#include "tests/support/random_inputs.h"

namespace synergraph {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// T_mix by plain stepping, up to `limit` steps; infinity beyond.
double stepped_mixing_time(const Walk& walk, double eps, int limit) {
  const auto n = static_cast<std::size_t>(walk.nodes());
  std::vector<double> now(n, 1.0);
  now.back() = 0.0;
  for (int t = 0; t <= limit; ++t) {
    if (*std::max_element(now.begin(), now.end()) <= eps * (1 + 1e-13)) return t;
    for (std::size_t j = 0; j < n; ++j) {  // in place: row j needs only i >= j
      double next = 0.0;
      for (std::size_t i = j; i + 1 < n; ++i)
        next += walk.step(static_cast<int>(j), static_cast<int>(i)) * now[i];
      now[j] = next;
    }
  }
  return kInfinity;
}

/// A walk on two nodes that leaves with probability g.
Walk two_nodes(double g) {
  Matrix rows(2, 2);
  rows(0, 0) = 1.0 - g;
  rows(0, 1) = g;
  rows(1, 1) = 1.0;
  return walk_of_rows(rows);
}

std::vector<double> by_squaring(const Walk& walk, const std::vector<double>& eps, int threads = 1) {
  return summarise_walk(walk, {.eps = eps, .cutoff = 0, .stepping = 0}, {.threads = threads})
      .mixing;
}

TEST(MixingTime, OfAStarCountsHalvings) {
  const Walk walk = walk_of_graph(star_graph(7));
  EXPECT_EQ(mixing_times(walk, {1.0, 0.5, 0.49, 0.25, 0.125, 1e-6}),
            (std::vector<double>{0, 1, 2, 2, 3, 20}));
  EXPECT_EQ(by_squaring(walk, {1.0, 0.5, 0.49, 0.25, 0.125, 1e-6}),
            (std::vector<double>{0, 1, 2, 2, 3, 20}));
}

TEST(MixingTime, OfAChainWithoutSelfLoopsIsItsLength) {
  for (const int n : {1, 2, 5, 300})
    for (const double eps : {0.25, 1e-9})
      EXPECT_EQ(mixing_time(walk_of_graph(chain_graph(n, false)), eps), n - 1);
}

TEST(MixingTime, IsNeverWhereTheSinkIsOutOfReach) {
  const Walk walk = walk_of_graph(FeedforwardGraph(3, {{0, 1}}));
  EXPECT_EQ(mixing_times(walk, {0.25, 0.999}), (std::vector<double>{kInfinity, kInfinity}));
  EXPECT_EQ(mixing_time(walk, 1.0), 0.0);
}

TEST(MixingTime, RejectsThresholdsThatAreNotPositive) {
  for (const double eps : {0.0, -1.0, std::nan("")})
    EXPECT_THROW(mixing_time(two_nodes(0.5), eps), UsageError);
}

TEST(MixingTime, BySquaringEqualsSteppingOnRandomSystems) {
  const std::vector<double> eps = {0.5, 0.25, 0.05, 1e-3};
  for (std::uint32_t index = 0; index < 10000; ++index) {
    const auto graphs = testing_support::random_graph_system(index);
    const auto stack = testing_support::random_attention_system(index);
    for (const Walk& walk :
         {combine_walk(graphs.heads, graphs.weights, Normalization::kPerHead),
          combine_walk(stack.heads, stack.weights,
                       index % 2 == 0 ? Normalization::kPooled : Normalization::kPerHead)}) {
      const std::vector<double> squared = by_squaring(walk, eps);
      ASSERT_EQ(mixing_times(walk, eps), squared) << index;
      for (std::size_t k = 0; k < eps.size(); ++k) {
        if (squared[k] > 3000 && std::isfinite(squared[k])) continue;
        ASSERT_EQ(squared[k], stepped_mixing_time(walk, eps[k], 3000))
            << index << " eps " << eps[k];
      }
    }
  }
}

// Slow walks, where doubling matters: stays of 0.9 to 0.9999 leave thousands of steps.
TEST(MixingTime, BySquaringEqualsSteppingForSlowWalks) {
  RandomSequence draws(5, Purpose::kTest);
  for (int trial = 0; trial < 60; ++trial) {
    const int n = 2 + static_cast<int>(draws.below(8));
    Matrix rows(n, n);
    for (int j = 0; j < n - 1; ++j) {
      const double leave = std::pow(10.0, -1.0 - 3.0 * draws.uniform());
      double sum = 0.0;
      for (int i = j + 1; i < n; ++i) sum += rows(j, i) = draws.uniform() + 1e-3;
      for (int i = j + 1; i < n; ++i) rows(j, i) *= leave / sum;
      rows(j, j) = 1.0 - leave;
    }
    rows(n - 1, n - 1) = 1.0;
    const Walk walk = walk_of_rows(rows);
    for (const double eps : {0.25, 0.01})
      EXPECT_EQ(mixing_time(walk, eps), stepped_mixing_time(walk, eps, 1000000));
  }
}

// One node that leaves with probability g: s_t = (1 - g)^t, T = ceil(log eps / log(1 - g)).
TEST(MixingTime, OfOneSlowNodeIsExactBelowAMillionAndPreciseBeyond) {
  for (double g = 0.3; g > 1e-15; g *= 0.31) {
    Walk walk = two_nodes(0.5);
    walk.step(0, 0) = 1.0 - g;
    walk.step(0, 1) = g;
    walk.leave[0] = g;
    for (const double eps : {0.25, 0.1, 1e-6}) {
      const double expected = std::log(eps) / std::log1p(-g);
      const double time = mixing_time(walk, eps);
      if (expected < 1e6) {
        EXPECT_EQ(time, std::ceil(expected)) << g;
      } else {
        EXPECT_NEAR(time, std::ceil(expected), 1e-9 * expected) << g;
      }
    }
  }
}

// Fast nodes in front of a slow one: errors of the fast part must not grow with the squarings. The
// walk comes to node 40 within a few dozen steps and leaves it with probability g; what came before
// shifts the time by at most those steps.
TEST(MixingTime, StaysPreciseWhenFastNodesFeedASlowOne) {
  RandomSequence draws(6, Purpose::kTest);
  for (const double g : {1e-7, 1e-10, 1e-13}) {
    const int n = 42;
    Walk walk{Matrix(n, n), std::vector<double>(n, 0.0)};
    for (int j = 0; j < 40; ++j) {
      double sum = 0.0;
      for (int i = j; i <= 40; ++i) sum += walk.step(j, i) = draws.uniform() + 0.01;
      double leave = 0.0;
      for (int i = j; i <= 40; ++i) {
        walk.step(j, i) /= sum;
        if (i > j) leave += walk.step(j, i);
      }
      walk.leave[static_cast<std::size_t>(j)] = leave;
    }
    walk.step(40, 40) = 1.0 - g;
    walk.step(40, 41) = g;
    walk.leave[40] = g;
    walk.step(41, 41) = 1.0;
    const double slow = std::log(0.25) / std::log1p(-g);
    EXPECT_NEAR(mixing_time(walk, 0.25), slow, 1e-9 * slow + 100.0);
  }
}

TEST(MixingTime, IsBoundedByTheTheoremWhereverItIsValid) {
  int checked = 0;
  for (std::uint32_t index = 0; index < 10000; ++index) {
    for (const auto& system : {testing_support::random_graph_system(index),
                               testing_support::random_attention_system(index)}) {
      std::vector<double> forward;
      for (const Head& head : system.heads)
        forward.push_back(forward_probability(head_walk(head, Normalization::kPerHead)));
      const double p = combined_forward_probability(forward, system.weights);
      const Walk walk = combine_walk(system.heads, system.weights, Normalization::kPerHead);
      ASSERT_GE(forward_probability(walk), p * (1 - 1e-14));
      const MixingBound bound = mixing_bound(walk.nodes(), p);
      ASSERT_LE(adaptive_bound(walk.nodes(), forward).steps, bound.steps);
      if (std::isinf(bound.steps)) continue;
      for (const double time :
           mixing_times(walk, {bound.valid_from, 0.5 * (1.0 + bound.valid_from)}))
        ASSERT_LE(time, bound.steps) << index;
      ++checked;
    }
  }
  EXPECT_GT(checked, 15000);
}

TEST(MixingTime, IsTheSameForAnyNumberOfThreads) {
  RandomSequence draws(9, Purpose::kTest);
  const Matrix attention = testing_support::random_attention(300, 4.0, draws);
  const Walk walk = walk_of_attention(attention);
  const std::vector<double> eps = {0.25, 1e-3};
  const std::vector<double> one = by_squaring(walk, eps, 1);
  EXPECT_EQ(by_squaring(walk, eps, 2), one);
  EXPECT_EQ(by_squaring(walk, eps, 7), one);
}

TEST(SummariseWalk, AgreesWithItsParts) {
  for (std::uint32_t index = 0; index < 200; ++index) {
    const auto system = testing_support::random_attention_system(index);
    const Walk walk = combine_walk(system.heads, system.weights, Normalization::kPooled);
    const WalkSummary summary = summarise_walk(walk, {.eps = {0.25}, .cutoff = 100});
    EXPECT_EQ(summary.hitting.node, hitting_times(walk).node);
    EXPECT_EQ(summary.mixing[0], mixing_time(walk, 0.25));
    const HittingTimes truncated = truncated_hitting_times(walk, 100);
    for (std::size_t j = 0; j < truncated.node.size(); ++j)
      EXPECT_NEAR(summary.truncated.node[j], truncated.node[j], 1e-14 * truncated.node[j]);
  }
}

// One node that leaves with probability g: s_t = (1 - g)^t, so T_mix(eps) is the first t with
// 1 - (1 - g)^t >= 1 - eps; for eps near 1 that is (1 - eps) / g steps.
TEST(MixingTime, KeepsItsDigitsNearEpsOne) {
  for (const double g : {1e-15, 1e-9, 0x1.0p-40, 0x1.0p-20, 1e-3}) {
    const Walk walk = walk_of_graph(FeedforwardGraph(2, {{0, 0, 1.0 - g}, {0, 1, g}}));
    for (const double left : {0x1.0p-10, 0x1.0p-30, 0x1.0p-45, 0x1.0p-52}) {
      const double eps = 1.0 - left;  // exact
      const double expected =
          std::max(1.0, std::ceil(std::log1p(-left) / std::log1p(-walk.leave[0]) * (1.0 - 1e-13)));
      const double found = mixing_time(walk, eps);
      EXPECT_NEAR(found, expected, expected < 1e6 ? 0.0 : 1e-9 * expected) << g << ' ' << left;
      EXPECT_EQ(summarise_walk(walk, {.eps = {eps}, .stepping = 0}).mixing[0], found);
    }
  }
  // Both kinds of thresholds at once are what each is alone.
  const auto system = testing_support::random_attention_system(12);
  const Walk walk = combine_walk(system.heads, system.weights, Normalization::kPooled);
  const std::vector<double> eps = {0.9, 0.25, 0.5, 0.51, 0.999, 0.01, 1.0};
  const std::vector<double> together = mixing_times(walk, eps);
  for (std::size_t k = 0; k < eps.size(); ++k) EXPECT_EQ(together[k], mixing_time(walk, eps[k]));
  EXPECT_EQ(together.back(), 0.0);
}

TEST(MixingTime, StopsWhileArrivalsAreStepped) {
  const Walk walk = walk_of_graph(chain_graph(40));
  int asked = 0;
  const Execution counting{.stop = [&] { return ++asked < 0; }};
  summarise_walk(walk, {.eps = {0.9}, .cutoff = 0}, counting);
  EXPECT_GT(asked, 0);
  EXPECT_THROW(mixing_time(walk, 0.9, {.stop = [] { return true; }}), Stopped);
}

// s_t = 2^(-51 t), and 2^-1071 after 21 steps is still above the threshold.
TEST(MixingTime, ThresholdsMayBeBelowTheSmallestNormalNumber) {
  Matrix rows(2, 2);
  rows(0, 0) = 0x1.0p-51;
  rows(0, 1) = 1.0 - 0x1.0p-51;
  rows(1, 1) = 1.0;
  const Walk walk = walk_of_rows(rows);
  const std::vector<double> expected = {1.0, 20.0, 21.0, 22.0};
  EXPECT_EQ(mixing_times(walk, {0.25, 0x1.0p-1020, 0x1.0p-1071, 0x1.0p-1072}), expected);
}

// Near the smallest number of double precision survivals have few digits: the same walks in
// extended precision, whose range is far wider.
TEST(MixingTime, IsExactDownToTheSmallestThreshold) {
  static_assert(std::numeric_limits<long double>::min_exponent < -16000, "a wider range");
  const std::vector<double> eps = {5e-324,   1e-323, 2e-322, 3.3e-320, 1e-315, 1e-310,
                                   2.2e-308, 1e-300, 1e-290, 1e-275,   1e-265, 1e-200};
  const auto stepped = [&](const Walk& walk) {
    const auto n = static_cast<std::size_t>(walk.nodes());
    std::vector<double> times(eps.size(), -1.0);
    std::vector<long double> now(n, 1.0L);
    now.back() = 0.0L;
    for (double t = 0; times.front() < 0.0; ++t) {
      const long double worst = *std::max_element(now.begin(), now.end());
      for (std::size_t k = 0; k < eps.size(); ++k)
        if (times[k] < 0.0 && worst <= eps[k] * (1.0L + 1e-13L)) times[k] = t;
      for (std::size_t j = 0; j < n; ++j) {
        long double next = 0.0L;
        for (std::size_t i = j; i + 1 < n; ++i)
          next += static_cast<long double>(walk.step(static_cast<int>(j), static_cast<int>(i))) *
                  now[i];
        now[j] = next;
      }
    }
    return times;
  };
  for (const double weight : {1e3, 1.0, 0.1, 0.01})  // of the edge, beside a self-loop of 1
    for (const int nodes : {2, 3, 7}) {
      std::vector<Edge> edges;
      for (int j = 0; j + 1 < nodes; ++j) edges.push_back({j, j + 1, weight * (1.0 + 0.1 * j)});
      const Walk walk = walk_of_graph(FeedforwardGraph(nodes, edges));
      const std::vector<double> expected = stepped(walk);
      EXPECT_EQ(mixing_times(walk, eps), expected) << weight << ' ' << nodes;
      EXPECT_EQ(by_squaring(walk, eps), expected) << weight << ' ' << nodes;
    }
  for (std::uint32_t index = 0; index < 20; ++index) {
    const auto system = testing_support::random_attention_system(index);
    const Walk walk = combine_walk(system.heads, system.weights, Normalization::kPerHead);
    if (walk.nodes() < 2 || std::isinf(mixing_time(walk)) || mixing_time(walk) > 50) continue;
    const std::vector<double> expected = stepped(walk);
    EXPECT_EQ(mixing_times(walk, eps), expected) << index;
    EXPECT_EQ(by_squaring(walk, eps), expected) << index;
  }
}

// s_t = (1 / 1.01)^t: the first t with t log(1.01) >= -log eps.
TEST(MixingTime, OfTwoNodesIsALogarithmDownToTheSmallestThreshold) {
  for (const double weight : {1e-2, 1e-4, 1e-6}) {
    const Walk walk = walk_of_graph(FeedforwardGraph(2, {{0, 1, weight}}));
    for (const double eps : {5e-324, 1.5e-323, 1e-316, 1e-308, 1e-290}) {
      const long double exact =
          -std::log(static_cast<long double>(eps)) / std::log1p(static_cast<long double>(weight));
      const double found = mixing_time(walk, eps);
      const auto whole = static_cast<double>(std::ceil(exact));
      const double allowed = whole < 1e6 ? 0.0 : 1e-9 * whole;
      EXPECT_NEAR(found, whole, allowed) << weight << ' ' << eps;
    }
  }
  EXPECT_EQ(mixing_time(walk_of_graph(FeedforwardGraph(2, {{0, 1, 0.01}})), 5e-324), 74816.0);
}

/// T_avg by plain stepping: the first t with a mean survival below `threshold`; infinity beyond.
double stepped_average(const Walk& walk, double threshold, int limit) {
  const auto n = static_cast<std::size_t>(walk.nodes());
  std::vector<double> now(n, 1.0);
  now.back() = 0.0;
  for (int t = 0; t <= limit; ++t) {
    double sum = 0.0;
    for (const double survival : now) sum += survival;
    if (sum / walk.nodes() < threshold * (1 - 1e-13)) return t;
    for (std::size_t j = 0; j < n; ++j) {
      double next = 0.0;
      for (std::size_t i = j; i + 1 < n; ++i)
        next += walk.step(static_cast<int>(j), static_cast<int>(i)) * now[i];
      now[j] = next;
    }
  }
  return kInfinity;
}

WalkSummary averaged(const Walk& walk, const std::vector<double>& eps, std::int64_t stepping = -1) {
  return summarise_walk(walk, {.eps = eps, .cutoff = 0, .stepping = stepping, .averaged = true});
}

TEST(AveragedMixingTime, OfLinesAndStarsIsTheClosedForm) {
  // The parent paper's line of 64 nodes: 111 by the L1 distance, 95 by the total variation.
  const WalkSummary line = averaged(walk_of_graph(chain_graph(64)), {0.25});
  EXPECT_EQ(line.averaged, std::vector<double>{111.0});
  EXPECT_EQ(line.averaged_tv, std::vector<double>{95.0});
  for (const int n : {2, 3, 9, 100}) {
    // From a leaf of a star a walk leaves with chance 1/2: the mean survival is (n - 1) / n 2^-t.
    const WalkSummary star = averaged(walk_of_graph(star_graph(n)), {0.25, 1.0});
    const double begin = (n - 1.0) / n;
    EXPECT_EQ(star.averaged_tv[0], std::floor(std::log2(begin / 0.25)) + 1.0) << n;
    EXPECT_EQ(star.averaged[0], std::floor(std::log2(begin / 0.125)) + 1.0) << n;
    EXPECT_EQ(star.averaged_tv[1], 0.0);
    // Without self-loops the walks from the last t + 1 nodes have arrived: (n - 1 - t) / n is left.
    const WalkSummary chain = averaged(walk_of_graph(chain_graph(n, false)), {0.25});
    EXPECT_EQ(chain.averaged_tv[0], std::max(0.0, std::floor(n - 1 - n / 4.0) + 1.0)) << n;
    EXPECT_EQ(chain.averaged[0], std::max(0.0, std::floor(n - 1 - n / 8.0) + 1.0)) << n;
  }
  EXPECT_EQ(averaged(walk_of_graph(chain_graph(1)), {0.25}).averaged, std::vector<double>{0.0});
}

TEST(AveragedMixingTime, BySquaringEqualsStepping) {
  const std::vector<double> eps = {1.0, 0.7, 0.25, 0.01, 1e-6};
  int finite = 0;
  int unlike_worst = 0;
  for (std::uint32_t index = 0; index < 90; ++index) {
    RandomSequence draws(81, Purpose::kTest, index);
    const int nodes = 1 + static_cast<int>(draws.below(24));
    const Walk walk =
        index % 3 == 0 ? walk_of_attention(
                             testing_support::random_attention(nodes, 4 * draws.uniform(), draws))
        : index % 3 == 1
            ? walk_of_graph(random_graph(nodes, draws.uniform(), index))
            : published_walk(testing_support::random_attention(nodes, 2 * draws.uniform(), draws));
    const WalkSummary stepped = averaged(walk, eps);
    const WalkSummary squared = averaged(walk, eps, 0);
    EXPECT_EQ(stepped.mixing, mixing_times(walk, eps));
    for (std::size_t k = 0; k < eps.size(); ++k) {
      EXPECT_EQ(stepped.averaged_tv[k], squared.averaged_tv[k]) << index << " eps " << eps[k];
      EXPECT_EQ(stepped.averaged[k], squared.averaged[k]) << index << " eps " << eps[k];
      EXPECT_EQ(squared.averaged_tv[k], stepped_average(walk, eps[k], 20000)) << index << ' ' << k;
      EXPECT_EQ(squared.averaged[k], stepped_average(walk, eps[k] / 2, 20000)) << index << ' ' << k;
      finite += std::isfinite(squared.averaged[k]) ? 1 : 0;
      unlike_worst += std::isfinite(squared.averaged[k]) && std::isinf(squared.mixing[k]) ? 1 : 0;
    }
  }
  EXPECT_GT(finite, 200);
  EXPECT_GT(unlike_worst, 10);  // few start nodes never arrive
}

TEST(AveragedMixingTime, OfSlowWalksKeepsItsDigits) {
  for (const double leave : {1e-6, 1e-9, 1e-12}) {
    // Two nodes: (1 - g)^t / 2 falls below 1/8 after ln 4 / -ln(1 - g) steps.
    const double slow = std::log(4.0) / -std::log1p(-leave);
    const double found = averaged(two_nodes(leave), {0.25}).averaged[0];
    EXPECT_NEAR(found, slow, 1e-9 * slow + 1.0);
    // Three nodes in a row: (2 + x) e^-x / 3 with x = g t, up to a relative g.
    Matrix rows(3, 3);
    rows(0, 0) = rows(1, 1) = 1.0 - leave;
    rows(0, 1) = rows(1, 2) = leave;
    rows(2, 2) = 1.0;
    double low = 0.0;
    double high = 20.0;
    for (int k = 0; k < 80; ++k) {
      const double middle = (low + high) / 2;
      ((2 + middle) * std::exp(-middle) / 3 < 0.125 ? high : low) = middle;
    }
    const double three = averaged(walk_of_rows(rows), {0.25}).averaged[0];
    EXPECT_NEAR(three * leave, low, (1e-9 + 4 * leave) * low);
  }
  // Thresholds that are no normal numbers: (1/2)^t / 2 < 2^-1074, and half of that.
  EXPECT_EQ(averaged(two_nodes(0.5), {5e-324}).averaged_tv[0], 1074.0);
  EXPECT_EQ(averaged(two_nodes(0.5), {0x1p-1000}).averaged[0], 1001.0);
}

// Node 2 keeps its walks, and half of the walks from the slow node 1 never do. The other nodes
// arrive at once. Then the mean tends to 1.5 / n.
TEST(AveragedMixingTime, IsFiniteWhereFewWalksAreLost) {
  for (const int n : {6, 7, 12, 13}) {
    Matrix rows(n, n);
    rows(2, 2) = 1.0;
    rows(0, n - 1) = 1.0;
    rows(1, 1) = 1.0 - 0x1p-30;
    rows(1, 2) = rows(1, n - 1) = 0x1p-31;
    for (int j = 3; j < n; ++j) rows(j, n - 1) = 1.0;
    const Walk walk = walk_of_rows(rows);
    EXPECT_EQ(missing_probability(walk)[1], 0.5);
    EXPECT_EQ(missing_probability(walk)[0], 0.0);
    const WalkSummary found = averaged(walk, {0.25});
    EXPECT_EQ(found.mixing[0], kInfinity);
    EXPECT_EQ(std::isfinite(found.averaged_tv[0]), n > 6) << n;
    EXPECT_EQ(std::isfinite(found.averaged[0]), n > 12) << n;
    // (1 + (1 + s) / 2) / n < 1/4 with s = (1 - g)^t, while 2 / n is not.
    if (n == 7) {
      EXPECT_NEAR(found.averaged_tv[0], std::log(0.5) / std::log1p(-0x1p-30), 1e-9 * 0x1p30 + 1.0);
    }
  }
}

}  // namespace
}  // namespace synergraph

#include "synergraph/chain/hitting.h"

#include <gtest/gtest.h>

#include <cmath>

#include "synergraph/graph/generators.h"
#include "tests/support/random_inputs.h"

namespace synergraph {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(HittingTimes, OfAChainAreTwiceTheDistance) {
  for (const int n : {1, 2, 3, 10, 100, 1000}) {
    const HittingTimes times = hitting_times(walk_of_graph(chain_graph(n)));
    for (int j = 0; j < n; ++j)
      EXPECT_EQ(times.node[static_cast<std::size_t>(j)], 2.0 * (n - 1 - j));
    EXPECT_EQ(times.max, 2.0 * (n - 1));
    EXPECT_EQ(times.worst_node, 0);
    EXPECT_DOUBLE_EQ(times.mean, n - 1.0);
  }
}

// From a node with m = n - j choices, itself included: m h_m = m + h_1 + ... + h_m, hence
// h_{m+1} = h_m + 1/m and h_m = 1 + H_{m-1}.
TEST(HittingTimes, OfACompleteGraphAreHarmonic) {
  const int n = 500;
  const HittingTimes times = hitting_times(walk_of_graph(complete_graph(n)));
  double harmonic = 0.0;
  for (int m = 2; m <= n; ++m) {
    harmonic += 1.0 / (m - 1);
    EXPECT_NEAR(times.node[static_cast<std::size_t>(n - m)], 1.0 + harmonic, 1e-13);
  }
}

TEST(HittingTimes, OfAStarAreTwoAndWithoutSelfLoopsDistances) {
  const HittingTimes star = hitting_times(walk_of_graph(star_graph(9)));
  for (int j = 0; j < 8; ++j) EXPECT_EQ(star.node[static_cast<std::size_t>(j)], 2.0);
  const HittingTimes chain = hitting_times(walk_of_graph(chain_graph(9, false)));
  for (int j = 0; j < 9; ++j) EXPECT_EQ(chain.node[static_cast<std::size_t>(j)], 8.0 - j);
}

TEST(HittingTimes, AreInfiniteWhereTheSinkMayBeMissed) {
  // 0 -> 1 or 2; 1 is a dead end; 2 -> 3.
  const HittingTimes times =
      hitting_times(walk_of_graph(FeedforwardGraph(4, {{0, 1}, {0, 2}, {2, 3}})));
  EXPECT_EQ(times.node, (std::vector<double>{kInfinity, kInfinity, 2.0, 0.0}));
  EXPECT_EQ(times.mean, kInfinity);
  EXPECT_EQ(times.worst_node, 0);
}

TEST(Survival, OfAStarHalvesAndOfAChainIsBinomial) {
  const Matrix star = survival(walk_of_graph(star_graph(5)), 60);
  for (int t = 0; t <= 60; ++t) EXPECT_EQ(star(t, 0), std::ldexp(1.0, -t));
  EXPECT_EQ(star(0, 4), 0.0);
  // s_t[0] = P(Bin(t, 1/2) < n - 1).
  const int n = 6;
  const Matrix chain = survival(walk_of_graph(chain_graph(n)), 40);
  for (int t = 0; t <= 40; ++t) {
    double below = 0.0;
    double binomial = std::ldexp(1.0, -t);
    for (int k = 0; k < n - 1 && k <= t; ++k) {
      below += binomial;
      binomial *= static_cast<double>(t - k) / (k + 1);
    }
    EXPECT_NEAR(chain(t, 0), below, 1e-13 * below);
  }
}

/// Plain stepping: s_t for t = 0 .. steps.
std::vector<std::vector<double>> stepped_survival(const Walk& walk, int steps) {
  const auto n = static_cast<std::size_t>(walk.nodes());
  std::vector<double> now(n, 1.0);
  now.back() = 0.0;
  std::vector<std::vector<double>> all{now};
  for (int t = 0; t < steps; ++t) {
    std::vector<double> next(n, 0.0);
    for (std::size_t j = 0; j + 1 < n; ++j)
      for (std::size_t i = j; i < n; ++i)
        next[j] += walk.step(static_cast<int>(j), static_cast<int>(i)) * now[i];
    all.push_back(now = next);
  }
  return all;
}

void check_survival(const Walk& walk) {
  const int steps = 45;
  const Matrix curve = survival(walk, steps);
  const auto expected = stepped_survival(walk, steps);
  const std::vector<double> worst = total_variation_curve(walk, steps);
  std::vector<double> sums(static_cast<std::size_t>(walk.nodes()), 0.0);
  for (int t = 0; t <= steps; ++t) {
    double largest = 0.0;
    for (int j = 0; j < walk.nodes(); ++j) {
      const auto at = static_cast<std::size_t>(j);
      const double s = expected[static_cast<std::size_t>(t)][at];
      ASSERT_NEAR(curve(t, j), s, 1e-13 * s);
      if (t > 0) {
        ASSERT_LE(curve(t, j), curve(t - 1, j) * (1 + 1e-15)) << "survival is monotone";
      }
      if (t < steps) sums[at] += s;
      largest = std::max(largest, curve(t, j));
    }
    ASSERT_EQ(worst[static_cast<std::size_t>(t)], largest);
  }
  const HittingTimes truncated = truncated_hitting_times(walk, steps);
  const HittingTimes whole = hitting_times(walk);
  for (int j = 0; j < walk.nodes(); ++j) {
    const auto at = static_cast<std::size_t>(j);
    ASSERT_NEAR(truncated.node[at], sums[at], 1e-13 * sums[at]);
    ASSERT_LE(truncated.node[at], whole.node[at] * (1 + 1e-13));
    // First-step equation: h_j = 1 + sum_i P(j, i) h_i.
    if (j < walk.sink() && std::isfinite(whole.node[at])) {
      double right = 1.0;
      for (int i = j; i < walk.nodes(); ++i)
        if (walk.step(j, i) > 0.0)
          right += walk.step(j, i) * whole.node[static_cast<std::size_t>(i)];
      ASSERT_NEAR(whole.node[at], right, 1e-11 * right);
    }
  }
}

TEST(Survival, IsMonotoneAndAgreesWithSteppingOnRandomSystems) {
  for (std::uint32_t index = 0; index < 10000; ++index) {
    SCOPED_TRACE(index);
    const auto graphs = testing_support::random_graph_system(index);
    check_survival(combine_walk(graphs.heads, graphs.weights, Normalization::kPerHead));
    const auto stack = testing_support::random_attention_system(index);
    const auto normalization = static_cast<Normalization>(index % 3);
    check_survival(combine_walk(stack.heads, stack.weights, normalization));
    if (HasFatalFailure()) return;
  }
}

TEST(TruncatedHittingTimes, ApproachTheUntruncatedAndCountTheCutoff) {
  const Walk walk = walk_of_graph(powers_graph(33));
  const HittingTimes whole = hitting_times(walk);
  const HittingTimes long_cut = truncated_hitting_times(walk, 100000);
  for (std::size_t j = 0; j < 33; ++j)
    EXPECT_NEAR(long_cut.node[j], whole.node[j], 1e-13 * whole.node[j]);
  EXPECT_EQ(truncated_hitting_times(walk, 0).max, 0.0);
  EXPECT_EQ(truncated_hitting_times(walk, 1).node[0], 1.0);
  const HittingTimes never =
      truncated_hitting_times(walk_of_graph(FeedforwardGraph(3, {{0, 1}})), 37);
  EXPECT_EQ(never.node, (std::vector<double>{37.0, 37.0, 0.0}));
}

// The sums stop as soon as the rest of them is known: whatever is slow, one node or several, at
// either end, they are those of plain stepping.
TEST(TruncatedHittingTimes, AreSumsOfSurvivalHoweverEarlyTheyAreKnown) {
  RandomSequence draws(78, Purpose::kTest);
  for (int trial = 0; trial < 240; ++trial) {
    SCOPED_TRACE(trial);
    const int n = 2 + static_cast<int>(draws.below(70));
    Matrix attention = testing_support::random_attention(n, 0.8 * (trial % 6), draws);
    for (int slow = trial % 5; slow > 0; --slow) {  // some tokens keep most of what they have
      const double keep = 1.0 - std::pow(10.0, -4.0 * draws.uniform());
      const int place = static_cast<int>(draws.below(static_cast<std::uint32_t>(n)));
      const int i = trial % 3 == 0 ? n - 1 - place / 8 : trial % 3 == 1 ? place / 8 : place;
      for (int j = 0; j <= i; ++j)
        attention(i, j) = (1.0 - keep) * attention(i, j) + (i == j ? keep : 0.0);
    }
    const Walk walk = trial % 2 == 0 ? walk_of_attention(attention) : published_walk(attention);
    for (const int cutoff : {21, 100, 101, 1000}) {
      const Matrix curve = survival(walk, cutoff);
      const HittingTimes times = truncated_hitting_times(walk, cutoff);
      for (int j = 0; j < n; ++j) {
        double sum = 0.0;
        for (int t = cutoff - 1; t >= 0; --t) sum += curve(t, j);
        ASSERT_NEAR(times.node[static_cast<std::size_t>(j)], sum, 1e-13 * sum)
            << "node " << j << " of " << n << ", cutoff " << cutoff;
      }
    }
  }
}

// Deterministic steps: nothing is gone for a long time, then all at once.
TEST(TruncatedHittingTimes, DoNotTrustAStandstill) {
  const int n = 300;
  const Walk walk = walk_of_graph(chain_graph(n, false));
  const HittingTimes times = truncated_hitting_times(walk, 250);
  for (int j = 0; j < n; ++j)
    EXPECT_EQ(times.node[static_cast<std::size_t>(j)], std::min(250, n - 1 - j));
}

// Heads that almost never move: self-loop 1 - 1e-13 and below, checked in extended precision.
TEST(HittingTimes, KeepTheirDigitsForNearIdentityHeads) {
  RandomSequence draws(77, Purpose::kTest);
  for (int trial = 0; trial < 50; ++trial) {
    const int n = 2 + static_cast<int>(draws.below(60));
    Matrix attention(n, n);
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < i; ++j) attention(i, j) = 1e-13 * draws.uniform() / i;
      attention(i, i) = 1.0;
    }
    const Walk walk = walk_of_attention(attention);
    // Columns as they are, in long double: weights out of j, then back substitution.
    std::vector<long double> exact(static_cast<std::size_t>(n), 0.0L);
    for (int j = n - 2; j >= 0; --j) {
      long double forward = 0.0L;
      long double mass = attention(j, j);
      long double sum = 0.0L;
      for (int i = j + 1; i < n; ++i) {
        forward += attention(i, j);
        sum += static_cast<long double>(attention(i, j)) * exact[static_cast<std::size_t>(i)];
      }
      mass += forward;
      exact[static_cast<std::size_t>(j)] = (mass + sum) / forward;
    }
    const HittingTimes times = hitting_times(walk);
    for (int j = 0; j < n - 1; ++j) {
      const auto expected = static_cast<double>(exact[static_cast<std::size_t>(j)]);
      EXPECT_GT(expected, 1e12);
      EXPECT_NEAR(times.node[static_cast<std::size_t>(j)], expected, 1e-12 * expected);
    }
  }
}

TEST(HittingTimes, OfTheExactIdentityAreInfinite) {
  Matrix identity(4, 4);
  for (int i = 0; i < 4; ++i) identity(i, i) = 1.0;
  const HittingTimes times = hitting_times(walk_of_attention(identity));
  for (std::size_t j = 0; j < 3; ++j) EXPECT_EQ(times.node[j], kInfinity);
  EXPECT_EQ(times.node[3], 0.0);
  EXPECT_EQ(truncated_hitting_times(walk_of_attention(identity), 100).node[0], 100.0);
}

// A node that leaves with probability g: E[min(T, M)] = (1 - (1 - g)^M) / g, to full precision
// however slow it is and however late the cutoff; a second node that leaves faster changes nothing.
TEST(TruncatedHittingTimes, KeepTheirDigitsAtLateCutoffs) {
  for (const double g : {3e-15, 1e-12, 1e-9, 1e-7, 1e-3, 0.3}) {
    for (const std::int64_t cutoff : {std::int64_t{1000}, std::int64_t{123456},
                                      std::int64_t{1000000000}, std::int64_t{1} << 40}) {
      const Walk two = walk_of_graph(FeedforwardGraph(2, {{0, 0, 1.0 - g}, {0, 1, g}}));
      const double leave = two.leave[0];
      const double expected = -std::expm1(static_cast<double>(cutoff) * std::log1p(-leave)) / leave;
      EXPECT_NEAR(truncated_hitting_times(two, cutoff).node[0], expected, 1e-13 * expected)
          << g << ' ' << cutoff;
      // One that leaves at once to the slow one: one step more.
      const Walk three =
          walk_of_graph(FeedforwardGraph(3, {{0, 1}, {1, 1, 1.0 - g}, {1, 2, g}}, false));
      const double later =
          1.0 - std::expm1(static_cast<double>(cutoff - 1) * std::log1p(-leave)) / leave;
      EXPECT_NEAR(truncated_hitting_times(three, cutoff).node[0], later, 1e-13 * later)
          << g << ' ' << cutoff;
    }
  }
}

// Two slow nodes of nearly equal rates, and one that is never left.
TEST(TruncatedHittingTimes, BySquaringEqualStepping) {
  for (std::uint32_t index = 0; index < 40; ++index) {
    auto system = testing_support::random_attention_system(index);
    Walk walk = head_walk(system.heads.front(), Normalization::kPooled);
    for (int j = 0; j < walk.sink(); ++j) {  // slowed down a hundredfold
      for (int i = j + 1; i < walk.nodes(); ++i) walk.step(j, i) *= 0.01;
      walk.leave[static_cast<std::size_t>(j)] *= 0.01;
      walk.step(j, j) = 1.0 - walk.leave[static_cast<std::size_t>(j)];
    }
    const int cutoff = 3000 + static_cast<int>(index) * 101;
    const Matrix curve = survival(walk, cutoff - 1);
    const HittingTimes times = truncated_hitting_times(walk, cutoff);
    for (int j = 0; j < walk.nodes(); ++j) {
      double sum = 0.0;
      for (int t = 0; t < cutoff; ++t) sum += curve(t, j);
      EXPECT_NEAR(times.node[static_cast<std::size_t>(j)], sum, 1e-11 * sum) << index;
    }
  }
  const Walk held = walk_of_graph(FeedforwardGraph(4, {{0, 1}, {2, 3, 1e-6}}));
  EXPECT_EQ(truncated_hitting_times(held, 1000000).node[1], 1e6);
}

// Nodes that are never left cost no time, however late the cutoff.
TEST(TruncatedHittingTimes, OfNodesThatAreNeverLeftAreTheCutoff) {
  const Walk held = walk_of_graph(FeedforwardGraph(2, {}));
  for (const std::int64_t cutoff : {std::int64_t{1}, std::int64_t{999}, std::int64_t{1} << 60})
    EXPECT_EQ(truncated_hitting_times(held, cutoff).node[0], static_cast<double>(cutoff));
}

// Node 1 takes 1e310 steps, which is no double, but is visited once in 1e300 times.
TEST(HittingTimes, MayPassThroughWhatIsTooLongToWrite) {
  const HittingTimes times =
      hitting_times(walk_of_graph(FeedforwardGraph(3, {{0, 1, 1e-300}, {0, 2}, {1, 2, 1e-310}})));
  EXPECT_EQ(times.node[1], kInfinity);
  EXPECT_NEAR(times.node[0], 1e10 + 2.0, 1e-3);  // 1e-310 has 14 digits
}

}  // namespace
}  // namespace synergraph

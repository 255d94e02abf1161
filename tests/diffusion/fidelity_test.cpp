#include "synergraph/diffusion/fidelity.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "synergraph/core/error.h"
#include "synergraph/graph/generators.h"
#include "tests/support/random_inputs.h"

namespace synergraph {
namespace {

/// Every node's largest signal over 1 <= t <= horizon, by plain stepping.
std::vector<double> brute_force(const Matrix& diffusion, int horizon) {
  const auto n = static_cast<std::size_t>(diffusion.rows());
  std::vector<double> signal(n, 0.0);
  std::vector<double> best(n, 0.0);
  signal.back() = 1.0;
  for (int t = 1; t <= horizon; ++t)
    for (std::size_t j = 0; j < n; ++j) {  // in place: entry j needs only i >= j
      double next = 0.0;
      for (std::size_t i = j; i < n; ++i)
        next += signal[i] * diffusion(static_cast<int>(i), static_cast<int>(j));
      signal[j] = next;
      best[j] = std::max(best[j], next);
    }
  return best;
}

double smallest_source(const std::vector<double>& node) {
  return node.size() == 1 ? 1.0 : *std::min_element(node.begin(), node.end() - 1);
}

TEST(DiffusionMatrix, SharesByIndegree) {
  const Matrix d = diffusion_matrix(FeedforwardGraph(3, {{0, 2}, {1, 2, 2.0}}));
  EXPECT_EQ(d(0, 0), 1.0);
  EXPECT_EQ(d(1, 1), 1.0);
  EXPECT_DOUBLE_EQ(d(2, 0), 0.25);
  EXPECT_DOUBLE_EQ(d(2, 1), 0.5);
  EXPECT_DOUBLE_EQ(d(2, 2), 0.25);
  // Without self-loops a node that nothing reaches keeps what it has.
  const Matrix bare = diffusion_matrix(FeedforwardGraph(3, {{0, 2}}, false));
  EXPECT_EQ(bare(0, 0), 1.0);
  EXPECT_EQ(bare(1, 1), 1.0);
  EXPECT_EQ(bare(2, 0), 1.0);
  EXPECT_EQ(bare(2, 2), 0.0);
}

TEST(SignalCurves, OfTheTwoNodeChainAndRowsSumToOne) {
  const Matrix chain = signal_curves(diffusion_matrix(chain_graph(2)), 50);
  for (int t = 0; t <= 50; ++t) {
    EXPECT_EQ(chain(t, 1), std::ldexp(1.0, -t));
    EXPECT_DOUBLE_EQ(chain(t, 0), 1.0 - std::ldexp(1.0, -t));
  }
  for (std::uint32_t index = 0; index < 500; ++index) {
    const auto system = testing_support::random_attention_system(index);
    const Matrix curves = signal_curves(combine_diffusion(system.heads, system.weights), 70);
    for (int t = 0; t <= 70; ++t) {
      double sum = 0.0;
      for (int j = 0; j < curves.cols(); ++j) sum += curves(t, j);
      EXPECT_NEAR(sum, 1.0, 1e-13);
    }
  }
}

// Complete graph: every receiver averages over all before it, so at t = 1 every node has 1/n at the
// sink. At t = 2 node j has 1/n (1/(j+1) + ... + 1/n): where that is at most 1/n, as for j = n-2,
// 1/n is the largest it gets. The first such node attains the minimum.
TEST(Fidelity, OfACompleteGraphIsOneOverN) {
  for (const int n : {2, 3, 10, 100}) {
    const Fidelity result = fidelity(diffusion_matrix(complete_graph(n)));
    EXPECT_TRUE(result.certified);
    if (n > 2) {
      EXPECT_NEAR(result.minimax, 1.0 / n, 1e-15);
      int first = n - 1;
      for (double tail = 1.0 / n; tail <= 1.0; tail += 1.0 / (first + 1)) --first;
      EXPECT_EQ(result.minimax_node, first + 1);
      EXPECT_EQ(result.minimax_time, 1.0);
    } else {
      EXPECT_EQ(result.minimax, 1.0);  // node 0 in the end gets everything
    }
  }
}

// Star: the sink takes 1/n from each source at once; each source keeps what it has, so in the end
// all of the sink's signal is shared out among them.
TEST(Fidelity, OfAStarIsAnEvenShare) {
  for (const int n : {2, 5, 64}) {
    const Fidelity result = fidelity(diffusion_matrix(star_graph(n)));
    EXPECT_TRUE(result.certified);
    EXPECT_NEAR(result.minimax, 1.0 / (n - 1), 1e-15);
    EXPECT_TRUE(std::isinf(result.minimax_time));
    const Fidelity bare = fidelity(diffusion_matrix(star_graph(n, false)));
    EXPECT_NEAR(bare.minimax, 1.0 / (n - 1), 1e-15);
    EXPECT_EQ(bare.minimax_time, 1.0);
  }
}

// Chain with self-loops: from the sink back to node j > 0 the signal is negative binomial,
// r_t[j] = C(t, k) 2^-t with k = n-1-j, largest first at t = 2k - 1.
TEST(Fidelity, OfAChainIsTheCentralBinomial) {
  const int n = 12;
  const Fidelity result = fidelity(diffusion_matrix(chain_graph(n)), {.every_node = true});
  EXPECT_TRUE(result.certified);
  for (int j = 1; j < n - 1; ++j) {
    const int k = n - 1 - j;
    const int t = 2 * k - 1;
    double binomial = std::ldexp(1.0, -t);
    for (int m = 0; m < k; ++m) binomial *= static_cast<double>(t - m) / (m + 1);
    EXPECT_NEAR(result.node[static_cast<std::size_t>(j)], binomial, 1e-14);
    EXPECT_EQ(result.optimal_time[static_cast<std::size_t>(j)], t);
  }
  EXPECT_EQ(result.node[0], 1.0);
}

TEST(Fidelity, FixedHorizonAgreesWithBruteForce) {
  for (std::uint32_t index = 0; index < 10000; ++index) {
    const auto system = index % 2 == 0 ? testing_support::random_graph_system(index)
                                       : testing_support::random_attention_system(index);
    const Matrix diffusion = combine_diffusion(system.heads, system.weights);
    const int horizon = 1 + static_cast<int>(index % 120);
    const Fidelity result = fidelity(diffusion, {.nodes = FidelityNodes::kAll, .horizon = horizon});
    const std::vector<double> expected = brute_force(diffusion, horizon);
    for (std::size_t j = 0; j < expected.size(); ++j)
      ASSERT_NEAR(result.node[j], expected[j], 1e-13 * expected[j]) << index;
    ASSERT_EQ(result.minimax, *std::min_element(result.node.begin(), result.node.end()));
    ASSERT_EQ(result.minimax, result.minimax_upper);
    ASSERT_FALSE(result.certified);
  }
}

TEST(Fidelity, CertifiedEqualsBruteForceOverALongHorizon) {
  int certified = 0;
  for (std::uint32_t index = 0; index < 300; ++index) {
    const auto system = index % 2 == 0 ? testing_support::random_graph_system(index)
                                       : testing_support::random_attention_system(index);
    const Matrix diffusion = combine_diffusion(system.heads, system.weights);
    const std::vector<double> expected = brute_force(diffusion, 100000);
    const Fidelity minimax = fidelity(diffusion);
    EXPECT_TRUE(minimax.certified) << index;
    const double smallest = smallest_source(expected);
    EXPECT_NEAR(minimax.minimax, smallest, 1e-12 * smallest) << index;
    const Fidelity every = fidelity(diffusion, {.every_node = true});
    certified += every.certified ? 1 : 0;
    for (std::size_t j = 0; j < expected.size(); ++j) {
      EXPECT_NEAR(every.node[j], expected[j], 1e-12 * expected[j]) << index << " node " << j;
      EXPECT_GE(every.node_upper[j], every.node[j]);
    }
  }
  EXPECT_EQ(certified, 300);
}

/// The same minimax, node and time; times at which the signals differ by rounding are the same.
void expect_same_minimax(const Fidelity& a, const Fidelity& b, const Matrix& diffusion) {
  ASSERT_NEAR(a.minimax, b.minimax, 1e-13 * b.minimax);
  ASSERT_EQ(a.minimax_node, b.minimax_node);
  if (a.minimax_time == b.minimax_time) return;
  const auto last = static_cast<int>(std::max(a.minimax_time, b.minimax_time));
  const Matrix curves = signal_curves(diffusion, last);
  ASSERT_NEAR(curves(static_cast<int>(a.minimax_time), a.minimax_node),
              curves(static_cast<int>(b.minimax_time), b.minimax_node), 1e-13 * b.minimax);
}

// Stopping where the minimax is final changes nothing about it, and bounds the other nodes.
TEST(Fidelity, TheMinimaxAloneIsThatOfTheWholeHorizon) {
  int early = 0;
  for (std::uint32_t index = 0; index < 3000; ++index) {
    const auto system = index % 2 == 0 ? testing_support::random_graph_system(index)
                                       : testing_support::random_attention_system(index);
    const Matrix diffusion = combine_diffusion(system.heads, system.weights);
    FidelityOptions options{.horizon = 1 + static_cast<int>(index % 120)};
    if (index % 3 == 0) options.nodes = FidelityNodes::kAll;
    const Fidelity whole = fidelity(diffusion, options);
    options.minimax_alone = true;
    const Fidelity alone = fidelity(diffusion, options);
    early += alone.steps < whole.steps ? 1 : 0;
    SCOPED_TRACE(index);
    expect_same_minimax(alone, whole, diffusion);
    ASSERT_EQ(alone.minimax_upper, alone.minimax);
    for (std::size_t j = 0; j < whole.node.size(); ++j) {
      ASSERT_LE(alone.node[j], whole.node[j] * (1 + 1e-13));
      ASSERT_GE(alone.node_upper[j], whole.node[j] * (1 - 1e-13));
    }
  }
  EXPECT_GT(early, 300);
}

TEST(Fidelity, SeveralOptionsFromOnePropagation) {
  for (std::uint32_t index = 0; index < 300; ++index) {
    const auto system = index % 2 == 0 ? testing_support::random_graph_system(index)
                                       : testing_support::random_attention_system(index);
    const Matrix diffusion = combine_diffusion(system.heads, system.weights);
    const std::vector<FidelityOptions> options = {
        {},
        {.nodes = FidelityNodes::kAll, .horizon = 100, .minimax_alone = true},
        {.horizon = 7},
        {.every_node = true}};
    std::vector<Fidelity> expected;
    for (const FidelityOptions& each : options) expected.push_back(fidelity(diffusion, each));
    const std::vector<Fidelity> results = fidelities(MirroredMatrix(diffusion), options);
    ASSERT_EQ(results.size(), options.size());
    for (std::size_t k = 0; k < options.size(); ++k) {
      SCOPED_TRACE(testing::Message() << "system " << index << ", options " << k);
      expect_same_minimax(results[k], expected[k], diffusion);
      ASSERT_EQ(results[k].certified, expected[k].certified);
      if (k < 2) continue;
      for (std::size_t j = 0; j < expected[k].node.size(); ++j)
        ASSERT_NEAR(results[k].node[j], expected[k].node[j], 1e-13 * expected[k].node[j]);
    }
  }
}

// With few steps allowed the answer is an interval, and the truth lies in it.
TEST(Fidelity, GivesAnHonestIntervalAtTheStepLimit) {
  int intervals = 0;
  for (std::uint32_t index = 0; index < 500; ++index) {
    const auto system = testing_support::random_attention_system(index);
    Matrix diffusion = combine_diffusion(system.heads, system.weights);
    for (int i = 0; i < diffusion.rows(); ++i)  // slowed down: most of each step stays
      for (int j = 0; j <= i; ++j) diffusion(i, j) = 0.05 * diffusion(i, j) + (i == j ? 0.95 : 0.0);
    const Fidelity exact = fidelity(diffusion, {.every_node = true});
    ASSERT_TRUE(exact.certified);
    const Fidelity limited = fidelity(diffusion, {.step_limit = 1});
    EXPECT_LE(limited.minimax, exact.minimax * (1 + 1e-13));
    EXPECT_GE(limited.minimax_upper, exact.minimax * (1 - 1e-13));
    if (!limited.certified) {
      ++intervals;
      EXPECT_LT(limited.minimax, limited.minimax_upper);
    }
    for (std::size_t j = 0; j < exact.node.size(); ++j)
      EXPECT_GE(limited.node_upper[j], exact.node[j] * (1 - 1e-13));
  }
  EXPECT_GT(intervals, 100);
}

struct Interval {
  double lower = 1.0;
  double upper = 1.0;
};

/// The interval that exactly `steps` steps leave for the minimax over the sources, by definition:
/// node j's fidelity is at least what it was so far, and at most that, the signal at nodes from j
/// on, or the part of it that ever comes through j.
Interval interval_after(const Matrix& diffusion, int steps) {
  const int n = diffusion.rows();
  const Matrix curves = signal_curves(diffusion, steps);
  Interval range;
  for (int j = 0; j + 1 < n; ++j) {
    double so_far = 0.0;
    for (int t = 1; t <= steps; ++t) so_far = std::max(so_far, curves(t, j));
    std::vector<double> passing(static_cast<std::size_t>(n), 0.0);
    double above = 0.0;
    double ever = 0.0;
    for (int i = j; i < n; ++i) {
      double down = 0.0;
      double through = 0.0;
      for (int k = 0; k < i; ++k) {
        down += diffusion(i, k);
        through += diffusion(i, k) * passing[static_cast<std::size_t>(k)];
      }
      passing[static_cast<std::size_t>(i)] = i == j ? 1.0 : down > 0.0 ? through / down : 0.0;
      above += curves(steps, i);
      ever += curves(steps, i) * passing[static_cast<std::size_t>(i)];
    }
    const bool keeps = diffusion(j, j) == 1.0;  // then all that ever comes is there in the end
    range.lower = std::min(range.lower, keeps ? ever : so_far);
    range.upper = std::min(range.upper, keeps ? ever : std::max(so_far, std::min(above, ever)));
  }
  return range;
}

TEST(Fidelity, TheIntervalIsThatOfExactlyTheStepLimit) {
  int intervals = 0;
  for (std::uint32_t index = 0; index < 60; ++index) {
    const auto system = testing_support::random_attention_system(index);
    Matrix diffusion = combine_diffusion(system.heads, system.weights);
    if (diffusion.rows() < 2) continue;
    for (int i = 0; i < diffusion.rows(); ++i)
      for (int j = 0; j <= i; ++j) diffusion(i, j) = 0.02 * diffusion(i, j) + (i == j ? 0.98 : 0.0);
    for (const int limit : {1, 2, 3, 5, 7, 8, 9, 13, 20, 21, 37, 39, 40, 41, 97}) {
      const Interval expected = interval_after(diffusion, limit);
      const Fidelity found = fidelity(diffusion, {.step_limit = limit});
      EXPECT_NEAR(found.minimax, expected.lower, 1e-12 * expected.lower) << limit;
      EXPECT_NEAR(found.minimax_upper, expected.upper, 1e-12 * expected.upper) << limit;
      EXPECT_EQ(found.certified, found.minimax == found.minimax_upper);
      EXPECT_LE(found.steps, limit);
      intervals += found.certified ? 0 : 1;
      // The same whatever else is asked for.
      const std::vector<Fidelity> others =
          fidelities(MirroredMatrix(diffusion), {{.step_limit = limit},
                                                 {.step_limit = limit, .every_node = true},
                                                 {.horizon = 100},
                                                 {.every_node = true}});
      for (std::size_t k = 0; k < 2; ++k) {
        EXPECT_EQ(others[k].minimax, found.minimax) << limit;
        EXPECT_EQ(others[k].minimax_upper, found.minimax_upper) << limit;
        EXPECT_EQ(others[k].certified, found.certified) << limit;
        EXPECT_EQ(others[k].minimax_node, found.minimax_node) << limit;
      }
      for (std::size_t j = 0; j < others[1].node.size(); ++j)
        EXPECT_GE(others[1].node_upper[j], others[3].node[j] * (1 - 1e-13));
    }
  }
  EXPECT_GT(intervals, 100);
}

// The weakest node is final long before a slow one is.
TEST(Fidelity, IsCertifiedWhereTheMinimaxIsWhateverOtherNodesAre) {
  Matrix diffusion(4, 4);
  diffusion(0, 0) = diffusion(1, 0) = 1.0;
  diffusion(2, 0) = diffusion(3, 2) = 1e-9;
  diffusion(2, 2) = diffusion(3, 3) = 0.999999999;
  for (const bool every_node : {false, true}) {
    const Fidelity found = fidelity(diffusion, {.step_limit = 3000, .every_node = every_node});
    EXPECT_EQ(found.minimax, 0.0);
    EXPECT_EQ(found.minimax_upper, 0.0);
    EXPECT_EQ(found.minimax_node, 1);
    EXPECT_TRUE(found.certified);
    EXPECT_LT(found.node[2], found.node_upper[2]);  // its own is not
  }
}

// Two slow nodes above the weakest one: the plain bound S_j(t) needs a billion steps, but little of
// that mass is ever passed on to it, which the sharper bound knows.
TEST(Fidelity, IsCertifiedEarlyWhenTheSlowMassPassesBy) {
  Matrix diffusion(4, 4);
  diffusion(0, 0) = 1.0;
  diffusion(1, 0) = 0.5;
  diffusion(1, 1) = 0.5;
  diffusion(2, 0) = 1e-9;
  diffusion(2, 2) = 1.0 - 1e-9;
  diffusion(3, 1) = 1e-3;
  diffusion(3, 2) = 0.5;
  diffusion(3, 3) = 0.499;
  const Fidelity result = fidelity(diffusion);
  EXPECT_TRUE(result.certified);
  EXPECT_LT(result.steps, 1000);
  EXPECT_EQ(result.minimax_node, 1);
  // r_t[1] = 1e-3 sum_{s<t} 0.499^s 0.5^(t-1-s): the largest is at t = 2, 1e-3 (0.499 + 0.5).
  EXPECT_NEAR(result.minimax, 1e-3, 1e-15);
}

TEST(Fidelity, HandlesTheSmallestAndTheDegenerate) {
  const Matrix one = diffusion_matrix(chain_graph(1));
  EXPECT_EQ(fidelity(one).minimax, 1.0);
  EXPECT_TRUE(fidelity(one).certified);
  EXPECT_EQ(fidelity(one, {.nodes = FidelityNodes::kAll}).minimax, 1.0);
  Matrix identity(5, 5);
  for (int i = 0; i < 5; ++i) identity(i, i) = 1.0;
  const Fidelity none = fidelity(identity);
  EXPECT_TRUE(none.certified);
  EXPECT_EQ(none.minimax, 0.0);
  EXPECT_EQ(none.minimax_node, 0);
  EXPECT_EQ(none.minimax_time, 1.0);
  EXPECT_EQ(none.node[4], 1.0);
  EXPECT_EQ(fidelity(identity, {.nodes = FidelityNodes::kAll, .horizon = 100}).minimax, 0.0);
  EXPECT_THROW(fidelity(identity, {.horizon = -1}), UsageError);
}

// The sink's own signal counts under `all` from t = 1 on, and decides: previous-token attention.
TEST(Fidelity, CountsTheSinksOwnSignalOnlyWhenAskedTo) {
  const int n = 6;
  Matrix previous(n, n);
  previous(0, 0) = 1.0;
  for (int i = 1; i < n; ++i) {
    previous(i, i - 1) = 0.99;
    previous(i, i) = 0.01;
  }
  EXPECT_GT(fidelity(previous).minimax, 0.9);
  const Fidelity all = fidelity(previous, {.nodes = FidelityNodes::kAll, .horizon = 100});
  EXPECT_EQ(all.minimax, 0.01);
  EXPECT_EQ(all.minimax_node, n - 1);
}

/// A random diffusion without self-loops but for nodes that keep all they get.
Matrix random_layers(std::uint32_t index) {
  RandomSequence draws(77, Purpose::kTest, index);
  const int nodes = 2 + static_cast<int>(draws.below(14));
  return diffusion_matrix(random_graph(nodes, 0.1 + 0.5 * draws.uniform(), index, false));
}

// Without self-loops all signal has arrived after n - 1 steps: every fidelity is attained, and the
// first step that attains it is that of the plain computation.
TEST(Fidelity, WithoutSelfLoopsIsAttained) {
  for (std::uint32_t index = 0; index < 1000; ++index) {
    const Matrix diffusion = random_layers(index);
    const Fidelity result = fidelity(diffusion, {.every_node = true});
    EXPECT_TRUE(result.certified);
    const Matrix curves = signal_curves(diffusion, diffusion.rows() + 1);
    for (int j = 0; j + 1 < diffusion.rows(); ++j) {
      const auto at = static_cast<std::size_t>(j);
      double most = 0.0;
      for (int t = 1; t < curves.rows(); ++t) most = std::max(most, curves(t, j));
      int first = 1;
      while (curves(first, j) < most * (1.0 - 1e-13)) ++first;
      EXPECT_NEAR(result.node[at], most, 1e-13 * most) << index;
      EXPECT_EQ(result.optimal_time[at], first) << index << " node " << j;
    }
  }
}

// What one set of options gives does not depend on those asked for beside it.
TEST(Fidelity, DoesNotDependOnItsCompanions) {
  for (std::uint32_t index = 0; index < 1000; ++index) {
    const Matrix diffusion = random_layers(index);
    const std::vector<FidelityOptions> options = {
        {}, {.nodes = FidelityNodes::kAll, .horizon = 100, .minimax_alone = true}, {.horizon = 90}};
    const std::vector<Fidelity> together = fidelities(MirroredMatrix(diffusion), options);
    for (std::size_t k = 0; k < options.size(); ++k) {
      const Fidelity alone = fidelity(diffusion, options[k]);
      EXPECT_EQ(together[k].minimax_time, alone.minimax_time) << index << ' ' << k;
      EXPECT_EQ(together[k].minimax_node, alone.minimax_node) << index << ' ' << k;
      EXPECT_NEAR(together[k].minimax, alone.minimax, 1e-14 * alone.minimax);
    }
  }
}

TEST(Fidelity, TheFirstOfEqualNodesAttainsTheMinimax) {
  Matrix diffusion(4, 4);
  for (int j = 0; j < 3; ++j) diffusion(j, j) = 1.0;
  diffusion(3, 0) = 0.1 + 0.2;  // not 0.3, by its last bit
  diffusion(3, 1) = 0.3;
  diffusion(3, 2) = 0.4;
  EXPECT_EQ(fidelity(diffusion).minimax_node, 0);
  EXPECT_EQ(fidelity(diffusion, {.horizon = 5}).minimax_node, 0);
}

/// The chain of n nodes whose nodes pass on the part d of what they have: r_t[j] is binomial.
Matrix slow_chain(int nodes, double d) {
  Matrix chain(nodes, nodes);
  chain(0, 0) = 1.0;
  for (int i = 1; i < nodes; ++i) {
    chain(i, i - 1) = d;
    chain(i, i) = 1.0 - d;
  }
  return chain;
}

// r_t[j] = C(t, k) d^k (1 - d)^(t - k) with k = n - 1 - j moves; it grows while (t + 1)(1 - d) >=
// t + 1 - k, so the peak is at t = ceil(k / d) - 1. No number of steps is too many.
TEST(Fidelity, OfASlowChainIsThePeakOfTheBinomial) {
  for (const double d : {0x1.0p-9, 0x1.0p-14, 0x1.0p-30, 0x1.0p-47, 1e-100, 1e-290}) {
    const int n = 6;
    const Fidelity result = fidelity(slow_chain(n, d), {.every_node = true});
    EXPECT_TRUE(result.certified) << d;
    for (int j = 1; j < n - 1; ++j) {
      const int k = n - 1 - j;
      const double t = std::ceil(k / d) - 1.0;
      double peak = std::exp((t - k) * std::log1p(-d));
      for (int m = 0; m < k; ++m) peak *= (t - m) * d / (m + 1.0);
      const auto at = static_cast<std::size_t>(j);
      EXPECT_NEAR(result.node[at], peak, 3e-12 * peak) << d << " node " << j;
      EXPECT_EQ(result.node_upper[at], result.node[at]);
      EXPECT_NEAR(result.optimal_time[at], t, t < 1e6 ? 0.0 : 1e-5 * t) << d << " node " << j;
    }
    EXPECT_EQ(result.node[0], 1.0);
    const Fidelity minimax = fidelity(slow_chain(n, d));
    EXPECT_TRUE(minimax.certified);
    EXPECT_EQ(minimax.minimax_node, 1);
    EXPECT_NEAR(minimax.minimax, result.node[1], 2e-12 * result.node[1]);
  }
}

// Fast and slow nodes mixed, several peaks a node: squaring finds what a long stepping finds.
TEST(Fidelity, BySquaringEqualsStepping) {
  int slow = 0;
  for (std::uint32_t index = 0; index < 40; ++index) {
    RandomSequence draws(78, Purpose::kTest, index);
    const int n = 3 + static_cast<int>(draws.below(7));
    Matrix diffusion = testing_support::random_attention(n, 2.0, draws);
    for (int i = 1; i < n; ++i) {
      const double keep = draws.below(2) == 0 ? std::pow(10.0, -4.0 * draws.uniform()) : 1.0;
      double down = 0.0;
      for (int j = 0; j < i; ++j) down += diffusion(i, j) *= keep;
      diffusion(i, i) = 1.0 - down;
    }
    std::vector<double> expected = brute_force(diffusion, 200000);
    expected.front() = 1.0;  // in the end
    const Fidelity result = fidelity(diffusion, {.every_node = true});
    EXPECT_TRUE(result.certified) << index;
    slow += result.steps > 2100.0 ? 1 : 0;
    for (std::size_t j = 0; j < expected.size(); ++j)
      EXPECT_NEAR(result.node[j], expected[j], 1e-10 * expected[j]) << index << " node " << j;
    const Fidelity minimax = fidelity(diffusion);
    EXPECT_TRUE(minimax.certified) << index;
    const double smallest = smallest_source(expected);
    EXPECT_NEAR(minimax.minimax, smallest, 1e-10 * smallest) << index;
  }
  EXPECT_GT(slow, 12);
}

// Node 1 loses to the sink's side as slowly as node 2 feeds it, and all else is fast: a plateau of
// a million steps, flat to first order, whose peak comes early. Both are certified.
TEST(Fidelity, IsCertifiedOnAPlateau) {
  for (const double leak : {1e-4, 1e-6, 1e-9, 1e-12}) {
    const FeedforwardGraph graph(5, {{0, 1, 1.5 * leak},
                                     {1, 2, leak},
                                     {1, 3, 0.4},
                                     {2, 3, 0.6},
                                     {3, 4},
                                     {3, 3, 0.5},
                                     {4, 4, 0.5}});
    const Matrix diffusion = diffusion_matrix(graph);
    const Fidelity result = fidelity(diffusion, {.every_node = true});
    EXPECT_TRUE(result.certified) << leak;
    EXPECT_EQ(result.node, result.node_upper) << leak;
    const std::vector<double> expected = brute_force(diffusion, 4000);
    EXPECT_NEAR(result.node[1], expected[1], 1e-12) << leak;
  }
}

// Rates of every size in one head: certified, all of them.
TEST(Fidelity, IsCertifiedAcrossTimeScales) {
  for (std::uint32_t index = 0; index < 200; ++index) {
    RandomSequence draws(79, Purpose::kTest, index);
    const int n = 3 + static_cast<int>(draws.below(18));
    std::vector<Edge> edges;
    for (int j = 0; j < n; ++j) {
      edges.push_back({j, j, index % 2 == 0 ? 1.0 : std::pow(10.0, -3.0 * draws.uniform())});
      for (int i = j + 1; i < n; ++i)
        if (draws.below(2) == 0)
          edges.push_back({j, i,
                           index % 2 == 0 ? std::pow(10.0, -12.0 * draws.uniform())
                                          : std::pow(10.0, -static_cast<double>(draws.below(10)))});
    }
    const Matrix diffusion = diffusion_matrix(FeedforwardGraph(n, std::move(edges)));
    const Fidelity result = fidelity(diffusion, {.every_node = true});
    EXPECT_TRUE(result.certified) << index;
    for (std::size_t j = 0; j < result.node.size(); ++j)
      EXPECT_EQ(result.node_upper[j], result.node[j]) << index << " node " << j;
  }
}

// Where the memory does not hold the powers, the answer is an interval, and the truth lies in it.
TEST(Fidelity, GivesAnHonestIntervalWhereMemoryEnds) {
  int intervals = 0;
  for (std::uint32_t index = 0; index < 150; ++index) {
    RandomSequence draws(80, Purpose::kTest, index);
    const int n = 3 + static_cast<int>(draws.below(6));
    Matrix diffusion = slow_chain(n, 0x1.0p-20);
    if (index % 5 != 0)  // a few slow ways of very different rates
      for (int i = 1; i < n; ++i) {
        double down = 0.0;
        for (int j = 0; j < i; ++j)
          down += diffusion(i, j) = std::pow(10.0, -1.0 - 9.0 * draws.uniform()) / n;
        diffusion(i, i) = 1.0 - down;
      }
    const Fidelity exact = fidelity(diffusion, {.every_node = true});
    const double packed = 4.0 * n * (n + 1.0);
    for (const double powers : {0.0, 3.0, 8.0, 15.0}) {
      const Fidelity limited =
          fidelity(diffusion, {.every_node = true},
                   {.memory = static_cast<std::size_t>(16.0 * n * n + powers * packed)});
      intervals += limited.node == limited.node_upper ? 0 : 1;
      for (std::size_t j = 0; j < exact.node.size(); ++j) {
        EXPECT_LE(limited.node[j], exact.node[j] * (1 + 1e-11)) << index << ' ' << powers;
        EXPECT_GE(limited.node_upper[j], exact.node[j] * (1 - 1e-11)) << index << ' ' << powers;
      }
    }
  }
  EXPECT_GT(intervals, 100);
}

// Powers that are looked at after a node's bound was found may raise it by a rounding.
TEST(Fidelity, NoIntervalIsEmpty) {
  const double rows[4][4] = {
      {1, 0, 0, 0},
      {0.9592687388577267, 0.04073126114227327, 0, 0},
      {1.7890582669451803e-07, 8.967567837894119e-06, 0.9999908535263354, 0},
      {3.825700120692643e-21, 9.43004840952203e-21, 5.988218170552989e-20, 1}};
  Matrix diffusion(4, 4);
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j <= i; ++j) diffusion(i, j) = rows[i][j];
  for (const FidelityNodes nodes : {FidelityNodes::kSources, FidelityNodes::kAll})
    for (const bool every : {false, true}) {
      const std::vector<Fidelity> both =
          fidelities(MirroredMatrix(diffusion), {{}, {.nodes = nodes, .every_node = every}});
      for (const Fidelity& found : both)
        for (std::size_t j = 0; j < 4; ++j) EXPECT_LE(found.node[j], found.node_upper[j]) << j;
    }
}

TEST(Fidelity, StopsWithinASlowHead) {
  Matrix diffusion(40, 40);
  diffusion(0, 0) = 1.0;
  for (int i = 1; i < 40; ++i) {
    diffusion(i, i - 1) = 1e-9;
    diffusion(i, i) = 1.0 - 1e-9;
  }
  int asked = 0;
  EXPECT_THROW(fidelity(diffusion, {}, {.stop = [&] { return ++asked > 300; }}), Stopped);
}

// Bounds of all nodes are one solve each: a large graph is asked between them, and so are curves.
TEST(Fidelity, IsAskedToStopForEveryNode) {
  const int n = 300;
  int asked = 0;
  const Execution counting{.stop = [&] { return ++asked < 0; }};
  fidelity(diffusion_matrix(chain_graph(n)), {.every_node = true}, counting);
  EXPECT_GE(asked, n);
  const Matrix diffusion = diffusion_matrix(chain_graph(3));
  EXPECT_THROW(signal_curves(diffusion, 5, {.stop = [] { return true; }}), Stopped);
}

// 3 -> 2 -> 1, everything else to node 0: node 1 sees 2^-530 2^-530 after two steps, and nothing
// before or after. What has few digits left has them all the same.
TEST(Fidelity, BelowTheSmallestNormalNumberIsKept) {
  constexpr double kPart = 0x1.0p-530;
  Matrix diffusion(4, 4);
  diffusion(0, 0) = diffusion(1, 0) = diffusion(2, 0) = diffusion(3, 0) = 1.0;
  diffusion(3, 2) = diffusion(2, 1) = kPart;
  for (const bool every : {false, true})
    for (const std::int64_t horizon : {0, 100}) {
      const Fidelity found = fidelity(diffusion, {.horizon = horizon, .every_node = every});
      EXPECT_EQ(found.minimax, 0x1.0p-1060);
      EXPECT_EQ(found.minimax_node, 1);
      EXPECT_EQ(found.minimax_time, 2.0);
      EXPECT_EQ(found.node[2], kPart);
    }
}

}  // namespace
}  // namespace synergraph

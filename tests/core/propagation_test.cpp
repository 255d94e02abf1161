#include "synergraph/core/propagation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "tests/support/random_numbers.h"

namespace synergraph {
namespace {

using State = std::vector<double>;

State step(const Matrix& upper, const State& x) {
  State next(x.size(), 0.0);
  for (int j = 0; j < upper.rows(); ++j)
    for (int i = j; i < upper.rows(); ++i)
      next[static_cast<std::size_t>(j)] += upper(j, i) * x[static_cast<std::size_t>(i)];
  return next;
}

/// All that the newest panel says agrees with the states computed one after another.
void expect_panel(const Propagation& states, const std::vector<State>& expected) {
  const std::int64_t begin = states.time() - states.length();
  for (int j = 0; j < states.active(); ++j) {
    const auto at = [&](int k) {
      return expected[static_cast<std::size_t>(begin + k)][static_cast<std::size_t>(j)];
    };
    double sum = 0.0;
    for (int k = 0; k <= states.length(); ++k) ASSERT_NEAR(states.at(j, k), at(k), 1e-14 * at(k));
    ASSERT_EQ(states.current(j), states.at(j, states.length()));
    for (int k = 0; k < states.length(); ++k) sum += states.unordered(j)[k] - states.at(j, k);
    ASSERT_NEAR(sum, 0.0, 1e-14);
    // In order, from the first asked for to the last, or until told to stop.
    int seen = 1;
    const auto look = [&](double value) {
      EXPECT_EQ(value, states.at(j, seen++));
      return false;
    };
    ASSERT_EQ(states.find(j, 1, states.length(), look), states.length());
    ASSERT_EQ(seen, states.length());
    int visited = 0;
    ASSERT_EQ(states.find(j, 0, states.length(), [&](double) { return ++visited == 2; }), 1);
  }
}

// Sizes around the blocks that the rows are worked on in; panels of every number of registers.
TEST(Propagation, AgreesWithOneStepAfterAnother) {
  for (const int size : {1, 2, 3, 7, 63, 64, 65, 159, 161, 250}) {
    const Matrix upper = testing_support::random_upper(size, 5);
    const auto start = testing_support::random_numbers(static_cast<std::size_t>(size), 6);
    std::vector<State> expected = {State(start.begin(), start.end())};
    Propagation states(upper, start.data());
    for (const int steps : {1, 1000, 17, 25, 9, 33}) {
      const std::int64_t before = states.time();
      states.advance(steps);
      ASSERT_EQ(states.time(), before + states.length());
      ASSERT_GE(states.length(), std::min(steps, Propagation::panel()));
      ASSERT_LE(states.length(), Propagation::panel());
      while (static_cast<std::int64_t>(expected.size()) <= states.time())
        expected.push_back(step(upper, expected.back()));
      expect_panel(states, expected);
    }
  }
}

// Rows in any units, with factors: the diagonal is not read.
TEST(Propagation, OfScaledRowsIsThatOfTheMatrix) {
  for (const int size : {1, 2, 7, 8, 9, 64, 100, 161, 250}) {
    const Matrix upper = testing_support::random_upper(size, 5);
    const auto start = testing_support::random_numbers(static_cast<std::size_t>(size), 6);
    const auto scale = testing_support::random_numbers(static_cast<std::size_t>(size), 7);
    Matrix whole = upper;
    for (int j = 0; j < size; j += 5) {  // one that keeps nothing, one that passes nothing on
      whole(j, j) = 0.0;
      if (j + 1 == size) continue;
      std::fill_n(whole.row(j + 1), size, 0.0);
      whole(j + 1, j + 1) = 1.0;
    }
    Matrix rows(size, size);
    std::vector<double> stay;
    for (int j = 0; j < size; ++j) {
      for (int i = j + 1; i < size; ++i)
        rows(j, i) = whole(j, i) / scale[static_cast<std::size_t>(j)];
      rows(j, j) = 1e300;
      stay.push_back(whole(j, j));
    }
    std::vector<State> expected = {State(start.begin(), start.end())};
    Propagation states(rows, scale.data(), stay.data(), start.data());
    for (const int steps : {1, 1000, 17, 25, 9, 33}) {
      states.advance(steps);
      while (static_cast<std::int64_t>(expected.size()) <= states.time())
        expected.push_back(step(whole, expected.back()));
      expect_panel(states, expected);
    }
  }
}

TEST(Propagation, KnowsMaximaAndTheSumOfAPanel) {
  for (const int size : {1, 5, 40}) {
    const Matrix upper = testing_support::random_upper(size, 9);
    const auto start = testing_support::random_numbers(static_cast<std::size_t>(size), 10);
    Propagation states(upper, start.data());
    for (const int steps : {1, 1000, 17}) {
      states.advance(steps);
      std::vector<double> most(static_cast<std::size_t>(size), 0.1);
      std::vector<double> expected = most;
      double sum = 0.0;
      for (int j = 0; j < size; ++j)
        for (int k = 0; k < states.length(); ++k) {
          sum += states.at(j, k);
          double& largest = expected[static_cast<std::size_t>(j)];
          if (j + 1 < size) largest = std::max(largest, states.at(j, k));
        }
      states.raise_to_panel(size - 1, most.data());
      EXPECT_EQ(most, expected);
      EXPECT_NEAR(states.panel_total(), sum, 1e-14 * sum);
    }
  }
}

TEST(Propagation, NodesLeftOutCountAsZero) {
  constexpr int kSize = 90;
  constexpr int kActive = 41;
  const Matrix upper = testing_support::random_upper(kSize, 7);
  auto start = testing_support::random_numbers(kSize, 8);
  Propagation states(upper, start.data());
  states.restrict_to(kActive);
  states.advance();
  State x(start.begin(), start.end());
  std::fill(x.begin() + kActive, x.end(), 0.0);
  std::vector<State> expected = {x};
  while (static_cast<std::int64_t>(expected.size()) <= states.time())
    expected.push_back(step(upper, expected.back()));
  ASSERT_EQ(states.active(), kActive);
  expect_panel(states, expected);
}

// Flushed or not, states differ by what the flushed ones were worth; whoever asks learns of it, and
// other arithmetic goes on as before.
TEST(Propagation, FlushesWhatIsNoNormalNumber) {
  constexpr int kSize = 70;
  constexpr double kLeastNormal = std::numeric_limits<double>::min();
  Matrix upper = testing_support::random_upper(kSize, 11);
  for (int j = 0; j < kSize; ++j) {
    double sum = 0.0;
    for (int i = j; i < kSize; ++i) {
      upper(j, i) = std::exp2(-300.0 * upper(j, i)) * ((i + j) % 7 == 0 ? 0x1.0p-200 : 1.0);
      sum += upper(j, i);
    }
    for (int i = j; i < kSize; ++i) upper(j, i) /= 2.0 * sum;
  }
  const std::vector<double> start(kSize, 0x1.0p-900);
  Propagation kept(upper, start.data());
  Propagation flushed(upper, start.data());
  flushed.flush_tiny();
  int tiny = 0;
  while (kept.time() < 160) {
    kept.advance();
    flushed.advance();
    for (int j = 0; j < kSize; ++j)
      for (int k = 0; k <= kept.length(); ++k) {
        const double value = kept.at(j, k);
        tiny += value > 0.0 && value < kLeastNormal ? 1 : 0;
        const double loss = 2.0 * kSize * static_cast<double>(kept.time()) * kLeastNormal;
        ASSERT_NEAR(flushed.at(j, k), value, 1e-14 * value + loss);
      }
  }
  EXPECT_GT(tiny, 0);
  EXPECT_FALSE(kept.flushed());
#if defined(__SSE2__)
  EXPECT_TRUE(flushed.flushed());
  for (int j = 0; j < kSize; ++j) {
    const double value = flushed.current(j);
    EXPECT_TRUE(value == 0.0 || value >= kLeastNormal) << j;
  }
#endif
  volatile double least = kLeastNormal;
  EXPECT_GT(least / 2.0, 0.0);

  const std::vector<double> large(kSize, 1.0);
  const Matrix other = testing_support::random_upper(kSize, 12);
  Propagation normal(other, large.data());
  normal.flush_tiny();
  normal.advance(1);
  EXPECT_FALSE(normal.flushed());
}

}  // namespace
}  // namespace synergraph

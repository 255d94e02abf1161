#include "synergraph/chain/walk_powers.h"

#include <gtest/gtest.h>

#include "synergraph/chain/mixing.h"
#include "tests/support/random_inputs.h"

namespace synergraph {
namespace {

/// A walk that leaves each node with a probability near 1e-6.
Walk slow_walk(int nodes) {
  RandomSequence draws(5, Purpose::kTest);
  Matrix rows = walk_of_attention(testing_support::random_attention(nodes, 1.0, draws)).step;
  for (int j = 0; j + 1 < nodes; ++j)
    for (int i = j; i < nodes; ++i) rows(j, i) = 1e-6 * rows(j, i) + (i == j ? 1.0 - 1e-6 : 0.0);
  return walk_of_rows(rows);
}

/// Bytes for two powers and `kept` more.
std::size_t memory_for(int nodes, int kept) {
  const auto n = static_cast<std::size_t>(nodes);
  return 2 * 8 * n * n + static_cast<std::size_t>(kept) * 4 * n * (n + 1);
}

// What does not fit the memory is squared again: the same numbers to the last bit, for a bounded
// number of squarings.
TEST(WalkPowers, AreTheSameInAnyMemory) {
  constexpr int kNodes = 37;
  constexpr int kTop = 30;
  const Walk walk = slow_walk(kNodes);
  const std::vector<double> in(kNodes, 1.0);
  std::vector<std::vector<double>> expected;
  for (const int kept : {1000, 8, 4, 2, 0}) {
    SCOPED_TRACE(kept);
    const Execution execution{.threads = 1, .memory = memory_for(kNodes, kept)};
    WalkPowers powers(walk, WalkPowers::Keep::kAll, execution);
    while (powers.top_level() < kTop) powers.climb();
    for (int level = kTop - 2; level >= 0; --level) {
      std::vector<double> out(kNodes);
      powers.multiply(level, in.data(), out.data());
      if (kept == 1000)
        expected.push_back(out);
      else
        EXPECT_EQ(out, expected[static_cast<std::size_t>(kTop - 2 - level)]) << level;
    }
    if (kept == 1000)
      EXPECT_EQ(powers.squarings(), kTop);
    else
      EXPECT_LE(powers.squarings(), kept >= 4 ? 5 * kTop / 2 : 8 * kTop);
  }
}

TEST(WalkPowers, MixingTimesDoNotDependOnTheMemory) {
  const Walk walk = slow_walk(20);
  const std::vector<double> eps = {0.25, 1e-3};
  const auto with = [&](std::size_t memory) {
    return summarise_walk(walk, {.eps = eps}, {.threads = 1, .memory = memory}).mixing;
  };
  const std::vector<double> ample = with(1'000'000'000);
  EXPECT_GT(ample.front(), 1e5);
  for (const int kept : {0, 3, 6}) EXPECT_EQ(with(memory_for(20, kept)), ample);
}

}  // namespace
}  // namespace synergraph

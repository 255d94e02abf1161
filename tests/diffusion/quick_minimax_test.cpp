#include "synergraph/diffusion/quick_minimax.h"

#include <gtest/gtest.h>

#include "synergraph/diffusion/fidelity.h"
#include "tests/support/random_inputs.h"

namespace synergraph {
namespace {

using testing_support::random_attention;

std::optional<double> quickly(const Matrix& diffusion, double whole,
                              const FidelityOptions& options) {
  const int n = diffusion.rows();
  Matrix columns(n, n);
  std::vector<double> down(static_cast<std::size_t>(n), 0.0);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j <= i; ++j) {
      columns(j, i) = whole * diffusion(i, j);
      if (j < i) down[static_cast<std::size_t>(i)] += columns(j, i);
    }
  return quick_minimax({columns, down.data(), whole}, options);
}

std::vector<FidelityOptions> all_options() {
  return {{},
          {.nodes = FidelityNodes::kAll},
          {.horizon = 1},
          {.nodes = FidelityNodes::kAll, .horizon = 7},
          {.horizon = 8},
          {.nodes = FidelityNodes::kAll, .horizon = 100},
          {.horizon = 130}};
}

TEST(QuickMinimax, IsTheMinimaxFidelity) {
  RandomSequence draws(91, Purpose::kTest);
  for (const int nodes : {1, 2, 3, 9, 16, 40, 100, 170})
    for (const double sharpness : {0.0, 1.0, 2.0})
      for (const FidelityOptions& options : all_options()) {
        const Matrix attention = random_attention(nodes, sharpness, draws);
        for (const double whole : {1.0, 0.3, 1e-15}) {
          const std::optional<double> minimax = quickly(attention, whole, options);
          ASSERT_TRUE(minimax.has_value()) << nodes << ", " << sharpness;
          const double expected = fidelity(attention, options).minimax;
          EXPECT_NEAR(*minimax, expected, 1e-13 * expected) << nodes << ", " << sharpness;
        }
      }
}

// Where it says something of sparse graphs and of sharp attention, it says the right thing.
TEST(QuickMinimax, IsRightOrSilent) {
  int said = 0;
  RandomSequence draws(92, Purpose::kTest);
  for (std::uint32_t index = 0; index < 300; ++index) {
    const int nodes = 2 + static_cast<int>(index % 25);
    const Matrix diffusion =
        index % 2 == 0 ? diffusion_matrix(random_graph(nodes, 0.01 * (index % 100), index))
                       : random_attention(nodes, 0.1 * (index % 150), draws);
    for (const FidelityOptions& options : all_options()) {
      const std::optional<double> minimax = quickly(diffusion, 0.7, options);
      if (!minimax) continue;
      ++said;
      const double expected = fidelity(diffusion, options).minimax;
      ASSERT_NEAR(*minimax, expected, 1e-12 * expected) << index;
    }
  }
  EXPECT_GT(said, 1000);
}

TEST(QuickMinimax, LeavesSlowAndSplitDiffusionsToOthers) {
  Matrix slow(10, 10);
  for (int i = 0; i < 10; ++i)
    for (int j = 0; j <= i; ++j) slow(i, j) = i == j ? 1.0 - 1e-6 * i : 1e-6;
  EXPECT_FALSE(quickly(slow, 1.0, {}).has_value());
  Matrix split = slow;
  split(4, 4) = 1.0;  // keeps what it gets
  std::fill_n(split.row(4), 4, 0.0);
  EXPECT_FALSE(quickly(split, 1.0, {}).has_value());
  EXPECT_FALSE(quickly(diffusion_matrix(complete_graph(9)), 1.0, {.step_limit = 3}).has_value());
}

}  // namespace
}  // namespace synergraph

#include "synergraph/diffusion/minimax_nodes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "synergraph/core/error.h"
#include "synergraph/diffusion/fidelity.h"
#include "synergraph/diffusion/quick_minimax.h"
#include "tests/support/random_inputs.h"

namespace synergraph {
namespace {

using testing::ElementsAre;
using testing_support::random_attention;

FidelityOptions options_from(const std::string& text) {
  FidelityOptions options;
  options.from = TokenChoice(text, "--from");
  return options;
}

TEST(MinimaxNodes, LeavesTheSinkOutUnlessAllNodesCount) {
  EXPECT_THAT(minimax_nodes({}, 3), ElementsAre(0, 1));
  EXPECT_THAT(minimax_nodes({.nodes = FidelityNodes::kAll}, 3), ElementsAre(0, 1, 2));
  EXPECT_THAT(minimax_nodes(options_from("::1"), 3), ElementsAre(0, 1));
  FidelityOptions options = options_from("-1");
  EXPECT_THROW(minimax_nodes(options, 3), InputError);
  EXPECT_THROW(minimax_nodes(options_from("3"), 3), InputError);
  options.nodes = FidelityNodes::kAll;
  EXPECT_THAT(minimax_nodes(options, 3), ElementsAre(2));
}

TEST(MinimaxNodes, CountsTokensBehindTheNodeForMissingMass) {
  FidelityOptions options = options_from("0,-2");
  options.first_token = 1;
  EXPECT_THAT(minimax_nodes(options, 5), ElementsAre(1, 3));
}

// The fidelity of chosen tokens is the least of theirs, certified as that of all is, by every way
// to measure it: quickly, by stepping, by powers, within a horizon.
TEST(MinimaxNodes, TheFidelityOfChosenTokensIsTheLeastOfTheirs) {
  RandomSequence draws(17, Purpose::kTest);
  int powers = 0;
  for (int index = 0; index < 120; ++index) {
    const int nodes = 6 + index % 20;
    const Matrix attention = random_attention(nodes, 0.05 * index, draws);
    for (const char* text : {"5", "0", "1-3", "-2", "::4", "2,4"})
      for (const std::int64_t horizon : {0, 9, 60}) {
        FidelityOptions options = options_from(text);
        options.horizon = horizon;
        const Fidelity chosen = [&] {
          try {
            return fidelity(attention, options);
          } catch (const InputError&) {
            Fidelity none;
            none.minimax = -1.0;  // the only token that is chosen is the sink
            return none;
          }
        }();
        if (chosen.minimax < 0.0) continue;
        FidelityOptions every;
        every.horizon = horizon;
        every.every_node = true;
        const Fidelity all = fidelity(attention, every);
        double least = 1.0;
        for (const int j : minimax_nodes(options, nodes))
          least = std::min(least, all.node[static_cast<std::size_t>(j)]);
        EXPECT_NEAR(chosen.minimax, least, 2e-12 * least) << text << ", " << horizon;
        EXPECT_EQ(chosen.certified, horizon == 0);
        powers += chosen.steps > 2000 ? 1 : 0;
        Matrix columns(nodes, nodes);
        std::vector<double> down(static_cast<std::size_t>(nodes), 0.0);
        for (int i = 0; i < nodes; ++i)
          for (int j = 0; j <= i; ++j) {
            columns(j, i) = attention(i, j);
            if (j < i) down[static_cast<std::size_t>(i)] += attention(i, j);
          }
        if (const auto quick = quick_minimax({columns, down.data(), 1.0}, options)) {
          EXPECT_NEAR(*quick, least, 2e-12 * least) << text << ", " << horizon;
        }
      }
  }
  EXPECT_GT(powers, 0);
}

}  // namespace
}  // namespace synergraph

#include "synergraph/heads/permuted_heads.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "tests/support/random_inputs.h"

namespace synergraph {
namespace {

using testing_support::random_attention;

std::vector<Head> random_heads(int heads, int nodes) {
  RandomSequence draws(5, Purpose::kTest);
  std::vector<Head> list;
  for (int h = 0; h < heads; ++h)
    list.push_back(head_of_attention("", random_attention(nodes, 1.0, draws)));
  return list;
}

TEST(PermutedHeads, KeepsTheWeightsOfEveryRow) {
  const std::vector<Head> heads = random_heads(3, 12);
  HeadList list(heads);
  PermutedHeads permuted(list, 0, 1, 4, 2);
  for (int h = 0; h < 3; ++h) {
    const MirroredMatrix& head = permuted.head(h);
    const Matrix& own = heads[static_cast<std::size_t>(h)].diffusion;
    for (int i = 0; i < 12; ++i) {
      std::vector<double> before(own.row(i), own.row(i) + i + 1);
      std::vector<double> after(head.view().row(i), head.view().row(i) + i + 1);
      for (int j = 0; j < std::min(i + 1, 2); ++j)
        EXPECT_EQ(after[static_cast<std::size_t>(j)], before[static_cast<std::size_t>(j)]);
      std::sort(before.begin(), before.end());
      std::sort(after.begin(), after.end());
      EXPECT_EQ(after, before);
      for (int j = 0; j < i; ++j) EXPECT_EQ(head.view()(j, i), head.view()(i, j));
    }
  }
}

TEST(PermutedHeads, IsAFunctionOfSeedLayerSampleAndHead) {
  std::vector<Head> heads = random_heads(1, 30);
  heads.push_back(heads.front());
  HeadList list(heads);
  const auto last_row = [&](std::uint64_t seed, int layer, int sample, int head) {
    PermutedHeads permuted(list, seed, layer, sample);
    const double* row = permuted.head(head).view().row(29);
    return std::vector<double>(row, row + 30);
  };
  const std::vector<double> one = last_row(0, 0, 0, 0);
  EXPECT_EQ(one, last_row(0, 0, 0, 0));
  EXPECT_NE(one, last_row(1, 0, 0, 0));
  EXPECT_NE(one, last_row(0, 1, 0, 0));
  EXPECT_NE(one, last_row(0, 0, 1, 0));
  EXPECT_NE(one, last_row(0, 0, 0, 1));  // equal heads do not stay equal
}

// Each of the six orders of three weights comes as often: 6000 draws, five standard deviations of
// 1000 (29).
TEST(PermutedHeads, DrawsEveryOrderAsOften) {
  Matrix attention(3, 3);
  attention(0, 0) = attention(1, 0) = 1.0;
  attention(2, 0) = 0.5;
  attention(2, 1) = 0.3;
  attention(2, 2) = 0.2;
  const std::vector<Head> heads = {head_of_attention("", std::move(attention))};
  HeadList list(heads);
  std::map<std::vector<double>, int> seen;
  for (int sample = 0; sample < 6000; ++sample) {
    PermutedHeads permuted(list, 0, 0, sample);
    const double* row = permuted.head(0).view().row(2);
    ++seen[{row, row + 3}];
  }
  EXPECT_EQ(seen.size(), 6U);
  for (const auto& [order, count] : seen) EXPECT_NEAR(count, 1000, 145);
}

}  // namespace
}  // namespace synergraph

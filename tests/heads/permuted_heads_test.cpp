#include "synergraph/heads/permuted_heads.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "synergraph/heads/moved_heads.h"
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

// A sliding window of 4 keys, of which one head leaves out the nearest.
std::vector<Head> windowed_heads(int nodes) {
  std::vector<Head> heads = random_heads(2, nodes);
  for (std::size_t h = 0; h < 2; ++h)
    for (int i = 0; i < nodes; ++i) {
      double* row = heads[h].diffusion.row(i);
      std::fill_n(row, std::max(0, i - 3), 0.0);
      if (h == 1 && i > 0) row[i] = 0.0;
      const double sum = std::accumulate(row, row + i + 1, 0.0);
      for (int j = 0; j <= i; ++j) row[j] /= sum;
    }
  return heads;
}

TEST(PermutedHeads, KeepsTheZerosOfAMask) {
  const std::vector<Head> heads = windowed_heads(20);
  HeadList list(heads);
  bool moved_to_itself = false;
  for (int sample = 0; sample < 20; ++sample) {
    PermutedHeads permuted(list, 0, 0, sample);
    for (int h = 0; h < 2; ++h) {
      const ConstMatrixView head = permuted.head(h).view();
      for (int i = 0; i < 20; ++i)
        for (int j = 0; j < i - 3; ++j) EXPECT_EQ(head(i, j), 0.0) << h << ' ' << i << ' ' << j;
      moved_to_itself |= h == 1 && head(10, 10) > 0.0;
    }
  }
  EXPECT_TRUE(moved_to_itself);  // the other head looks there: no mask forbids it
}

// Rows that are uniform over a window are their own null.
TEST(PermutedHeads, LeavesUniformWindowsAsTheyAre) {
  Matrix window(12, 12);
  for (int i = 0; i < 12; ++i)
    for (int j = std::max(0, i - 2); j <= i; ++j) window(i, j) = 1.0 / std::min(i + 1, 3);
  const std::vector<Head> heads = {head_of_attention("", window)};
  HeadList list(heads);
  PermutedHeads permuted(list, 0, 0, 0);
  const ConstMatrixView head = permuted.head(0).view();
  for (int i = 0; i < 12; ++i)
    for (int j = 0; j <= i; ++j) EXPECT_EQ(head(i, j), window(i, j));
}

// Of a window of 4 keys behind a node that takes missing mass, by norms that are 0 at every third
// token: what is not moved may still be looked at. Token 0 moves nothing and is the identity.
TEST(PermutedHeads, TakesTheAttentionsMaskForOtherEdges) {
  const std::vector<Head> heads = windowed_heads(13);
  HeadList attention(heads);
  MovedValues values;
  values.norms = Matrix(2, 12);
  for (int j = 0; j < 12; ++j)
    for (int h = 0; h < 2; ++h) values.norms(h, j) = j % 3 == 0 ? 0.0 : 1.0 + j + h;
  MovedHeads moved(attention, false, std::move(values), 1, {});
  bool moved_to_third = false;
  for (int sample = 0; sample < 20; ++sample) {
    PermutedHeads permuted(moved, 0, 0, sample);
    for (int h = 0; h < 2; ++h) {
      const ConstMatrixView head = permuted.head(h).view();
      EXPECT_EQ(head(0, 0), 1.0);
      for (int i = 0; i < 12; ++i)
        for (int j = 0; j < i - 3; ++j) EXPECT_EQ(head(i, j), 0.0) << h << ' ' << i << ' ' << j;
      moved_to_third |= head(11, 9) > 0.0;
    }
  }
  EXPECT_TRUE(moved_to_third);
}

TEST(AllowedKeys, AreWhatSomeHeadLooksAt) {
  AllowedKeys keys(3);
  Matrix head(3, 3);
  head(0, 0) = head(1, 1) = head(2, 0) = 1.0;
  keys.add(head);
  std::vector<int> list;
  keys.list(2, 0, list);
  EXPECT_EQ(list, std::vector<int>{0});
  EXPECT_FALSE(keys.all());
  head(1, 0) = head(2, 1) = 0.5;
  keys.add(head);
  keys.list(2, 0, list);
  EXPECT_EQ(list, (std::vector<int>{0, 1}));
  keys.list(2, 1, list);
  EXPECT_EQ(list, std::vector<int>{1});
  const AllowedKeys rest = keys.without_first(1);
  rest.list(1, 0, list);
  EXPECT_EQ(list, std::vector<int>{0});
  EXPECT_FALSE(rest.all());
  head(2, 2) = 0.5;
  keys.add(head);
  EXPECT_TRUE(keys.all());
  EXPECT_TRUE(keys.without_first(2).all());
  keys.list(2, 1, list);
  EXPECT_EQ(list, (std::vector<int>{1, 2}));
}

}  // namespace
}  // namespace synergraph

#include "synergraph/train/cpu/group_sums.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "synergraph/core/random.h"

namespace synergraph {
namespace {

constexpr int kGroups = 5;
constexpr std::size_t kTable = 24;

ModelConfig small_model() {
  return {.vocabulary = 7, .length = 3, .width = 4, .heads = 2, .layers = 1, .hidden = 5};
}

class GroupSumsTest : public testing::Test {
 protected:
  GroupSumsTest() {
    for (int group = 0; group < kGroups; ++group) {
      std::vector<float>& values = gradients_.emplace_back(layout_.size() + kTable);
      const RandomStream stream(static_cast<std::uint64_t>(group), Purpose::kTest);
      for (std::size_t k = 0; k < values.size(); ++k)
        values[k] = static_cast<float>(stream.normals(k)[0]);
    }
  }

  void fill(int group) {
    const std::vector<float>& values = gradients_[static_cast<std::size_t>(group)];
    const GradientSum& sum = sums_[group];
    std::copy_n(values.data(), layout_.size(), sum.tensors.token_embedding);
    std::copy_n(values.data() + layout_.size(), kTable, sum.table);
  }
  /// The sum in the groups' order, in single precision.
  std::vector<float> expected() const {
    std::vector<float> sum = gradients_[0];
    for (std::size_t group = 1; group < gradients_.size(); ++group)
      for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += gradients_[group][k];
    return sum;
  }
  std::vector<float> total() const {
    std::vector<float> sum(sums_.values(), sums_.values() + layout_.size());
    sum.insert(sum.end(), sums_.total().table, sums_.total().table + kTable);
    return sum;
  }

  ModelConfig config_ = small_model();
  ParameterLayout layout_{config_};
  GroupSums sums_{config_, layout_};
  std::vector<std::vector<float>> gradients_;
};

TEST_F(GroupSumsTest, TheSumIsInTheGroupsOrderWhicheverIsCompleteFirst) {
  std::vector<int> order(kGroups);
  std::iota(order.begin(), order.end(), 0);
  do {
    sums_.start(kGroups, kTable);
    for (int group = 0; group < kGroups; ++group) {
      sums_.open(group);
      fill(group);
    }
    for (const int group : order) sums_.complete(group);
    ASSERT_EQ(total(), expected());
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST_F(GroupSumsTest, OneGroupAfterTheOtherTakesTheMemoryOfTwo) {
  sums_.start(kGroups, kTable);
  for (int group = 0; group < kGroups; ++group) {
    sums_.open(group);
    fill(group);
    if (group > 1) {
      EXPECT_EQ(sums_[group].table, sums_[1].table);
    }
    sums_.complete(group);
  }
  EXPECT_EQ(total(), expected());
}

}  // namespace
}  // namespace synergraph

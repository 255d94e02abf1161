#include "synergraph/train/data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "synergraph/core/error.h"

namespace synergraph {
namespace {

TEST(EpochOrder, IsAPermutationThatChangesWithSeedAndEpoch) {
  const auto order = epoch_order(1, 0, 50);
  auto sorted = order;
  std::sort(sorted.begin(), sorted.end());
  std::vector<std::int32_t> identity(50);
  std::iota(identity.begin(), identity.end(), 0);
  EXPECT_EQ(sorted, identity);
  EXPECT_NE(order, identity);
  EXPECT_EQ(epoch_order(1, 0, 50), order);
  EXPECT_NE(epoch_order(1, 1, 50), order);
  EXPECT_NE(epoch_order(2, 0, 50), order);
}

TEST(EpochOrder, EveryPermutationIsEquallyLikely) {
  std::map<std::vector<std::int32_t>, int> seen;
  const int draws = 6000;
  for (std::uint32_t epoch = 0; epoch < draws; ++epoch) ++seen[epoch_order(3, epoch, 3)];
  ASSERT_EQ(seen.size(), 6U);
  double chi_square = 0.0;
  for (const auto& [order, count] : seen) chi_square += (count - 1000) * (count - 1000) / 1000.0;
  EXPECT_LT(chi_square, 25.7);  // 99.99 % point of chi-square with 5 degrees of freedom
}

TEST(TaskData, HeldOutSequencesAreNotTrainedOn) {
  ModelConfig config;
  config.length = 20;
  const TrainingData data = task_data(find_task("cycle"), 5, 40, config);
  EXPECT_EQ(data.inputs.count, 40);
  EXPECT_EQ(data.held_out_inputs.count, kHeldOut);
  EXPECT_EQ(data.targets.tokens, targets(find_task("cycle"), data.inputs).tokens);
  EXPECT_EQ(data.held_out_targets.tokens, targets(find_task("cycle"), data.held_out_inputs).tokens);
  std::set<std::vector<std::int32_t>> trained;
  for (int s = 0; s < 40; ++s) trained.insert({data.inputs.row(s), data.inputs.row(s) + 20});
  for (int s = 0; s < kHeldOut; ++s)
    EXPECT_FALSE(trained.contains({data.held_out_inputs.row(s), data.held_out_inputs.row(s) + 20}));
}

TEST(Gather, TakesTheRowsOfAnOrder) {
  const Sequences all{3, 2, {0, 1, 10, 11, 20, 21}};
  Sequences rows;
  gather(all, {2, 0, 1}, 1, 2, rows);
  EXPECT_EQ(rows.count, 2);
  EXPECT_EQ(rows.tokens, (std::vector<std::int32_t>{0, 1, 10, 11}));
}

TEST(Fingerprint, ChangesWithEveryTokenAndTheShape) {
  TrainingData data;
  data.inputs = data.targets = {2, 2, {1, 2, 3, 4}};
  const std::string first = fingerprint(data);
  EXPECT_EQ(first.size(), 16U);
  EXPECT_EQ(fingerprint(data), first);
  data.targets.tokens[3] = 5;
  EXPECT_NE(fingerprint(data), first);
  data.targets = {1, 4, {1, 2, 3, 4}};
  EXPECT_NE(fingerprint(data), first);
}

}  // namespace
}  // namespace synergraph

#include "synergraph/train/data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <set>

#include "synergraph/core/error.h"
#include "synergraph/io/npy.h"

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
  EXPECT_EQ(data.judged_inputs.count, kJudged);
  EXPECT_EQ(data.targets.tokens, targets(find_task("cycle"), data.inputs).tokens);
  EXPECT_EQ(data.judged_targets.tokens, targets(find_task("cycle"), data.judged_inputs).tokens);
  std::set<std::vector<std::int32_t>> trained;
  for (int s = 0; s < 40; ++s) trained.insert({data.inputs.row(s), data.inputs.row(s) + 20});
  for (int s = 0; s < kJudged; ++s)
    EXPECT_FALSE(trained.contains({data.judged_inputs.row(s), data.judged_inputs.row(s) + 20}));
}

TEST(FileData, WithoutValidationPairsTheFirstTrainingPairsAreJudged) {
  const auto write = [](const char* name, std::int64_t count, std::int64_t first) {
    std::vector<std::int64_t> tokens;
    for (std::int64_t k = 0; k < 2 * count; ++k) tokens.push_back(first + k);
    const std::string path = testing::TempDir() + "/file_data_" + name + ".npy";
    write_npy(path, tensor_data("", {count, 2}, tokens.data()));
    return path;
  };
  const PairFiles training{write("x", 120, 0), write("y", 120, 1000)};
  const TrainingData alone = file_data(training);
  EXPECT_FALSE(alone.held_out);
  EXPECT_EQ(alone.inputs.count, 120);
  ASSERT_EQ(alone.judged_inputs.count, kJudged);
  EXPECT_EQ(alone.judged_inputs.row(99)[1], 199);
  EXPECT_EQ(alone.judged_targets.row(0)[0], 1000);

  const TrainingData judged = file_data(training, PairFiles{write("x2", 3, 5), write("y2", 3, 7)});
  EXPECT_TRUE(judged.held_out);
  EXPECT_EQ(judged.inputs.tokens, alone.inputs.tokens);
  EXPECT_EQ(judged.judged_inputs.tokens, (std::vector<std::int32_t>{5, 6, 7, 8, 9, 10}));
  EXPECT_EQ(judged.judged_targets.tokens, (std::vector<std::int32_t>{7, 8, 9, 10, 11, 12}));
  EXPECT_EQ(fingerprint(judged), fingerprint(alone));
  const PairFiles short_file{write("x3", 2, 0), write("y3", 2, 0)};
  EXPECT_EQ(file_data(short_file).judged_inputs.count, 2);
  for (const char* name : {"x", "y", "x2", "y2", "x3", "y3"})
    std::filesystem::remove(testing::TempDir() + "/file_data_" + name + ".npy");
}

TEST(FileData, TargetsMayBeIgnoredInputsMayNot) {
  const auto write = [](const char* name, const std::vector<std::int64_t>& tokens) {
    const std::string path = testing::TempDir() + "/file_data_" + name + ".npy";
    write_npy(path, tensor_data("", {2, 2}, tokens.data()));
    return path;
  };
  const std::string x = write("some_x", {0, 1, 2, 3});
  const std::string y = write("some_y", {-1, 1, -1, 3});
  const TrainingData data = file_data({x, y});
  EXPECT_EQ(data.targets.tokens, (std::vector<std::int32_t>{kIgnored, 1, kIgnored, 3}));
  EXPECT_EQ(counted_per_sequence(data.targets), 1.0);
  const auto message = [](const PairFiles& files) -> std::string {
    try {
      file_data(files);
    } catch (const InputError& error) {
      return error.what();
    }
    return {};
  };
  EXPECT_EQ(message({y, x}), y + ": -1 is not a token");
  EXPECT_EQ(message({x, write("some_y", {0, -100, 0, 0})}),
            y + ": -100 is not a token; a target that does not count is -1");
  for (const char* name : {"some_x", "some_y"})
    std::filesystem::remove(testing::TempDir() + "/file_data_" + name + ".npy");
}

TEST(Gather, TakesTheRowsOfAnOrder) {
  const Sequences all{3, 2, {0, 1, 10, 11, 20, 21}};
  Sequences chosen;
  gather(all, std::vector<std::int32_t>{2, 0}, chosen);
  EXPECT_EQ(chosen.count, 2);
  EXPECT_EQ(chosen.tokens, (std::vector<std::int32_t>{20, 21, 0, 1}));
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

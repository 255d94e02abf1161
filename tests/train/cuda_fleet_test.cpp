// Training on a GPU, against the CPU. Without a GPU these tests are skipped.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "synergraph/core/error.h"
#include "synergraph/train/make_fleet.h"

namespace synergraph {
namespace {

FleetSettings shape(int heads) {
  FleetSettings settings;
  settings.model.heads = heads;
  settings.model.layers = 2;
  return settings;
}

/// A model with its own seed and data.
struct Pupil {
  Pupil(const FleetSettings& settings, std::uint64_t number)
      : seed(number),
        data(task_data(find_task(number % 2 == 0 ? "copy" : "cycle"), seed, 120, settings.model)),
        state(settings.model),
        order(epoch_order(seed, 0, 120)) {
    initialise(state.model, seed);
  }

  std::uint64_t seed;
  TrainingData data;
  TrainingState state;
  std::vector<std::int32_t> order;
};

struct Taught {
  std::vector<double> losses;
  Evaluation judged;
  TrainingState state;
};

/// An epoch (batches of 50, 50 and 20) of the members of a fleet.
std::vector<Taught> teach(Device device, const FleetSettings& settings,
                          const std::vector<std::uint64_t>& numbers) {
  const auto fleet = make_fleet(device, settings, {.threads = 2});
  std::vector<Pupil> pupils;
  for (const std::uint64_t number : numbers) pupils.emplace_back(settings, number);
  std::vector<int> members;
  std::vector<FleetWork> work;
  for (const Pupil& pupil : pupils) {
    members.push_back(fleet->add(pupil.state, pupil.seed, pupil.data));
    work.push_back({members.back(), pupil.order});
  }
  const auto results = fleet->run(work);
  const auto judged = fleet->judge(members);
  std::vector<Taught> taught;
  for (std::size_t k = 0; k < pupils.size(); ++k) {
    taught.push_back({{}, judged[k], std::move(pupils[k].state)});
    for (const StepResult& result : results[k]) taught.back().losses.push_back(result.loss);
    fleet->save(members[k], taught.back().state);
  }
  return taught;
}

class CudaFleetTest : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    const std::string why = refusal(Device::kCuda, shape(GetParam()));
    if (!why.empty()) GTEST_SKIP() << why;
  }
};

TEST_P(CudaFleetTest, StepsAgreeWithTheCpu) {
  const Taught here = teach(Device::kCuda, shape(GetParam()), {3}).front();
  const Taught there = teach(Device::kCpu, shape(GetParam()), {3}).front();
  ASSERT_EQ(here.losses.size(), 3U);
  // Operands have eleven bits; errors of the sums over 64 of them are a few parts in ten thousand.
  for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(here.losses[k], there.losses[k], 2e-3);
  EXPECT_NEAR(here.judged.loss, there.judged.loss, 5e-3);
  EXPECT_NEAR(here.judged.accuracy, there.judged.accuracy, 2e-3);
  EXPECT_EQ(here.state.step, 3U);
  double difference = 0.0;
  double norm = 0.0;
  for (std::size_t k = 0; k < there.state.first_moment.size(); ++k) {
    difference += std::pow(here.state.first_moment[k] - there.state.first_moment[k], 2.0);
    norm += std::pow(there.state.first_moment[k], 2.0);
  }
  EXPECT_LT(std::sqrt(difference / norm), 0.02);
}

TEST_P(CudaFleetTest, AModelIsTheSameAloneAndAmongOthers) {
  const Taught alone = teach(Device::kCuda, shape(GetParam()), {4}).front();
  const Taught among = teach(Device::kCuda, shape(GetParam()), {1, 2, 4, 7, 9})[2];
  EXPECT_EQ(alone.losses, among.losses);
  EXPECT_EQ(alone.judged.loss, among.judged.loss);
  EXPECT_EQ(alone.state.model.values(), among.state.model.values());
  EXPECT_EQ(alone.state.first_moment, among.state.first_moment);
  EXPECT_EQ(alone.state.second_moment, among.state.second_moment);
}

INSTANTIATE_TEST_SUITE_P(Gpu, CudaFleetTest, testing::Values(1, 2, 4, 8, 16));

TEST(ChooseDevice, FallsBackToTheCpuOnlyWhenLeftToChoose) {
  FleetSettings settings;
  settings.model.width = 48;  // no GPU takes that
  EXPECT_EQ(choose_device("auto", {&settings, 1}), Device::kCpu);
  EXPECT_EQ(choose_device("cpu", {&settings, 1}), Device::kCpu);
  EXPECT_THROW(choose_device("cuda", {&settings, 1}), InputError);
  EXPECT_THROW(choose_device("tpu", {&settings, 1}), UsageError);
}

}  // namespace
}  // namespace synergraph

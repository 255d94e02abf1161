// Training on a GPU, against the CPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "synergraph/core/error.h"
#include "synergraph/device/device_full.h"
#include "synergraph/train/loop.h"
#include "synergraph/train/make_fleet.h"
#include "tests/gpu/agreement.h"
#include "tests/support/run_program.h"

namespace synergraph {
namespace {

constexpr Device kGpu{DeviceKind::kCuda};
constexpr Device kPreciseGpu{DeviceKind::kCuda, 0, Precision::kFloat32};

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
std::vector<Taught> teach(const Device& device, const FleetSettings& settings,
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
    const std::string why = refusal(kGpu, shape(GetParam()));
    if (!why.empty()) GTEST_SKIP() << why;
  }
};

/// Losses and moments after an epoch, where the GPU and the CPU agree up to these numbers.
void expect_agreement(const Device& device, const FleetSettings& settings, double losses,
                      double moments) {
  const Taught here = teach(device, settings, {3}).front();
  const Taught there = teach({}, settings, {3}).front();
  ASSERT_EQ(here.losses.size(), there.losses.size());
  for (std::size_t k = 0; k < here.losses.size(); ++k)
    EXPECT_NEAR(here.losses[k], there.losses[k], losses) << k;
  EXPECT_NEAR(here.judged.loss, there.judged.loss, 2.5 * losses);
  EXPECT_NEAR(here.judged.accuracy, there.judged.accuracy, 2e-3);
  EXPECT_EQ(here.state.step, there.state.step);
  EXPECT_LT(distance(here.state.first_moment, there.state.first_moment),
            moments * norm(there.state.first_moment));
}

TEST_P(CudaFleetTest, StepsAgreeWithTheCpu) {
  // Operands have eleven bits; errors of the sums over 64 of them are a few parts in ten thousand.
  expect_agreement(kGpu, shape(GetParam()), 2e-3, 0.02);
}

TEST_P(CudaFleetTest, PreciseStepsAgreeWithTheCpuToRounding) {
  // What is left is the order of sums, and a hidden unit near zero that is on here and off there.
  expect_agreement(kPreciseGpu, shape(GetParam()), 1e-5, 0.01);
}

TEST_P(CudaFleetTest, OtherSizesAgreeWithTheCpu) {
  FleetSettings settings = shape(GetParam());
  settings.model.length = 37;
  settings.model.vocabulary = 70;
  settings.model.layers = 1;
  settings.batch = 7;
  settings.dropout = 0.25;
  expect_agreement(kPreciseGpu, settings, 1e-5, 0.01);
}

void expect_the_same_alone(const FleetSettings& settings) {
  const Taught alone = teach(kGpu, settings, {4}).front();
  const Taught among = teach(kGpu, settings, {1, 2, 4, 7, 9})[2];
  EXPECT_EQ(alone.losses, among.losses);
  EXPECT_EQ(alone.judged.loss, among.judged.loss);
  EXPECT_EQ(alone.state.model.values(), among.state.model.values());
  EXPECT_EQ(alone.state.first_moment, among.state.first_moment);
  EXPECT_EQ(alone.state.second_moment, among.state.second_moment);
}

TEST_P(CudaFleetTest, AModelIsTheSameAloneAndAmongOthers) {
  expect_the_same_alone(shape(GetParam()));
}

TEST(CudaFleet, NarrowModelsAreTheSameAloneAndAmongOthers) {
  for (const ModelConfig& model : narrow_models()) {
    FleetSettings settings = shape(1);
    settings.model = model;
    if (const std::string why = refusal(kGpu, settings); !why.empty()) GTEST_SKIP() << why;
    expect_the_same_alone(settings);
  }
}

TEST_P(CudaFleetTest, AModelGoesOnWhereItWasSaved) {
  const FleetSettings settings = shape(GetParam());
  Pupil pupil(settings, 5);
  const std::span<const std::int32_t> rows(pupil.order);
  for (const auto part : {rows.first(50), rows.subspan(50)}) {
    const auto fleet = make_fleet(kGpu, settings, {});
    const FleetWork work{fleet->add(pupil.state, pupil.seed, pupil.data), part};
    fleet->run({&work, 1});
    fleet->save(work.member, pupil.state);
  }
  const Taught whole = teach(kGpu, settings, {5}).front();
  EXPECT_EQ(pupil.state.step, 3U);
  EXPECT_EQ(pupil.state.model.values(), whole.state.model.values());
  EXPECT_EQ(pupil.state.second_moment, whole.state.second_moment);
}

// Enough for several shares and streams, in any order, and some are done long before others.
TEST_P(CudaFleetTest, ManyOfDifferentLengthsAreEachAsAlone) {
  constexpr int kCount = 33;
  FleetSettings settings = shape(GetParam());
  settings.model.length = 21;
  settings.model.vocabulary = 30;
  settings.batch = 9;
  std::vector<Pupil> pupils;
  for (int k = 0; k < kCount; ++k) pupils.emplace_back(settings, 100 + k);
  const auto rows_of = [&](int k) {
    return std::span<const std::int32_t>(pupils[static_cast<std::size_t>(k)].order)
        .first(static_cast<std::size_t>(1 + k * 7 % 60));
  };
  const auto fleet = make_fleet(kGpu, settings, {});
  std::vector<int> members;
  for (const Pupil& pupil : pupils)
    members.push_back(fleet->add(pupil.state, pupil.seed, pupil.data));
  std::vector<FleetWork> work;
  for (const std::int32_t k : epoch_order(3, 0, kCount))
    work.push_back({members[static_cast<std::size_t>(k)], rows_of(k)});
  const auto results = fleet->run(work);
  const auto order = epoch_order(3, 0, kCount);
  for (std::size_t place = 0; place < order.size(); ++place) {
    const int k = order[place];
    const Pupil& pupil = pupils[static_cast<std::size_t>(k)];
    const auto own = make_fleet(kGpu, settings, {});
    const FleetWork alone{own->add(pupil.state, pupil.seed, pupil.data), rows_of(k)};
    const auto expected = own->run({&alone, 1})[0];
    ASSERT_EQ(results[place].size(), expected.size()) << k;
    for (std::size_t step = 0; step < expected.size(); ++step) {
      EXPECT_EQ(results[place][step].loss, expected[step].loss) << k;
      EXPECT_EQ(results[place][step].correct, expected[step].correct) << k;
    }
    TrainingState here(settings.model);
    TrainingState there(settings.model);
    fleet->save(members[static_cast<std::size_t>(k)], here);
    own->save(alone.member, there);
    EXPECT_EQ(here.step, there.step) << k;
    EXPECT_EQ(here.model.values(), there.model.values()) << k;
    EXPECT_EQ(here.first_moment, there.first_moment) << k;
    EXPECT_EQ(here.second_moment, there.second_moment) << k;
  }
}

/// Nothing happens around the steps.
struct NoHooks : LoopHooks {
  void step_done() override {}
  void epoch_done(const Evaluation&, const Fetch&) override {}
  void pause(const Fetch&) override {}
  void ended() override {}
};

TEST_P(CudaFleetTest, DivergenceIsReportedAndEndsNobodyElse) {
  for (const Device& device : {kGpu, kPreciseGpu})
    for (const double rate : {1e10, 1e20, 1e38}) {
      TrainSettings settings;
      settings.model = shape(GetParam()).model;
      settings.sequences = 120;
      settings.epochs = 2;
      settings.adam.learning_rate = rate;
      const TrainingData data = task_data(find_task("copy"), 1, 120, settings.model);
      TrainingRun run = new_run(settings);
      NoHooks hooks;
      const LoopRun loop{run, data, hooks};
      const auto fleet = make_fleet(device, fleet_settings(settings), {});
      const LoopResult result = run_loop(*fleet, {&loop, 1}, nullptr).front();
      ASSERT_TRUE(result.error) << rate;
      try {
        std::rethrow_exception(result.error);
      } catch (const InputError& error) {
        EXPECT_THAT(error.what(), testing::HasSubstr("training has diverged")) << rate;
      }
    }
}

TEST_P(CudaFleetTest, TooLittleMemoryIsOneLineAndTheNextSmallerCallWorks) {
  FleetSettings large = shape(GetParam());
  large.batch = 4000000;  // some terabytes
  EXPECT_THAT(refusal(kGpu, large), testing::HasSubstr("too little memory: a model needs "));
  EXPECT_EQ(choose_device("auto", Precision::kTf32, {&large, 1}), Device());
  EXPECT_THROW(choose_device("cuda", Precision::kTf32, {&large, 1}), InputError);
  EXPECT_EQ(fleet_room(kGpu, large, 120), 0);
  EXPECT_GT(fleet_room(kGpu, shape(GetParam()), 120), 0);
  Pupil pupil(large, 6);
  {
    const auto fleet = make_fleet(kGpu, large, {});
    const FleetWork work{fleet->add(pupil.state, pupil.seed, pupil.data), pupil.order};
    try {
      fleet->run({&work, 1});
      ADD_FAILURE() << "there was memory";
    } catch (const DeviceFull& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr("too little memory of the GPU is left: "));
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    }
    TrainingState state(large.model);
    fleet->save(work.member, state);  // as it was
    EXPECT_EQ(state.step, 0U);
    EXPECT_EQ(state.model.values(), pupil.state.model.values());
  }
  EXPECT_EQ(teach(kGpu, shape(GetParam()), {6}).front().losses.size(), 3U);
}

INSTANTIATE_TEST_SUITE_P(Gpu, CudaFleetTest, testing::Values(1, 2, 4, 8, 16));

class CudaTrainTest : public testing_support::ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    if (const std::string why = refusal(kGpu, {}); !why.empty()) GTEST_SKIP() << why;
  }
  nlohmann::json last_line(const std::string& name) const {
    std::istringstream lines(read(name + "/metrics.jsonl"));
    std::string line;
    std::string last;
    while (std::getline(lines, line)) last = line;
    return nlohmann::json::parse(last);
  }
};

TEST_F(CudaTrainTest, ARunMovesBetweenDevicesByItsCheckpoints) {
  const std::string settings = "train --task cycle --heads 4 --sequences 1000 --quiet --out ";
  const auto train = [&](const std::string& arguments) {
    const auto outcome = run(settings + arguments);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
  };
  train("moved --epochs 2 --device cuda");
  train("moved --epochs 4 --device cpu --resume");
  train("moved --epochs 6 --device cuda --resume");
  train("stayed --epochs 6 --device cpu");
  train("whole --epochs 6 --device cuda");
  train("parts --epochs 3 --device cuda");
  train("parts --epochs 6 --device cuda --resume");
  EXPECT_EQ(nlohmann::json::parse(read("moved/run.json")).at("devices"),
            nlohmann::json::array({describe(kGpu), describe({})}));
  // The same model, up to what rounding makes of it in 120 steps: a few hundredths of its loss.
  const auto moved = last_line("moved");
  const auto stayed = last_line("stayed");
  EXPECT_EQ(moved.at("step"), stayed.at("step"));
  for (const char* name : {"loss", "held_out_loss"})
    EXPECT_NEAR(moved.at(name).get<double>(), stayed.at(name).get<double>(),
                0.1 * stayed.at(name).get<double>())
        << name;
  // On one device to the byte.
  EXPECT_EQ(read("parts/state.safetensors"), read("whole/state.safetensors"));
}

}  // namespace
}  // namespace synergraph

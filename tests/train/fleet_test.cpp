#include "synergraph/train/make_fleet.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "synergraph/core/error.h"
#include "synergraph/core/instruction_set.h"

namespace synergraph {
namespace {

const FleetSettings kSettings{
    .model = {.vocabulary = 9, .length = 7, .width = 8, .heads = 2, .layers = 2, .hidden = 12},
    .adam = {},
    .dropout = 0.2,
    .batch = 5};

/// A model with its own seed and data. An epoch is 13 sequences: batches of 5, 5 and 3.
struct Apprentice {
  explicit Apprentice(std::uint64_t number)
      : seed(number),
        data(task_data(find_task(number % 2 == 0 ? "copy" : "cycle"), seed, 13, kSettings.model)),
        state(kSettings.model) {
    initialise(state.model, seed);
  }
  /// The rows of an epoch's steps from `first` on.
  std::vector<std::int32_t> rows(std::uint32_t epoch, std::size_t first, std::size_t steps) const {
    const auto order = epoch_order(seed, epoch, 13);
    const auto at = [&](std::size_t step) {
      return order.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(13, 5 * step));
    };
    return {at(first), at(first + steps)};
  }

  std::uint64_t seed;
  TrainingData data;
  TrainingState state;
};

struct Trained {
  AlignedVector<float> model;
  AlignedVector<float> first_moment;
  AlignedVector<float> second_moment;
  std::vector<double> losses;
  double judged = 0.0;

  bool operator==(const Trained&) const = default;
};

/// Two epochs of one model alone, a step a call.
Trained alone(std::uint64_t number) {
  Apprentice apprentice(number);
  const auto fleet = make_fleet({}, kSettings, {.threads = 1});
  const int member = fleet->add(apprentice.state, apprentice.seed, apprentice.data);
  Trained trained;
  for (std::uint32_t epoch = 0; epoch < 2; ++epoch)
    for (std::size_t step = 0; step < 3; ++step) {
      const auto rows = apprentice.rows(epoch, step, 1);
      const FleetWork work{member, rows};
      trained.losses.push_back(fleet->run({&work, 1}).at(0).at(0).loss);
    }
  trained.judged = fleet->judge({&member, 1}).at(0).loss;
  TrainingState& state = apprentice.state;
  fleet->save(member, state);
  trained.model = state.model.values();
  trained.first_moment = state.first_moment;
  trained.second_moment = state.second_moment;
  EXPECT_EQ(state.step, 6U);
  return trained;
}

/// Two epochs of several models in one fleet, each call with as many steps as there are.
std::vector<Trained> together(const std::vector<std::uint64_t>& numbers, int threads) {
  std::vector<Apprentice> apprentices(numbers.begin(), numbers.end());
  const auto fleet = make_fleet({}, kSettings, {.threads = threads});
  std::vector<Trained> trained(numbers.size());
  std::vector<int> members;
  for (const Apprentice& apprentice : apprentices)
    members.push_back(fleet->add(apprentice.state, apprentice.seed, apprentice.data));
  for (std::uint32_t epoch = 0; epoch < 2; ++epoch) {
    std::vector<std::vector<std::int32_t>> rows;
    std::vector<FleetWork> work;
    for (const Apprentice& apprentice : apprentices) rows.push_back(apprentice.rows(epoch, 0, 3));
    for (std::size_t k = 0; k < rows.size(); ++k) work.push_back({members[k], rows[k]});
    const auto results = fleet->run(work);
    for (std::size_t k = 0; k < rows.size(); ++k)
      for (const StepResult& result : results.at(k)) trained[k].losses.push_back(result.loss);
  }
  const std::vector<Evaluation> judged = fleet->judge(members);
  for (std::size_t k = 0; k < numbers.size(); ++k) {
    TrainingState& state = apprentices[k].state;
    fleet->save(members[k], state);
    trained[k].model = state.model.values();
    trained[k].first_moment = state.first_moment;
    trained[k].second_moment = state.second_moment;
    trained[k].judged = judged[k].loss;
  }
  return trained;
}

TEST(Fleet, AModelIsTheSameInAnyCompany) {
  std::vector<Trained> single;
  for (std::uint64_t number = 0; number < 5; ++number) single.push_back(alone(number));
  EXPECT_NE(single[0].model, single[1].model);
  for (const std::vector<std::uint64_t>& numbers :
       {std::vector<std::uint64_t>{0}, {3, 1}, {2, 1, 0}, {0, 1, 2, 3, 4}, {4, 2, 0, 3, 1}})
    for (const int threads : {1, 2, 5, 7}) {
      const auto trained = together(numbers, threads);
      for (std::size_t k = 0; k < numbers.size(); ++k)
        EXPECT_EQ(trained[k], single[numbers[k]])
            << numbers[k] << " of " << numbers.size() << " on " << threads << " threads";
    }
}

TEST(Fleet, MembersComeAndGoAndAreAtDifferentSteps) {
  const Trained expected = alone(1);
  Apprentice first(0);
  Apprentice second(1);
  const auto fleet = make_fleet({}, kSettings, {.threads = 2});
  const auto step = [&](int member, const std::vector<std::int32_t>& rows, int other,
                        const std::vector<std::int32_t>& other_rows) {
    const std::vector<FleetWork> work{{member, rows}, {other, other_rows}};
    const auto results = fleet->run(work);
    EXPECT_EQ(results.at(0).size(), (rows.size() + 4) / 5);
    EXPECT_EQ(results.at(1).size(), (other_rows.size() + 4) / 5);
  };
  const int a = fleet->add(first.state, first.seed, first.data);
  const auto rows = first.rows(0, 0, 2);
  const FleetWork work{a, rows};
  fleet->run({&work, 1});
  int b = fleet->add(second.state, second.seed, second.data);
  step(a, first.rows(0, 2, 1), b, second.rows(0, 0, 3));
  // Leaves and comes back: resumed from what was saved.
  fleet->save(b, second.state);
  EXPECT_EQ(second.state.step, 3U);
  fleet->remove(b);
  EXPECT_ANY_THROW(fleet->save(b, second.state));
  b = fleet->add(second.state, second.seed, second.data);
  step(b, second.rows(1, 0, 3), a, first.rows(1, 0, 1));
  fleet->remove(a);
  fleet->save(b, second.state);
  EXPECT_EQ(second.state.model.values(), expected.model);
  EXPECT_EQ(second.state.second_moment, expected.second_moment);
}

TEST(Devices, HaveNames) {
  EXPECT_EQ(describe({}), "cpu (" + instruction_set() + ")");
  for (const Device& device : {Device{}, Device{DeviceKind::kCuda}, Device{DeviceKind::kCuda, 12}})
    EXPECT_EQ(parse_device(name_of(device)), device);
  EXPECT_EQ(name_of(parse_device("cuda:0")), "cuda");
  for (const std::string name : {"abacus", "cpu:1", "cuda:", "cuda:-1", "cuda:x", "cuda:1x", ""}) {
    try {
      parse_device(name);
      FAIL() << name;
    } catch (const UsageError& error) {
      EXPECT_EQ(error.what(),
                "unknown device '" + name + "': expected auto, cpu, cuda, cuda:1, ...");
    }
  }
}

TEST(ChooseDevice, FallsBackToTheCpuOnlyWhenLeftToChoose) {
  FleetSettings settings;
  settings.model.width = 128;  // no GPU takes that
  EXPECT_EQ(choose_device("auto", Precision::kTf32, {&settings, 1}), Device());
  EXPECT_EQ(choose_device("cpu", Precision::kTf32, {&settings, 1}), Device());
  EXPECT_THROW(choose_device("cuda", Precision::kTf32, {&settings, 1}), InputError);
  EXPECT_THROW(choose_device("tpu", Precision::kTf32, {&settings, 1}), UsageError);
  for (const int heads : {0, -1, 3}) {  // no model at all, on any device
    settings.model = {.heads = heads};
    for (const char* name : {"auto", "cpu", "cuda"})
      EXPECT_THROW(choose_device(name, Precision::kTf32, {&settings, 1}), UsageError);
  }
}

}  // namespace
}  // namespace synergraph

#include "synergraph/train/loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "synergraph/core/error.h"
#include "synergraph/train/make_fleet.h"

namespace synergraph {
namespace {

using testing::HasSubstr;

/// The CPU's fleet, as a device would be that wants many steps a call.
class DistantFleet : public Fleet {
 public:
  DistantFleet(const FleetSettings& settings, int preferred)
      : fleet_(make_fleet({}, settings, {.threads = 2})), preferred_(preferred) {}

  int add(const TrainingState& state, std::uint64_t seed, const TrainingData& data) override {
    ++members;
    return fleet_->add(state, seed, data);
  }
  void remove(int member) override {
    --members;
    fleet_->remove(member);
  }
  std::vector<std::vector<StepResult>> run(std::span<const FleetWork> work) override {
    ++calls;
    return fleet_->run(work);
  }
  int preferred_steps() const override { return preferred_; }
  std::vector<Evaluation> judge(std::span<const int> chosen) override {
    judged += chosen.size();
    return fleet_->judge(chosen);
  }
  void save(int member, TrainingState& state) const override { fleet_->save(member, state); }

  int calls = 0;
  int members = 0;
  std::size_t judged = 0;

 private:
  std::unique_ptr<Fleet> fleet_;
  int preferred_;
};

TrainSettings small_settings(std::uint64_t seed) {
  TrainSettings settings;
  settings.model = {.vocabulary = 9, .length = 7, .width = 8, .heads = 2, .layers = 1, .hidden = 8};
  settings.sequences = 23;  // an epoch has five steps, the last with three sequences
  settings.batch = 5;
  settings.epochs = 3;
  settings.seed = seed;
  return settings;
}

/// A run that writes down what happens to it: s(tep), e(poch), p(ause), E(nd).
struct Diary : LoopHooks {
  explicit Diary(std::uint64_t seed)
      : run(new_run(small_settings(seed))),
        data(task_data(find_task("copy"), seed, 23, run.settings.model)) {}

  void step_done() override {
    events += 's';
    losses.push_back(run.epoch_loss());
    if (run.position.step == fails_at) throw InputError("the disk is full");
  }
  void epoch_done(const Evaluation& judged, const Fetch& fetch) override {
    events += 'e';
    losses.push_back(judged.loss);
    fetch();
    EXPECT_EQ(run.state.step, run.position.step);
    EXPECT_EQ(judged.loss, evaluate(run.state.model, data.judged_inputs, data.judged_targets).loss);
    EXPECT_EQ(run.position.sequences, 0);
  }
  void pause(const Fetch& fetch) override {
    events += 'p';
    fetch();
    EXPECT_EQ(run.state.step, run.position.step);
  }
  void ended() override {
    events += 'E';
    EXPECT_EQ(run.state.step, run.position.step);
  }

  TrainingRun run;
  TrainingData data;
  std::string events;
  std::vector<double> losses;
  std::uint64_t fails_at = 0;
};

std::vector<LoopResult> loop(DistantFleet& fleet, const std::vector<Diary*>& diaries,
                             const std::function<bool()>& stop = nullptr) {
  std::vector<LoopRun> runs;
  for (Diary* diary : diaries) runs.push_back({diary->run, diary->data, *diary});
  auto results = run_loop(fleet, runs, stop);
  EXPECT_EQ(fleet.members, 0);
  return results;
}

void expect_same(const Diary& actual, const Diary& expected) {
  EXPECT_EQ(actual.losses, expected.losses);
  EXPECT_EQ(actual.run.position.step, expected.run.position.step);
  EXPECT_EQ(actual.run.position.last_loss, expected.run.position.last_loss);
  EXPECT_EQ(actual.run.position.last_accuracy, expected.run.position.last_accuracy);
  EXPECT_EQ(actual.run.state.model.values(), expected.run.state.model.values());
  EXPECT_EQ(actual.run.state.second_moment, expected.run.state.second_moment);
}

TEST(Loop, TellsOfStepsEpochsAndTheEndInOrder) {
  for (const auto& [preferred, epoch] :
       {std::pair{1, "spspspspsep"}, {2, "sspsspsep"}, {4, "sssspsep"}, {100, "sssssep"}}) {
    DistantFleet fleet(fleet_settings(small_settings(1)), preferred);
    Diary diary(1);
    loop(fleet, {&diary});
    EXPECT_EQ(diary.events, std::string(epoch) + epoch + epoch + "E");
    EXPECT_EQ(fleet.judged, 3U);  // not once more at the end
  }
}

TEST(Loop, TheModelDoesNotDependOnTheCallsItIsMadeIn) {
  DistantFleet near(fleet_settings(small_settings(1)), 1);
  Diary one(1);
  Diary two(2);
  loop(near, {&one});
  loop(near, {&two});
  EXPECT_EQ(near.calls, 30);
  for (const int preferred : {1, 3, 1000}) {
    DistantFleet fleet(fleet_settings(small_settings(1)), preferred);
    Diary first(1);
    Diary second(2);
    loop(fleet, {&second, &first});
    expect_same(first, one);
    expect_same(second, two);
    EXPECT_EQ(fleet.calls, preferred == 1 ? 15 : preferred == 3 ? 6 : 3);
  }
}

TEST(Loop, RunsStopAndGoOnInOtherCompany) {
  DistantFleet fleet(fleet_settings(small_settings(1)), 2);
  Diary whole(1);
  loop(fleet, {&whole});
  Diary parts(1);
  Diary other(2);
  int asked = 0;
  for (int part = 0; !parts.run.finished(); ++part) {
    asked = 0;
    const auto stop = [&] { return ++asked > 2; };  // after two calls of the fleet
    const auto results =
        part % 2 == 0 ? loop(fleet, {&parts}, stop) : loop(fleet, {&other, &parts}, stop);
    EXPECT_EQ(
        results.back().judged.loss,
        evaluate(parts.run.state.model, parts.data.judged_inputs, parts.data.judged_targets).loss);
    EXPECT_LT(part, 10);
  }
  expect_same(parts, whole);
  EXPECT_FALSE(other.run.finished());
  // One that has nothing left to do ends at once, and the other goes on.
  Diary again(2);
  loop(fleet, {&parts, &other});
  loop(fleet, {&again});
  expect_same(other, again);
  EXPECT_EQ(parts.run.position.step, 15U);
}

TEST(Loop, ARunThatFailsEndsAlone) {
  DistantFleet fleet(fleet_settings(small_settings(1)), 3);
  Diary whole(1);
  loop(fleet, {&whole});
  Diary good(1);
  Diary full(2);
  full.fails_at = 7;
  Diary diverged(3);
  for (float& value : diverged.run.state.model.values()) value *= 1e25F;
  const auto results = loop(fleet, {&diverged, &good, &full});
  expect_same(good, whole);
  EXPECT_FALSE(results[1].error);
  const auto message = [&](std::size_t k) -> std::string {
    try {
      if (results[k].error) std::rethrow_exception(results[k].error);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(message(0), HasSubstr("step 1: the loss is "));
  EXPECT_THAT(message(0), HasSubstr("training has diverged"));
  EXPECT_EQ(diverged.events, "");
  EXPECT_EQ(message(2), "the disk is full");
  EXPECT_EQ(full.run.position.step, 7U);
}

}  // namespace
}  // namespace synergraph

#include "synergraph/train/trainer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "synergraph/core/error.h"
#include "synergraph/io/atomic_file.h"
#include "synergraph/model/evaluate.h"
#include "synergraph/model/load_model.h"
#include "synergraph/train/checkpoint.h"

namespace synergraph {
namespace {

using testing::HasSubstr;

class TrainerTest : public testing::Test {
 protected:
  TrainerTest() {
    settings_.model = {
        .vocabulary = 12, .length = 10, .width = 16, .heads = 4, .layers = 2, .hidden = 24};
    settings_.task = "copy";
    settings_.sequences = 67;
    settings_.batch = 10;
    settings_.epochs = 3;
    settings_.seed = 5;
    data_ = task_data(find_task("copy"), settings_.seed, settings_.sequences, settings_.model);
    root_ =
        std::filesystem::path(testing::TempDir()) /
        (std::string("trainer_") + testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::remove_all(root_);
  }
  ~TrainerTest() override { std::filesystem::remove_all(root_); }

  TrainOptions options(const char* name) const {
    TrainOptions result;
    result.directory = (root_ / name).string();
    result.progress.quiet = true;
    return result;
  }
  std::string model_bytes(const char* name) const {
    return read_file(model_path((root_ / name).string()));
  }
  std::string state_bytes(const char* name) const {
    return read_file(state_path((root_ / name).string()));
  }
  std::vector<nlohmann::json> log_lines(const char* name) const {
    std::istringstream lines(read_file(log_path((root_ / name).string())));
    std::vector<nlohmann::json> result;
    for (std::string line; std::getline(lines, line);)
      result.push_back(nlohmann::json::parse(line));
    return result;
  }

  TrainSettings settings_;
  TrainingData data_;
  std::filesystem::path root_;
};

TEST_F(TrainerTest, TheSameBytesOnAnyNumberOfThreads) {
  for (const auto& [name, threads] : {std::pair{"one", 1}, {"two", 2}, {"five", 5}}) {
    TrainOptions how = options(name);
    how.threads = threads;
    EXPECT_TRUE(train(settings_, data_, how).finished);
  }
  EXPECT_EQ(model_bytes("two"), model_bytes("one"));
  EXPECT_EQ(model_bytes("five"), model_bytes("one"));
  EXPECT_EQ(state_bytes("two"), state_bytes("one"));
  EXPECT_EQ(state_bytes("five"), state_bytes("one"));
}

TEST_F(TrainerTest, SeedsMakeDifferentModels) {
  train(settings_, data_, options("a"));
  settings_.seed = 6;
  train(settings_, data_, options("b"));
  EXPECT_NE(model_bytes("a"), model_bytes("b"));
}

TEST_F(TrainerTest, LearnsToCopyAndSaysSo) {
  settings_.epochs = 60;
  settings_.adam.learning_rate = 5e-3;
  const TrainOutcome outcome = train(settings_, data_, options("a"));
  EXPECT_EQ(outcome.step, 60U * 7U);
  EXPECT_EQ(outcome.held_out_accuracy, 1.0);

  const auto lines = log_lines("a");
  ASSERT_EQ(lines.size(), 60U);
  EXPECT_EQ(lines[0]["step"], 7);
  EXPECT_EQ(lines[59]["epoch"], 60);
  EXPECT_GT(lines[0]["loss"], 2.0);
  EXPECT_LT(lines[59]["loss"], 0.3);
  EXPECT_GE(lines[59]["seconds"], lines[0]["seconds"]);
  EXPECT_EQ(lines[59]["loss"], outcome.loss);
  EXPECT_EQ(lines[59]["accuracy"], outcome.accuracy);
  EXPECT_EQ(lines[59]["held_out_accuracy"], 1.0);

  // The checkpoint is a model that anybody can load and that answers as well.
  const TensorFile file = TensorFile::open(model_path(options("a").directory));
  const Model model = load_model(file);
  EXPECT_EQ(model.config(), settings_.model);
  EXPECT_EQ(evaluate(model, data_.held_out_inputs, data_.held_out_targets).loss,
            outcome.held_out_loss);
  for (const auto& [key, value] : {std::pair<std::string, std::string>{"task", "copy"},
                                   {"seed", "5"},
                                   {"step", "420"},
                                   {"heads", "4"},
                                   {"version", "0.1.0"}})
    EXPECT_EQ(file.metadata().at(key), value) << key;
  EXPECT_EQ(std::stod(file.metadata().at("loss")), outcome.loss);
}

TEST_F(TrainerTest, AStoppedRunContinuesToTheSameBytes) {
  train(settings_, data_, options("whole"));

  const std::atomic<bool> stop{true};  // no step at all: only the beginning is saved
  TrainOptions how = options("parts");
  how.resume = true;
  how.stop = &stop;
  EXPECT_FALSE(train(settings_, data_, how).finished);
  how.stop = nullptr;
  TrainSettings shorter = settings_;
  shorter.epochs = 1;
  train(shorter, data_, how);
  EXPECT_NE(model_bytes("parts"), model_bytes("whole"));
  EXPECT_EQ(train(settings_, data_, how).step, 21U);
  EXPECT_EQ(model_bytes("parts"), model_bytes("whole"));
  EXPECT_EQ(state_bytes("parts"), state_bytes("whole"));
  EXPECT_EQ(log_lines("parts").size(), 3U);

  // Nothing is left to do: a further call changes nothing.
  EXPECT_TRUE(train(settings_, data_, how).finished);
  EXPECT_EQ(state_bytes("parts"), state_bytes("whole"));
}

TEST_F(TrainerTest, TheLogOfAResumedRunHasNoLinesFromItsFuture) {
  settings_.epochs = 1;
  train(settings_, data_, options("a"));
  const std::string log = read_file(log_path(options("a").directory));
  write_file(log_path(options("a").directory),
             log + "{\"step\":14,\"seconds\":1.5,\"stale\":true}\n{\"step\":2");
  settings_.epochs = 2;
  TrainOptions how = options("a");
  how.resume = true;
  train(settings_, data_, how);
  const auto lines = log_lines("a");
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[1]["step"], 14);
  EXPECT_FALSE(lines[1].contains("stale"));
}

TEST_F(TrainerTest, TracksMixingAndFidelityOfEveryLayer) {
  TrainOptions how = options("a");
  how.track_every = 2;
  train(settings_, data_, how);
  const auto lines = log_lines("a");
  EXPECT_FALSE(lines[0].contains("layers"));
  EXPECT_FALSE(lines[2].contains("layers"));
  ASSERT_EQ(lines[1]["layers"].size(), 2U);
  for (const auto& layer : lines[1]["layers"]) {
    // Attention of a model that has seen fourteen steps is near uniform: mean hitting times of a
    // few steps, each node's signal about one tenth.
    EXPECT_GT(layer["hitting_time"], 1.0);
    EXPECT_LT(layer["hitting_time"], 20.0);
    EXPECT_LE(layer["truncated_time"].get<double>(),
              layer["hitting_time"].get<double>() * (1.0 + 1e-12));
    EXPECT_GE(layer["mixing_time"], 1.0);
    EXPECT_GT(layer["fidelity"], 0.01);
    EXPECT_LT(layer["fidelity"], 0.5);
  }
}

TEST_F(TrainerTest, RunsThatCannotBeStartedOrContinuedTouchNothing) {
  const auto message = [&](const TrainSettings& settings, const TrainOptions& how) -> std::string {
    try {
      train(settings, data_, how);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  TrainSettings other = settings_;
  other.model.vocabulary = 8;
  EXPECT_THAT(message(other, options("a")), HasSubstr("is outside the vocabulary 0..7"));
  EXPECT_FALSE(std::filesystem::exists(options("a").directory));

  train(settings_, data_, options("a"));
  const std::string before = state_bytes("a");
  EXPECT_THAT(message(settings_, options("a")), HasSubstr("already holds a run"));
  TrainOptions how = options("a");
  how.resume = true;
  other = settings_;
  other.model.heads = 2;
  EXPECT_THAT(message(other, how), HasSubstr("state.safetensors: the run has heads 4, not 2"));
  EXPECT_EQ(state_bytes("a"), before);

  // A state that is damaged, or that is something else, is refused as well.
  write_file(state_path(how.directory), before.substr(0, before.size() - 100));
  EXPECT_THAT(message(settings_, how), HasSubstr("state.safetensors"));
  write_file(state_path(how.directory), model_bytes("a"));
  EXPECT_THAT(message(settings_, how), HasSubstr("not a 'synergraph training state 1' file"));
}

TEST_F(TrainerTest, FilesOfOthersAreNotOverwritten) {
  for (const std::string& path :
       {model_path(options("a").directory), log_path(options("b").directory)}) {
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    write_file(path, "precious");
    TrainOptions how = options(path == model_path(options("a").directory) ? "a" : "b");
    for (const bool resume : {false, true}) {
      how.resume = resume;
      EXPECT_THROW(train(settings_, data_, how), UsageError);
      EXPECT_EQ(read_file(path), "precious");
    }
  }
}

TEST_F(TrainerTest, ADivergedRunStopsWithAReason) {
  settings_.adam.learning_rate = 1e30;
  try {
    train(settings_, data_, options("a"));
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("training has diverged"));
  }
}

}  // namespace
}  // namespace synergraph

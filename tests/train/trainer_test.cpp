#include "synergraph/train/trainer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <thread>

#include "synergraph/core/error.h"
#include "synergraph/core/instruction_set.h"
#include "synergraph/core/version.h"
#include "synergraph/io/atomic_file.h"
#include "synergraph/model/evaluate.h"
#include "synergraph/model/load_model.h"
#include "synergraph/train/make_fleet.h"
#include "synergraph/train/run_directory.h"
#include "synergraph/train/tracking.h"

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
    return result;
  }
  TrainOptions resuming(const char* name) const {
    TrainOptions result = options(name);
    result.resume = true;
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
    how.execution.threads = threads;
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
  EXPECT_EQ(outcome.judged_accuracy, 1.0);

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
  EXPECT_EQ(evaluate(model, data_.judged_inputs, data_.judged_targets).loss, outcome.judged_loss);
  for (const auto& [key, value] : {std::pair<std::string, std::string>{"task", "copy"},
                                   {"seed", "5"},
                                   {"step", "420"},
                                   {"heads", "4"},
                                   {"version", kVersion}})
    EXPECT_EQ(file.metadata().at(key), value) << key;
  EXPECT_EQ(std::stod(file.metadata().at("loss")), outcome.loss);
}

TEST_F(TrainerTest, AStoppedRunContinuesToTheSameBytes) {
  train(settings_, data_, options("whole"));

  TrainOptions how = options("parts");
  how.resume = true;
  how.execution.stop = [] { return true; };  // no step at all: only the beginning is saved
  EXPECT_FALSE(train(settings_, data_, how).finished);
  how.execution.stop = nullptr;
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

TEST_F(TrainerTest, DamagedLinesOfTheLogAreDroppedAlone) {
  settings_.epochs = 2;
  train(settings_, data_, options("a"));
  const std::string log = read_file(log_path(options("a").directory));
  const std::size_t second = log.find('\n') + 1;
  write_file(log_path(options("a").directory),
             "garbage\n" + log.substr(0, second) +
                 "{\"step\":\"7\"}\n{\"step\":-1}\n[7]\n\n{}\n{\"step\":7,\"seconds\":\"long\"}\n" +
                 log.substr(second));
  settings_.epochs = 3;
  train(settings_, data_, resuming("a"));
  const auto lines = log_lines("a");
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_EQ(lines[0]["epoch"], 1);
  EXPECT_EQ(lines[1]["seconds"], "long");
  EXPECT_EQ(lines[2]["epoch"], 2);
  EXPECT_EQ(lines[3]["epoch"], 3);
  EXPECT_GT(lines[3]["seconds"], lines[2]["seconds"]);
}

TEST_F(TrainerTest, SecondsGoOnWhereTheyWere) {
  settings_.epochs = 1;
  train(settings_, data_, options("a"));
  RunNotes notes = read_notes(options("a").directory).value();
  EXPECT_GE(notes.seconds, log_lines("a")[0]["seconds"]);
  notes.seconds = 1000.0;  // more than the log knows: the run was stopped in a later epoch
  write_notes(options("a").directory, notes);
  settings_.epochs = 2;
  const TrainOutcome outcome = train(settings_, data_, resuming("a"));
  EXPECT_GT(log_lines("a")[1]["seconds"], 1000.0);
  EXPECT_GE(outcome.seconds, log_lines("a")[1]["seconds"]);
  EXPECT_LT(outcome.seconds, 1500.0);
  EXPECT_GE(read_notes(options("a").directory).value().seconds, 1000.0);

  // Without the notes, the log knows best.
  std::filesystem::remove(notes_path(options("a").directory));
  settings_.epochs = 3;
  train(settings_, data_, resuming("a"));
  EXPECT_GT(log_lines("a")[2]["seconds"], 1000.0);
}

TEST_F(TrainerTest, TakesTheBatchesOfEveryEpochInItsOrder) {
  train(settings_, data_, options("a"));
  // The same steps, from the definitions.
  TrainingState state(settings_.model);
  initialise(state.model, settings_.seed);
  const auto fleet = make_fleet({}, fleet_settings(settings_), {.threads = 2});
  const int member = fleet->add(state, settings_.seed, data_);
  for (std::uint32_t epoch = 0; epoch < 3; ++epoch) {
    const auto order = epoch_order(settings_.seed, epoch, 67);
    const FleetWork work{member, order};
    EXPECT_EQ(fleet->run({&work, 1}).at(0).size(), 7U);
  }
  fleet->save(member, state);
  const TrainingRun run = read_run(options("a").directory);
  EXPECT_EQ(run.state.model.values(), state.model.values());
  EXPECT_EQ(run.state.first_moment, state.first_moment);
  EXPECT_EQ(run.state.second_moment, state.second_moment);
  EXPECT_EQ(run.state.step, state.step);
}

TEST_F(TrainerTest, WritesACheckpointWheneverItsTimeHasCome) {
  for (const bool always : {true, false}) {
    TrainOptions how = options(always ? "always" : "seldom");
    how.checkpoint_interval = always ? 0.0 : 1e6;
    std::uint64_t steps = 0;
    how.execution.progress.listener = [&](std::uint64_t step, std::uint64_t, const std::string&) {
      EXPECT_EQ(step, ++steps);  // the checkpoint of this step is still to come
      EXPECT_EQ(read_run(how.directory).position.step, always ? step - 1 : 0);
    };
    const TrainOutcome outcome = train(settings_, data_, how);
    EXPECT_TRUE(outcome.finished);
    EXPECT_EQ(steps, 21U);
    EXPECT_EQ(read_run(how.directory).position.step, 21U);
  }
  EXPECT_EQ(state_bytes("always"), state_bytes("seldom"));
}

TEST_F(TrainerTest, WritesNoMoreCheckpointsThanTheirIntervalAllows) {
  TrainOptions how = options("a");
  how.checkpoint_interval = 0.1;
  std::set<std::uint64_t> seen;
  const auto begin = std::chrono::steady_clock::now();
  how.execution.progress.listener = [&](std::uint64_t, std::uint64_t, const std::string&) {
    seen.insert(read_run(how.directory).position.step);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  };
  train(settings_, data_, how);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  EXPECT_LE(static_cast<double>(seen.size()), taken.count() / 0.1 + 1.0);  // one at the beginning
}

TEST_F(TrainerTest, StopsAfterTheStepInWhichItIsAsked) {
  TrainOptions how = options("a");
  std::atomic<bool> stop{false};
  how.execution.stop = [&] { return stop.load(); };
  how.execution.progress.listener = [&](std::uint64_t step, std::uint64_t, const std::string&) {
    stop = step == 9;
  };
  const TrainOutcome outcome = train(settings_, data_, how);
  EXPECT_FALSE(outcome.finished);
  EXPECT_EQ(outcome.step, 9U);
  const RunPosition position = read_run(how.directory).position;
  EXPECT_EQ(position.step, 9U);
  EXPECT_EQ(position.sequences, 20);
  EXPECT_EQ(outcome.loss, log_lines("a")[0]["loss"]);  // of the last whole epoch
  EXPECT_EQ(position.last_loss, outcome.loss);
  EXPECT_GT(position.loss_sum, 0.0);

  // Resumed in the middle of an epoch, it has the numbers of a run that was not.
  train(settings_, data_, resuming("a"));
  train(settings_, data_, options("whole"));
  const auto lines = log_lines("a");
  const auto whole = log_lines("whole");
  ASSERT_EQ(lines.size(), whole.size());
  for (std::size_t k = 0; k < lines.size(); ++k)
    for (const char* name : {"step", "epoch", "loss", "accuracy", "held_out_loss"})
      EXPECT_EQ(lines[k][name], whole[k][name]) << name;
}

TEST_F(TrainerTest, AnEpochsLossIsTheMeanOverItsSequences) {
  // A model that does not move, without dropout: the epoch's loss is that of the whole, in which
  // the seven sequences of the last batch count as much as any.
  settings_.epochs = 2;
  settings_.dropout = 0.0;
  settings_.adam.learning_rate = 1e-30;
  const TrainOutcome outcome = train(settings_, data_, options("a"));
  const Model model = load_model(TensorFile::open(model_path(options("a").directory)));
  const Evaluation whole = evaluate(model, data_.inputs, data_.targets);
  for (const auto& line : log_lines("a")) {
    // Losses are single-precision logits through double sums: equal up to rounding.
    EXPECT_NEAR(line["loss"].get<double>(), whole.loss, 1e-6 * whole.loss);
    EXPECT_DOUBLE_EQ(line["accuracy"].get<double>(), whole.accuracy);
  }
  EXPECT_EQ(outcome.loss, log_lines("a")[1]["loss"]);
}

TEST_F(TrainerTest, TracksTheMeanOverTheSequences) {
  Model model(settings_.model);
  initialise(model, 3);
  const auto all = track_layers(model, data_.judged_inputs, 3, {.threads = 2});
  std::vector<LayerTrack> mean(all.size());
  for (int sample = 0; sample < 3; ++sample) {
    const Sequences one{
        1, 10, {data_.judged_inputs.row(sample), data_.judged_inputs.row(sample + 1)}};
    const auto single = track_layers(model, one, 1, {.threads = 1});
    for (std::size_t layer = 0; layer < mean.size(); ++layer)
      for (const auto& [quantity, value] : single[layer]) mean[layer][quantity] += value / 3;
  }
  ASSERT_EQ(all.size(), 2U);
  for (std::size_t layer = 0; layer < mean.size(); ++layer) {
    ASSERT_EQ(all[layer].size(), kTrackedQuantities.size());
    for (const auto& [quantity, value] : all[layer])
      EXPECT_DOUBLE_EQ(value, mean[layer].at(quantity)) << key_of(quantity);
  }
  EXPECT_NE(all[0].at(Quantity::kMinimaxFidelity), all[1].at(Quantity::kMinimaxFidelity));

  // Each layer has its own head weights: those of the last change nothing else.
  float* projection = model.tensor("layers.1.attn.out_proj.weight");
  for (int row = 0; row < 16; ++row)
    for (int column = 0; column < 4; ++column) projection[row * 16 + column] *= 100.0F;
  const auto weighted = track_layers(model, data_.judged_inputs, 3, {.threads = 2});
  EXPECT_EQ(weighted[0].at(Quantity::kMinimaxFidelity), all[0].at(Quantity::kMinimaxFidelity));
  EXPECT_NE(weighted[1].at(Quantity::kMinimaxFidelity), all[1].at(Quantity::kMinimaxFidelity));
  EXPECT_EQ(weighted[1].at(Quantity::kBestHeadFidelity), all[1].at(Quantity::kBestHeadFidelity));
}

TEST_F(TrainerTest, TracksNoLongerThanItIsAsked) {
  TrainOptions how = options("a");
  how.track_every = 1;
  std::atomic<bool> stop{false};
  how.execution.stop = [&] { return stop.load(); };
  how.execution.progress.listener = [&](std::uint64_t step, std::uint64_t, const std::string&) {
    stop = step == 7;  // the last of an epoch
  };
  EXPECT_EQ(train(settings_, data_, how).step, 7U);
  EXPECT_EQ(read_run(how.directory).position.step, 7U);
  how = resuming("a");
  how.track_every = 1;
  train(settings_, data_, how);
  EXPECT_FALSE(log_lines("a")[0].contains("layers"));
  EXPECT_TRUE(log_lines("a")[1].contains("layers"));
}

TEST_F(TrainerTest, TracksMixingAndFidelityOfEveryLayer) {
  TrainOptions how = options("a");
  how.track_every = 2;
  train(settings_, data_, how);
  const auto lines = log_lines("a");
  EXPECT_FALSE(lines[0].contains("layers"));
  EXPECT_FALSE(lines[2].contains("layers"));
  // Ten of the judged sequences, after that epoch.
  settings_.epochs = 2;
  train(settings_, data_, options("two"));
  const Model model = load_model(TensorFile::open(model_path(options("two").directory)));
  const auto expected = track_layers(model, data_.judged_inputs, 10, {.threads = 1});
  EXPECT_EQ(lines[1]["layers"][0]["fidelity"], expected[0].at(Quantity::kMinimaxFidelity));
  EXPECT_EQ(lines[1]["layers"][1]["hitting_time"], expected[1].at(Quantity::kHittingMean));
  EXPECT_EQ(lines[1]["layers"][1]["best_head_fidelity"],
            expected[1].at(Quantity::kBestHeadFidelity));
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
  EXPECT_THAT(message(settings_, how), HasSubstr("not a 'synergraph training state 2' file"));
}

TEST_F(TrainerTest, FilesOfOthersAreNotOverwritten) {
  for (const std::string& path :
       {model_path(options("a").directory), log_path(options("b").directory),
        notes_path(options("c").directory)}) {
    const std::filesystem::path directory = std::filesystem::path(path).parent_path();
    std::filesystem::create_directories(directory);
    write_file(path, "precious");
    TrainOptions how = options(directory.filename().c_str());
    for (const bool resume : {false, true}) {
      how.resume = resume;
      EXPECT_THROW(train(settings_, data_, how), UsageError);
      EXPECT_EQ(read_file(path), "precious");
      EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory),
                              std::filesystem::directory_iterator()),
                1);
    }
  }
}

TEST_F(TrainerTest, NotesThatAreNotOursAreRefused) {
  const std::string where = options("a").directory;
  std::filesystem::create_directories(where);
  EXPECT_FALSE(read_notes(where).has_value());
  write_notes(where, {12.5, 7, true, {"cpu (x)"}});
  const std::string text = read_file(notes_path(where));
  const std::optional<RunNotes> notes = read_notes(where);
  ASSERT_TRUE(notes.has_value());
  EXPECT_EQ(notes->seconds, 12.5);
  EXPECT_EQ(notes->track_every, 7);
  EXPECT_TRUE(notes->held_out);
  EXPECT_EQ(notes->devices, std::vector<std::string>{"cpu (x)"});
  for (const auto& [part, other] :
       std::vector<std::pair<std::string, std::string>>{{"run 1", "run 2"},
                                                        {"12.5", "-1"},
                                                        {"12.5", "\"x\""},
                                                        {"7", "-7"},
                                                        {"true", "1"},
                                                        {"{", ""},
                                                        {"\"cpu (x)\"", "3"},
                                                        {"track", "trick"}}) {
    std::string changed = text;
    write_file(notes_path(where), changed.replace(changed.find(part), part.size(), other));
    try {
      read_notes(where);
      ADD_FAILURE() << changed;
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), HasSubstr("run.json: it is damaged or not a 'synergraph run 1'"));
    }
  }
}

TEST_F(TrainerTest, ARunWhoseNotesAreDamagedTouchesNothing) {
  settings_.epochs = 1;
  train(settings_, data_, options("a"));
  const std::string where = options("a").directory;
  const std::string state = state_bytes("a");
  const std::string log = read_file(log_path(where));
  settings_.epochs = 2;
  for (const char* damaged : {"", "{", "{\"format\": \"other 1\"}", "precious"}) {
    write_file(notes_path(where), damaged);
    EXPECT_THROW(train(settings_, data_, resuming("a")), InputError) << damaged;
    EXPECT_EQ(read_file(notes_path(where)), damaged);
    EXPECT_EQ(state_bytes("a"), state);
    EXPECT_EQ(read_file(log_path(where)), log);
  }
  std::filesystem::remove(notes_path(where));
  EXPECT_TRUE(train(settings_, data_, resuming("a")).finished);
}

TEST_F(TrainerTest, WithoutNotesTheLogSaysThatValidationPairsAreMissing) {
  settings_.epochs = 1;
  train(settings_, data_, options("judged"));
  TrainingData unjudged = data_;
  unjudged.held_out = false;
  train(settings_, unjudged, options("unjudged"));
  for (const char* name : {"judged", "unjudged"})
    std::filesystem::remove(notes_path(options(name).directory));
  settings_.epochs = 2;
  EXPECT_THROW(train(settings_, unjudged, resuming("judged")), RunConflict);
  EXPECT_TRUE(train(settings_, unjudged, resuming("unjudged")).finished);
  EXPECT_TRUE(train(settings_, data_, resuming("judged")).finished);
  for (const auto& line : log_lines("judged")) EXPECT_TRUE(line.contains("held_out_loss"));
}

TEST_F(TrainerTest, NotesOfAnotherRunDoNotHideValidationPairs) {
  settings_.epochs = 1;
  train(settings_, data_, options("judged"));
  TrainingData unjudged = data_;
  unjudged.held_out = false;
  train(settings_, unjudged, options("unjudged"));
  const std::string notes = notes_path(options("judged").directory);
  std::filesystem::copy_file(notes_path(options("unjudged").directory), notes,
                             std::filesystem::copy_options::overwrite_existing);
  settings_.epochs = 2;
  EXPECT_THROW(train(settings_, unjudged, resuming("judged")), RunConflict);
  EXPECT_TRUE(train(settings_, data_, resuming("judged")).finished);
}

TEST_F(TrainerTest, ALogThatNoRunCanHaveIsNotRead) {
  settings_.epochs = 1;
  train(settings_, data_, options("a"));
  const std::string path = log_path(options("a").directory);
  const std::string log = read_file(path);
  settings_.epochs = 2;
  std::filesystem::resize_file(path, std::uintmax_t{1} << 40U);  // sparse
  try {
    train(settings_, data_, resuming("a"));
    ADD_FAILURE() << "was read";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("metrics.jsonl: 1099511627776 bytes, but the log of this"));
  }
  EXPECT_EQ(std::filesystem::file_size(path), std::uintmax_t{1} << 40U);
  // A line that is longer than any is dropped alone, wherever blocks of the file end.
  const std::string long_line(200'000, ' ');
  write_file(path, long_line + "{\"step\":1}\n" + log + std::string(65535 - log.size() % 7, ' ') +
                       "\n{\"step\":3,\"note\":\"kept\"}");
  train(settings_, data_, resuming("a"));
  const auto lines = log_lines("a");
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[0], nlohmann::json::parse(log));
  EXPECT_EQ(lines[1]["note"], "kept");
  EXPECT_EQ(lines[2]["epoch"], 2);
}

TEST(LogLimits, HoldTheLongestLineOfAnyRun) {
  // As long as numbers and names are.
  for (const int layers : {1, 4, 100}) {
    nlohmann::json line;
    for (const char* name : {"step", "epoch", "loss", "accuracy", "training_pairs_loss",
                             "training_pairs_accuracy", "seconds"})
      line[name] = -1.2345678901234567e-300;
    for (int layer = 0; layer < layers; ++layer)
      for (const auto& [key, quantity] : kTrackedQuantities)
        line["layers"][static_cast<std::size_t>(layer)][key] = -1.2345678901234567e-300;
    EXPECT_LT(line.dump().size(), log_limits(0, layers).line);
    EXPECT_GE(log_limits(1000, layers).file, 1000 * (line.dump().size() + 1));
  }
}

TEST_F(TrainerTest, TheOutcomeHasTheModelOfTheFile) {
  for (const bool resume : {false, true}) {  // the second finds nothing left to do
    const TrainOutcome outcome = train(settings_, data_, resume ? resuming("a") : options("a"));
    const Model stored = load_model(TensorFile::open(model_path(options("a").directory)));
    EXPECT_EQ(outcome.model.values(), stored.values());
    EXPECT_EQ(outcome.model.config(), stored.config());
  }
}

TEST_F(TrainerTest, NotesNameEveryDeviceOnce) {
  settings_.epochs = 1;
  train(settings_, data_, options("a"));
  const std::string where = options("a").directory;
  const std::vector<std::string> here{"cpu (" + instruction_set() + ")"};
  EXPECT_EQ(read_notes(where)->devices, here);
  RunNotes notes = *read_notes(where);
  notes.devices = {"abacus"};
  write_notes(where, notes);
  train(settings_, data_, resuming("a"));
  train(settings_, data_, resuming("a"));
  EXPECT_EQ(read_notes(where)->devices, (std::vector<std::string>{"abacus", here.front()}));
  // Notes of before there were devices.
  std::string text = read_file(notes_path(where));
  text.replace(text.find(",\"devices\""), std::string::npos, "}");
  write_file(notes_path(where), text);
  ASSERT_TRUE(read_notes(where).has_value());
  EXPECT_TRUE(read_notes(where)->devices.empty());
}

TEST_F(TrainerTest, ConflictsWithARunSayWhatIsThere) {
  const auto conflict = [&](const TrainOptions& how) -> std::optional<RunConflict> {
    try {
      train(settings_, data_, how);
    } catch (const RunConflict& found) {
      return found;
    }
    return std::nullopt;
  };
  ASSERT_FALSE(conflict(options("a")));
  const auto exists = conflict(options("a"));
  ASSERT_TRUE(exists);
  EXPECT_EQ(exists->kind(), RunConflict::Kind::kExists);
  EXPECT_EQ(exists->what(), options("a").directory + " already holds a run");
  data_.held_out = false;
  const auto held_out = conflict(resuming("a"));
  ASSERT_TRUE(held_out);
  EXPECT_EQ(held_out->kind(), RunConflict::Kind::kHeldOut);
  EXPECT_EQ(held_out->what(), options("a").directory + ": the run was judged by validation pairs");
}

/// Runs of one shape, each with its own task and seed, trained in sets.
class TrainSetTest : public TrainerTest {
 protected:
  TrainSetTest() {
    for (std::uint64_t number = 0; number < 4; ++number) {
      TrainSettings& settings = all_settings_.emplace_back(settings_);
      settings.task = number % 2 == 0 ? "copy" : "cycle";
      settings.seed = number;
      settings.epochs = number == 3 ? 2 : 3;
      all_data_.push_back(task_data(find_task(settings.task), number, 67, settings.model));
      train(settings, all_data_.back(), options(name("alone", number).c_str()));
    }
  }
  static std::string name(const std::string& set, std::uint64_t number) {
    return set + '-' + std::to_string(number);
  }
  std::vector<TrainResult> train_numbers(const std::string& set,
                                         const std::vector<std::uint64_t>& numbers,
                                         const TrainSetOptions& how) const {
    std::vector<TrainJob> jobs;
    for (const std::uint64_t k : numbers)
      jobs.push_back({all_settings_[k], all_data_[k], options(name(set, k).c_str()).directory});
    return train_set(jobs, how);
  }
  /// The run in a set has the bytes of the one alone, and its log.
  void expect_as_alone(const std::string& set, std::uint64_t number) const {
    const std::string run = name(set, number);
    const std::string alone = name("alone", number);
    EXPECT_EQ(model_bytes(run.c_str()), model_bytes(alone.c_str())) << run;
    EXPECT_EQ(state_bytes(run.c_str()), state_bytes(alone.c_str())) << run;
    auto lines = log_lines(run.c_str());
    auto expected = log_lines(alone.c_str());
    ASSERT_EQ(lines.size(), expected.size()) << run;
    for (std::size_t k = 0; k < lines.size(); ++k) {
      lines[k].erase("seconds");
      expected[k].erase("seconds");
      EXPECT_EQ(lines[k], expected[k]) << run;
    }
  }

  std::vector<TrainSettings> all_settings_;
  std::vector<TrainingData> all_data_;
};

TEST_F(TrainSetTest, RunsAreToTheByteWhatTheyAreAlone) {
  for (const std::vector<std::uint64_t>& numbers :
       {std::vector<std::uint64_t>{0, 1}, {3, 2, 1, 0}, {2, 3, 0}}) {
    const std::string set = "set" + std::to_string(numbers.size());
    TrainSetOptions how;
    how.execution.threads = static_cast<int>(numbers.size()) - 1;
    const auto results = train_numbers(set, numbers, how);
    for (std::size_t k = 0; k < numbers.size(); ++k) {
      ASSERT_TRUE(results[k].outcome);
      EXPECT_TRUE(results[k].outcome->finished);
      EXPECT_EQ(results[k].outcome->step, all_settings_[numbers[k]].steps());
      expect_as_alone(set, numbers[k]);
    }
  }
}

TEST_F(TrainSetTest, InterruptedAndResumedInOtherSets) {
  TrainSetOptions how;
  how.resume = true;
  how.execution.threads = 2;
  std::atomic<int> left{0};
  how.execution.stop = [&] { return left.fetch_sub(1) <= 0; };
  for (const auto& [steps, numbers] : std::vector<std::pair<int, std::vector<std::uint64_t>>>{
           {5, {0, 1}}, {0, {2}}, {4, {2, 0, 1}}, {9, {3, 1}}, {2, {1, 3, 2, 0}}}) {
    left = steps;
    for (const TrainResult& result : train_numbers("set", numbers, how))
      EXPECT_TRUE(result.outcome && !result.outcome->finished);
  }
  EXPECT_EQ(read_run(options("set-1").directory).position.step, 5U + 4U + 9U + 2U);
  EXPECT_EQ(read_run(options("set-2").directory).position.step, 6U);
  left = 1000;
  train_numbers("set", {3, 0, 1, 2}, how);
  for (const std::uint64_t number : {0U, 1U, 2U, 3U}) expect_as_alone("set", number);
}

TEST_F(TrainSetTest, OneThatFailsDoesNotEndTheOthers) {
  TrainingRun diverging = new_run(all_settings_[1]);
  for (float& value : diverging.state.model.values()) value *= 1e25F;
  std::filesystem::create_directories(options("set-1").directory);
  write_checkpoint(options("set-1").directory, diverging);
  TrainSettings other = all_settings_[2];
  other.batch = 11;
  train(other, all_data_[2], options("set-2"));
  const auto results = train_numbers("set", {0, 1, 2, 3}, {.resume = true});
  for (const std::uint64_t number : {0U, 3U}) {
    EXPECT_TRUE(results[number].outcome);
    expect_as_alone("set", number);
  }
  EXPECT_THROW(std::rethrow_exception(results[1].error), InputError);  // has diverged
  EXPECT_THROW(std::rethrow_exception(results[2].error), UsageError);  // is another run
}

TEST_F(TrainSetTest, RunsOfOtherShapesAreRefusedBeforeAnyWork) {
  all_settings_[1].model.heads = 2;
  EXPECT_THROW(train_numbers("set", {0, 1}, {}), UsageError);
  all_settings_[1] = all_settings_[0];
  all_settings_[1].sequences = 66;  // its data have 67
  EXPECT_THROW(train_numbers("set", {0, 1}, {}), InputError);
  EXPECT_FALSE(std::filesystem::exists(options("set-0").directory));
  EXPECT_TRUE(train_numbers("set", {}, {}).empty());
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

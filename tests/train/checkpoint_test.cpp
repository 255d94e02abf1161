#include "synergraph/train/checkpoint.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>

#include "synergraph/io/atomic_file.h"
#include "tests/io/expect_error.h"
#include "tests/io/temporary_directory.h"

namespace synergraph {
namespace {

class CheckpointTest : public InTemporaryDirectory {
 protected:
  CheckpointTest() {
    settings_.model = {
        .vocabulary = 6, .length = 5, .width = 8, .heads = 2, .layers = 1, .hidden = 4};
    settings_.sequences = 67;
    settings_.batch = 10;
    settings_.epochs = 3;
  }
  /// A run in the middle of its second epoch, with one thing changed.
  void write(const std::function<void(TrainingState&, RunPosition&)>& change) {
    TrainingRun run = new_run(settings_);
    run.position = {10, 55.5, 149, 30, 1.5, 0.25};
    change(run.state, run.position);
    write_checkpoint(directory_.string(), run);
  }
  void refuses(const std::string& message,
               const std::function<void(TrainingState&, RunPosition&)>& change) {
    write(change);
    expect_input_error(message, [&] { read_run(directory_.string()); });
  }
  /// The state with another value in its metadata.
  void set_metadata(const std::string& name, const std::string& value) {
    const std::string file = read_file(state_path(directory_.string()));
    std::uint64_t length = 0;
    std::memcpy(&length, file.data(), sizeof length);
    auto header = nlohmann::json::parse(file.substr(8, length));
    header["__metadata__"][name] = value;
    const std::string text = header.dump();
    const std::uint64_t size = text.size();
    std::string changed(sizeof size, '\0');
    std::memcpy(changed.data(), &size, sizeof size);
    write_file(state_path(directory_.string()), changed + text + file.substr(8 + length));
  }

  TrainSettings settings_;
};

TEST_F(CheckpointTest, ComesBack) {
  write([](TrainingState& state, RunPosition&) { state.second_moment[3] = 0.125F; });
  const TrainingRun run = read_run(directory_.string());
  EXPECT_EQ(to_metadata(run.settings), to_metadata(settings_));
  EXPECT_EQ(run.state.second_moment[3], 0.125F);
  EXPECT_EQ(run.state.step, 10U);
  EXPECT_EQ(run.position.step, 10U);
  EXPECT_EQ(run.position.loss_sum, 55.5);
  EXPECT_EQ(run.position.correct, 149);
  EXPECT_EQ(run.position.sequences, 30);
  EXPECT_EQ(run.position.last_loss, 1.5);
  EXPECT_EQ(run.position.last_accuracy, 0.25);
}

TEST_F(CheckpointTest, NumbersThatAreNotFiniteAreRefused) {
  const float infinity = std::numeric_limits<float>::infinity();
  refuses("tensor 'model.token_emb.weight': entry 3 is not finite",
          [](TrainingState& state, RunPosition&) { state.model.values()[3] = std::nanf(""); });
  refuses("tensor 'first_moment.token_emb.weight': entry 0 is not finite",
          [](TrainingState& state, RunPosition&) { state.first_moment[0] = std::nanf(""); });
  refuses("tensor 'second_moment.out_proj.bias': entry 5 is not finite",
          [=](TrainingState& state, RunPosition&) { state.second_moment.back() = infinity; });
  refuses("tensor 'run.sums' is not finite",
          [](TrainingState&, RunPosition& position) { position.loss_sum = std::nan(""); });
  refuses("tensor 'run.sums' is not finite",
          [](TrainingState&, RunPosition& position) { position.last_accuracy = std::nan(""); });
}

TEST_F(CheckpointTest, AnEpochHasTheSequencesOfItsSteps) {
  const char* message = "tensor 'run.counts' is out of range";
  for (const std::int64_t sequences : {67, 0, 20, 31, 40, -30})
    refuses(message, [=](TrainingState&, RunPosition& run) { run.sequences = sequences; });
  refuses(message, [](TrainingState&, RunPosition& run) { run.correct = 151; });
  refuses(message, [](TrainingState&, RunPosition& run) { run.correct = -1; });
  refuses(message, [](TrainingState&, RunPosition& run) { run.step = std::uint64_t{1} << 33U; });
  // At the end of an epoch nothing of the next one is there.
  refuses(message, [](TrainingState&, RunPosition& run) { run = {14, 0.0, 0, 67, 1.0, 0.5}; });
  write([](TrainingState&, RunPosition& run) { run = {14, 0.0, 0, 0, 1.0, 0.5}; });
  EXPECT_NO_THROW(read_run(directory_.string()));
  write([](TrainingState&, RunPosition& run) { run = {13, 99.0, 300, 60, 1.0, 0.5}; });
  EXPECT_NO_THROW(read_run(directory_.string()));
}

TEST_F(CheckpointTest, MetadataOfAnotherModelAreRefusedBeforeItIsMade) {
  const auto begin = std::chrono::steady_clock::now();
  const auto refused = [&](const char* name, const char* value, const std::string& message) {
    write([](TrainingState&, RunPosition&) {});
    set_metadata(name, value);
    expect_input_error(message, [&] { read_settings(directory_.string()); });
    expect_input_error(message, [&] { read_run(directory_.string()); });
  };
  refused("layers", "1000000", "56 tensors, expected 42000014 for the model of its metadata");
  refused("layers", "2", "56 tensors, expected 98 for the model");
  refused("hidden", "1000000", "entries, expected");
  refused("vocabulary", "1000000", "entries, expected");
  refused("length", "1000000", "entries, expected");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
}

}  // namespace
}  // namespace synergraph

#include "synergraph/train/checkpoint.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <vector>

#include "synergraph/io/atomic_file.h"
#include "synergraph/io/sealed_tensors.h"
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
  /// The state with other metadata, and with the checksum it had.
  void change_metadata(const std::function<void(nlohmann::json&)>& change) {
    const std::string file = read_file(state_path(directory_.string()));
    std::uint64_t length = 0;
    std::memcpy(&length, file.data(), sizeof length);
    auto header = nlohmann::json::parse(file.substr(8, length));
    change(header["__metadata__"]);
    const std::string text = header.dump();
    const std::uint64_t size = text.size();
    std::string changed(sizeof size, '\0');
    std::memcpy(changed.data(), &size, sizeof size);
    write_file(state_path(directory_.string()), changed + text + file.substr(8 + length));
  }

  /// The state with another value in its metadata, and with the checksum of that.
  void set_metadata(const std::string& name, const std::string& value) {
    const TensorFile file = TensorFile::open(state_path(directory_.string()));
    auto metadata = file.metadata();
    metadata[name] = value;
    std::vector<TensorData> tensors;
    std::vector<std::vector<std::byte>> bytes;
    for (const Tensor& tensor : file.tensors()) {
      std::vector<std::byte>& own = bytes.emplace_back(tensor.info().bytes());
      tensor.read_elements(0, tensor.info().elements(), own.data());
      tensors.push_back({tensor.info(), own.data()});
    }
    write_sealed_safetensors(state_path(directory_.string()), tensors, metadata);
  }
  void expect_unreadable(const std::string& message) {
    expect_input_error(message, [&] { read_settings(directory_.string()); });
    expect_input_error(message, [&] { read_run(directory_.string()); });
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

TEST_F(CheckpointTest, AnyChangeOfAByteIsNoticed) {
  write([](TrainingState&, RunPosition&) {});
  const std::string path = state_path(directory_.string());
  const std::string whole = read_file(path);
  std::uint64_t length = 0;
  std::memcpy(&length, whole.data(), sizeof length);
  const std::size_t data = 8 + static_cast<std::size_t>(length);
  ASSERT_LT(data, whole.size());
  const std::string message =
      "its checksum does not match its contents. Restore the file, or remove";
  for (std::size_t at = data; at < whole.size(); at += at % 7 + 1) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ (1 << (at % 8)));
    write_file(path, changed);
    expect_input_error(message, [&] { read_run(directory_.string()); });
  }
  // Two tensors of one shape that have changed their names.
  std::string swapped = whole.substr(0, data);
  for (const auto& [from, to] : {std::pair{"second_moment.token_emb", "third__moment.token_emb"},
                                 {"first_moment.token_emb", "secnd_moment.token_emb"}})
    swapped.replace(swapped.find(from), std::strlen(from), to);
  write_file(path, swapped + whole.substr(data));
  expect_input_error(message, [&] { read_run(directory_.string()); });
  for (const auto& [name, value] : {std::pair{"seed", "1"},
                                    {"learning_rate", "0.5"},
                                    {"dropout", "0"},
                                    {"epochs", "4"},
                                    {"step", "11"},
                                    {"version", "9"},
                                    {"checksum", "0123456789abcdef"},
                                    {"more", "x"}}) {
    SCOPED_TRACE(name);
    write_file(path, whole);
    change_metadata(
        [&, key = name, text = value](nlohmann::json& metadata) { metadata[key] = text; });
    expect_unreadable(message);
  }
  write_file(path, whole);
  change_metadata([](nlohmann::json& metadata) { metadata.erase("isa"); });
  expect_unreadable(message);
  write_file(path, whole);
  EXPECT_NO_THROW(read_run(directory_.string()));
}

TEST_F(CheckpointTest, AStateWithoutAChecksumIsRefusedWithWhatToDo) {
  write([](TrainingState&, RunPosition&) {});
  const std::string whole = read_file(state_path(directory_.string()));
  change_metadata([](nlohmann::json& metadata) { metadata.erase("checksum"); });
  expect_unreadable("state.safetensors: it has no checksum. Restore the file, or remove");
  write_file(state_path(directory_.string()), whole);
  change_metadata([](nlohmann::json& metadata) {
    metadata.erase("checksum");
    metadata["format"] = "synergraph training state 1";
  });
  expect_unreadable("it has no checksum, since an earlier version wrote it");
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

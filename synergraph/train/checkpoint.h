#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "synergraph/train/run.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// The files of a run in its directory, whose path holds no symbolic links (user_directory()
/// resolves them).
std::string model_path(const std::string& directory);  ///< model.safetensors: to use the model
std::string state_path(const std::string& directory);  ///< state.safetensors: to continue the run
std::string log_path(const std::string& directory);    ///< metrics.jsonl

/// Writes the state, with a checksum, then the model, each atomically: whatever happens, a whole
/// state remains. The bytes depend on the run alone.
void write_checkpoint(const std::string& directory, const TrainingRun& run);

/// Only the settings of the run in a directory. InputError as below.
TrainSettings read_settings(const std::string& directory);

/// The whole run. InputError when the file is malformed, has another checksum or has none.
TrainingRun read_run(const std::string& directory);

/// How far a run has come, and how far it goes.
struct RunSteps {
  std::uint64_t done = 0;
  std::uint64_t total = 0;
};
/// By the last checkpoint, from the beginning of its file, for people: the checksum is not looked
/// at. Nothing where there is none that can be read.
std::optional<RunSteps> read_steps(const std::string& directory);

/// Whether the directory holds a run that can be continued. InputError where something else than a
/// regular file has the name of its state.
bool has_run(const std::string& directory);

}  // namespace synergraph
#pragma GCC visibility pop

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

/// Writes the state with a checksum, then the model, each atomically. A complete state therefore
/// survives any interruption. The bytes depend only on the run.
void write_checkpoint(const std::string& directory, const TrainingRun& run);

/// Reads only the settings of the run in a directory. Throws InputError like read_run().
TrainSettings read_settings(const std::string& directory);

/// Reads the whole run. Throws InputError if the file is malformed, or if its checksum is wrong or
/// missing.
TrainingRun read_run(const std::string& directory);

/// The finished and the total steps of a run.
struct RunSteps {
  std::uint64_t done = 0;
  std::uint64_t total = 0;
};
/// Reads the steps from the beginning of the last checkpoint, for people, without verifying the
/// checksum. Returns nothing if there is no readable checkpoint.
std::optional<RunSteps> read_steps(const std::string& directory);

/// Returns whether the directory holds a run that can be continued. Throws InputError if the name
/// of the state belongs to anything but a regular file.
bool has_run(const std::string& directory);

}  // namespace synergraph
#pragma GCC visibility pop

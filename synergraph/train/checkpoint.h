#pragma once

#include <cstdint>
#include <string>

#include "synergraph/train/settings.h"

namespace synergraph {

/// Where a run stands, beside the model and the optimiser.
struct RunPosition {
  std::uint64_t step = 0;      ///< optimisation steps done
  double loss_sum = 0.0;       ///< of the epoch so far: sum of losses, each times its sequences
  std::int64_t correct = 0;    ///< of the epoch so far: positions answered correctly
  std::int64_t sequences = 0;  ///< of the epoch so far
  double last_loss = 0.0;      ///< mean over the last whole epoch
  double last_accuracy = 0.0;  ///< likewise
};

/// The files of a run in its directory.
std::string model_path(const std::string& directory);  ///< model.safetensors: to use the model
std::string state_path(const std::string& directory);  ///< state.safetensors: to continue the run
std::string log_path(const std::string& directory);    ///< metrics.jsonl

/// Writes the state, then the model, each atomically: whatever happens, a whole state remains. The
/// bytes depend on the arguments alone.
void write_checkpoint(const std::string& directory, const TrainSettings& settings,
                      const TrainingState& state, const RunPosition& position);

/// A run as it was left.
struct StoredRun {
  TrainSettings settings;
  TrainingState state;
  RunPosition position;
};

/// Only the settings of the run in a directory.
TrainSettings read_settings(const std::string& directory);

/// The whole run. InputError when the file is malformed.
StoredRun read_run(const std::string& directory);

/// Whether the directory holds a run that can be continued.
bool has_run(const std::string& directory);

}  // namespace synergraph

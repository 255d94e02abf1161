#pragma once

#include <exception>
#include <optional>
#include <string>
#include <vector>

#include "synergraph/core/execution.h"
#include "synergraph/train/data.h"
#include "synergraph/train/device.h"
#include "synergraph/train/settings.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// How runs are carried out. Only the device changes the resulting models.
struct TrainSetOptions {
  bool resume = false;   ///< continue the run in a directory, if there is one
  bool claimed = false;  ///< nobody else works in the directories: the caller sees to it
  double checkpoint_interval = 60.0;  ///< seconds between checkpoints
  int track_every = 0;  ///< epochs between measurements of mixing and fidelity; 0: never
  Device device = {};
  /// When asked to stop, a run leaves a checkpoint after the current call of Fleet::run.
  Execution execution = {};
};

struct TrainOptions : TrainSetOptions {
  std::string directory;  ///< made when missing
};

/// How a run ended.
struct TrainOutcome {
  bool finished = false;  ///< false: stopped on request
  std::uint64_t step = 0;
  double loss = 0.0;                 ///< of the last whole epoch, with dropout
  double accuracy = 0.0;             ///< likewise
  double judged_loss = 0.0;          ///< of the model in evaluation mode on the judged sequences
  double judged_accuracy = 0.0;      ///< likewise
  double seconds = 0.0;              ///< of the run, with what it took before it was resumed
  std::vector<std::string> devices;  ///< RunNotes::devices
  PromotedSums promoted;             ///< of the last whole epoch, if metrics are promoted
  Model model;
};

/// Trains a model and writes four files to the directory: model.safetensors (the model),
/// state.safetensors (to continue), run.json (RunNotes) and metrics.jsonl (one line per epoch). A
/// line has step, epoch, loss, accuracy, held_out_loss, held_out_accuracy and seconds. Without
/// held-out sequences, training_pairs_loss and training_pairs_accuracy replace the held_out fields.
/// If metrics are promoted, a line also has the mean of each and what is left out of the speed.
/// With track_every, a line also has the LayerTrack of each layer, unless the run was asked to stop
/// meanwhile.
///
/// An interrupted and resumed run ends in the same model and state, to the byte, as an
/// uninterrupted run. The directory is locked during the run, unless it is claimed.
///
/// Throws UsageError for settings without a run, and the errors of RunDirectory (including
/// RunConflict). Throws InputError for data that do not fit, for files that cannot be read or
/// written, and if training diverges.
TrainOutcome train(const TrainSettings& settings, const TrainingData& data,
                   const TrainOptions& options);

/// One training among several.
struct TrainJob {
  TrainSettings settings;
  const TrainingData& data;
  std::string directory;
  ProgressOptions progress = {};
};

/// How one of several trainings came out.
struct TrainResult {
  std::optional<TrainOutcome> outcome;
  std::exception_ptr error;  ///< when there is no outcome: what train() would have thrown
};

/// Trains several runs together in one fleet; each run ends in the same bytes as with train(). All
/// runs must have equal fleet_settings. A failed run does not end the other runs. The function
/// throws only for wrong settings and data, before any work. The progress of `options` is ignored.
std::vector<TrainResult> train_set(const std::vector<TrainJob>& jobs,
                                   const TrainSetOptions& options);

}  // namespace synergraph
#pragma GCC visibility pop

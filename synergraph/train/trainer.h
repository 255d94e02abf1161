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

/// How runs are carried out; apart from the device, none of it changes the models that come out.
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
  Model model;
};

/// Trains a model and leaves in the directory model.safetensors (the model), state.safetensors (to
/// continue), run.json (RunNotes) and metrics.jsonl (one line an epoch: step, epoch, loss,
/// accuracy, held_out_loss and held_out_accuracy, or training_pairs_loss and
/// training_pairs_accuracy when nothing is held out, seconds, and with track_every the layers'
/// LayerTrack, unless it was asked to stop meanwhile). A run that was interrupted in any way and
/// resumed ends in the same model and state, to the byte, as one that was not. The directory is
/// locked meanwhile, unless it is claimed.
///
/// UsageError for settings without a run, and what RunDirectory throws for the directory (a
/// RunConflict among them); InputError for data that do not fit, for files that cannot be read or
/// written, and when training diverges.
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

/// Trains several runs together, in one fleet: each ends in the same bytes as by train(). Their
/// fleet_settings are equal. One that fails does not end the others; only settings and data that
/// are wrong are thrown, before anything is done. The progress of `options` is not used.
std::vector<TrainResult> train_set(const std::vector<TrainJob>& jobs,
                                   const TrainSetOptions& options);

}  // namespace synergraph
#pragma GCC visibility pop

#pragma once

#include <string>

#include "synergraph/core/execution.h"
#include "synergraph/train/data.h"
#include "synergraph/train/settings.h"

namespace synergraph {

/// How a run is carried out; none of it changes the model that comes out.
struct TrainOptions {
  std::string directory;              ///< made when missing
  bool resume = false;                ///< continue the run in the directory, if there is one
  double checkpoint_interval = 60.0;  ///< seconds between checkpoints
  int track_every = 0;  ///< epochs between measurements of mixing and fidelity; 0: never
  Execution execution;  ///< when asked to stop, the run leaves a checkpoint after the current step
};

/// How a run ended.
struct TrainOutcome {
  bool finished = false;  ///< false: stopped on request
  std::uint64_t step = 0;
  double loss = 0.0;             ///< of the last whole epoch, with dropout
  double accuracy = 0.0;         ///< likewise
  double judged_loss = 0.0;      ///< of the model in evaluation mode on the judged sequences
  double judged_accuracy = 0.0;  ///< likewise
  double seconds = 0.0;          ///< of the run, with what it took before it was resumed
};

/// Trains a model and leaves in the directory model.safetensors (the model), state.safetensors (to
/// continue), run.json (RunNotes) and metrics.jsonl (one line an epoch: step, epoch, loss,
/// accuracy, held_out_loss and held_out_accuracy, or training_pairs_loss and
/// training_pairs_accuracy when nothing is held out, seconds, and with track_every the layers'
/// LayerTrack). A run that was interrupted in any way and resumed ends in the same model and state,
/// to the byte, as one that was not. The directory is locked meanwhile.
///
/// UsageError for settings without a run, a directory that holds a run when `resume` is off, and
/// fewer epochs than the run has begun; InputError for data that do not fit, for files that cannot
/// be read or written, and when another program trains in the directory.
TrainOutcome train(const TrainSettings& settings, const TrainingData& data,
                   const TrainOptions& options);

}  // namespace synergraph

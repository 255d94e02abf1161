#pragma once

#include <cstdint>

#include "synergraph/train/settings.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// Where a run stands, beside the model and the optimiser.
struct RunPosition {
  std::uint64_t step = 0;      ///< optimisation steps done
  double loss_sum = 0.0;       ///< of the epoch so far: sum of losses, each times its sequences
  std::int64_t correct = 0;    ///< of the epoch so far: positions answered correctly
  std::int64_t sequences = 0;  ///< of the epoch so far
  double last_loss = 0.0;      ///< mean over the last whole epoch
  double last_accuracy = 0.0;  ///< likewise
  PromotedSums promoted = {};  ///< of the epoch so far
  PromotedSums last_promoted = {};  ///< over the last whole epoch
};

/// A training run: what it is, and all that its next step depends on.
struct TrainingRun {
  TrainSettings settings;
  TrainingState state;
  RunPosition position;

  bool finished() const { return position.step >= settings.steps(); }
  /// Over the epoch so far, with dropout.
  double epoch_loss() const { return position.loss_sum / static_cast<double>(position.sequences); }
  /// `sequence_positions`: counted_per_sequence() of the training targets. Exact at the end of an
  /// epoch; before, an epoch's sequences may have more or fewer targets than the mean.
  double epoch_accuracy(double sequence_positions) const {
    return static_cast<double>(position.correct) /
           (static_cast<double>(position.sequences) * sequence_positions);
  }
};

/// A run before its first step.
inline TrainingRun new_run(const TrainSettings& settings) {
  TrainingRun run{settings, TrainingState(settings.model), {}};
  initialise(run.state.model, settings.seed);
  return run;
}

}  // namespace synergraph
#pragma GCC visibility pop

#pragma once

#include <exception>
#include <functional>
#include <span>
#include <vector>

#include "synergraph/train/fleet.h"
#include "synergraph/train/run.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// What happens around the steps of a run. What a hook throws ends its run, and no other.
class LoopHooks {
 public:
  /// Brings TrainingRun::state up to date, for the hooks that get it; the position always is.
  using Fetch = std::function<void()>;

  LoopHooks() = default;
  LoopHooks(const LoopHooks&) = delete;
  LoopHooks& operator=(const LoopHooks&) = delete;
  virtual ~LoopHooks() = default;

  /// After every step.
  virtual void step_done() = 0;
  /// After every whole epoch, with the model in evaluation mode on the judged sequences.
  virtual void epoch_done(const Evaluation& judged, const Fetch& fetch) = 0;
  /// Now and then, after some steps: time for a checkpoint.
  virtual void pause(const Fetch& fetch) = 0;
  /// The run has done all its steps or was stopped; its state is up to date.
  virtual void ended() = 0;
};

/// A run for the loop.
struct LoopRun {
  TrainingRun& run;
  const TrainingData& data;
  LoopHooks& hooks;
};

/// How a run came out of the loop.
struct LoopResult {
  Evaluation judged;         ///< of its model in evaluation mode on the judged sequences
  std::exception_ptr error;  ///< what has ended it early, if something has; `judged` is empty then
};

/// Trains runs in a fleet of their settings, each until it is finished, or all until `stop` says
/// true. Runs may be at different steps. A run fails with InputError when its loss is not finite.
std::vector<LoopResult> run_loop(Fleet& fleet, std::span<const LoopRun> runs,
                                 const std::function<bool()>& stop);

}  // namespace synergraph
#pragma GCC visibility pop

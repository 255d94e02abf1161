#pragma once

#include <cstdint>
#include <memory>

#include "synergraph/model/parameters.h"
#include "synergraph/model/tasks.h"
#include "synergraph/train/adam.h"

namespace synergraph {

/// Everything that changes while a model is trained and that the next step depends on.
struct TrainingState {
  explicit TrainingState(const ModelConfig& config);

  Model model;
  AlignedVector<float> first_moment;   ///< Adam's running mean of gradients
  AlignedVector<float> second_moment;  ///< Adam's running mean of squared gradients
  std::uint32_t step = 0;              ///< optimisation steps done
};

/// What does not change while a model is trained.
struct StepOptions {
  AdamOptions adam;
  double dropout = 0.1;    ///< on attention probabilities and after each MLP
  std::uint64_t seed = 0;  ///< of the dropout masks
};

/// How the model did on a batch, before the step.
struct StepResult {
  double loss = 0.0;         ///< mean cross-entropy over all positions
  std::int64_t correct = 0;  ///< positions answered correctly
};

/// One optimisation step: forward, backward, Adam. Each kind of device has its own; all draw the
/// same random numbers.
class TrainingStep {
 public:
  TrainingStep() = default;
  TrainingStep(const TrainingStep&) = delete;
  TrainingStep& operator=(const TrainingStep&) = delete;
  virtual ~TrainingStep() = default;

  /// Takes over a state, e.g. copies it to a device.
  virtual void load(const TrainingState& state) = 0;
  /// The state after the steps so far.
  virtual void save(TrainingState& state) const = 0;
  /// One step on sequences that fit the model.
  virtual StepResult run(const Sequences& inputs, const Sequences& targets) = 0;
};

/// The step on the CPU, on `threads` threads (0: all). Its results do not depend on them.
std::unique_ptr<TrainingStep> make_cpu_step(const ModelConfig& config, const StepOptions& options,
                                            int threads);

}  // namespace synergraph

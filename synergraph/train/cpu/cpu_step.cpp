#include <algorithm>

#include "synergraph/core/parallel.h"
#include "synergraph/train/cpu/batch_gradient.h"
#include "synergraph/train/step.h"

namespace synergraph {
namespace {

/// Parameters that one task of the optimiser updates.
constexpr std::size_t kChunk = 16384;

class CpuStep : public TrainingStep {
 public:
  CpuStep(const ModelConfig& config, const StepOptions& options, int threads)
      : options_(options), state_(config), gradient_(config, threads) {}

  void load(const TrainingState& state) override { state_ = state; }
  void save(TrainingState& state) const override { state = state_; }

  StepResult run(const Sequences& inputs, const Sequences& targets) override {
    const Dropout dropout(options_.dropout, options_.seed, state_.step);
    const StepResult result =
        gradient_.compute(state_.model.values().data(), inputs, targets, dropout);
    ++state_.step;
    update();
    return result;
  }

 private:
  void update() {
    const std::size_t size = gradient_.layout().size();
    parallel_for((size + kChunk - 1) / kChunk, gradient_.threads(), [&](std::size_t chunk, int) {
      const std::size_t first = chunk * kChunk;
      adam_update(options_.adam, state_.step,
                  {state_.model.values().data() + first, state_.first_moment.data() + first,
                   state_.second_moment.data() + first, gradient_.gradient() + first},
                  std::min(kChunk, size - first));
    });
  }

  StepOptions options_;
  TrainingState state_;
  BatchGradient gradient_;
};

}  // namespace

TrainingState::TrainingState(const ModelConfig& config)
    : model(config),
      first_moment(model.layout().size(), 0.0F),
      second_moment(model.layout().size(), 0.0F) {}

std::unique_ptr<TrainingStep> make_cpu_step(const ModelConfig& config, const StepOptions& options,
                                            int threads) {
  return std::make_unique<CpuStep>(config, options, threads);
}

}  // namespace synergraph

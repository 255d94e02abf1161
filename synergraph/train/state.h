#pragma once

#include <cstdint>

#include "synergraph/model/parameters.h"
#include "synergraph/train/promotion.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// Everything that changes while a model is trained and that the next step depends on.
struct TrainingState {
  explicit TrainingState(const ModelConfig& config)
      : model(config),
        first_moment(model.layout().size(), 0.0F),
        second_moment(model.layout().size(), 0.0F) {}

  Model model;
  AlignedVector<float> first_moment;   ///< Adam's running mean of gradients
  AlignedVector<float> second_moment;  ///< Adam's running mean of squared gradients
  std::uint32_t step = 0;              ///< optimisation steps done
};

/// How the model did on a batch, before the step.
struct StepResult {
  double loss = 0.0;           ///< mean cross-entropy over the positions that count, alone
  std::int64_t correct = 0;    ///< positions answered correctly
  PromotedSums promoted = {};  ///< of the batch
};

}  // namespace synergraph
#pragma GCC visibility pop

#pragma once

#include "synergraph/model/loss_game.h"
#include "synergraph/train/device.h"

namespace synergraph {

/// Passes that a launch runs at most: some hundredths of a second. After each launch the games
/// report progress, and stop if they are asked to.
inline constexpr int kGamePasses = 1 << 16;

/// Games on the loss on the GPU, in float32. Their results do not depend on `passes`, the most
/// passes of a launch. InputError when the GPU cannot be used, or not for such a model.
LossGamesFactory cuda_loss_games(const Device& device, const Model& model,
                                 int passes = kGamePasses);

}  // namespace synergraph

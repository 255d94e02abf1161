#include "synergraph/train/make_loss_games.h"

#include "synergraph/train/cuda/cuda_loss_games.h"

namespace synergraph {

LossGamesFactory loss_games_factory(const Device& device, const Model& model) {
  return device.kind == DeviceKind::kCuda ? cuda_loss_games(device, model) : cpu_loss_games(model);
}

}  // namespace synergraph

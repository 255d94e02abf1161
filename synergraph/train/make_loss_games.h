#pragma once

#include "synergraph/model/loss_game.h"
#include "synergraph/train/device.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// Makes games on the loss of a model on a device. A GPU multiplies in float32: see evaluating().
/// Throws InputError if the device cannot take such a model; see refusal(). The model must outlive
/// the games.
LossGamesFactory loss_games_factory(const Device& device, const Model& model);

}  // namespace synergraph
#pragma GCC visibility pop

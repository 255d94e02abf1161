#include "synergraph/core/error.h"
#include "synergraph/train/cuda/cuda_devices.h"
#include "synergraph/train/cuda/cuda_evaluator.h"
#include "synergraph/train/cuda/cuda_fleet.h"
#include "synergraph/train/cuda/cuda_loss_games.h"

namespace synergraph {

std::string cuda_trouble(int /*index*/) {
  return "this program was built without CUDA";
}

int cuda_count() {
  return 0;
}

std::string cuda_name(int /*index*/) {
  return "none";
}

std::vector<std::string> cuda_devices() {
  return {};
}

std::string cuda_refusal(const Device& device, const FleetSettings& /*settings*/,
                         int /*sequences*/) {
  return cuda_trouble(device.index);
}

int cuda_room(const Device& /*device*/, const FleetSettings& /*settings*/, int /*sequences*/) {
  return 0;
}

std::unique_ptr<Fleet> make_cuda_fleet(const Device& device, const FleetSettings& /*settings*/) {
  throw InputError(name_of(device) + ": " + cuda_trouble(device.index));
}

EvaluatorFactory cuda_evaluators(const Device& device, const Model& /*model*/) {
  throw InputError(name_of(device) + ": " + cuda_trouble(device.index));
}

LossGamesFactory cuda_loss_games(const Device& device, const Model& /*model*/, int /*passes*/) {
  throw InputError(name_of(device) + ": " + cuda_trouble(device.index));
}

}  // namespace synergraph

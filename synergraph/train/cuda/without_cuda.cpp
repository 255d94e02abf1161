#include "synergraph/core/error.h"
#include "synergraph/train/cuda/cuda_fleet.h"

namespace synergraph {

std::string cuda_refusal(const FleetSettings& /*settings*/) {
  return "this program was built without CUDA";
}

std::string cuda_description() {
  return "none";
}

std::unique_ptr<Fleet> make_cuda_fleet(const FleetSettings& settings) {
  throw InputError("cuda: " + cuda_refusal(settings));
}

}  // namespace synergraph

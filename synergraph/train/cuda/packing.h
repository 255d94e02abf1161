#pragma once

#include <string>
#include <vector>

#include "synergraph/model/parameters.h"
#include "synergraph/train/cuda/layout.h"

namespace synergraph::cuda {

Layout layout_of(const ModelConfig& config);
/// Slots of the model's heads: all that there are of their size.
int slots_of(const ModelConfig& config);

/// Where every parameter lies on the device: entry k of the flat buffer is at places[k].
std::vector<std::int32_t> packed_places(const ModelConfig& config);
/// The parameters as they lie on the device.
std::vector<float> packed_values(const Model& model);

}  // namespace synergraph::cuda

#pragma once

#include "synergraph/model/evaluate.h"
#include "synergraph/train/device.h"

namespace synergraph {

/// Evaluators of a model on the GPU, in float32. InputError when the GPU cannot be used, or not for
/// such a model.
EvaluatorFactory cuda_evaluators(const Device& device, const Model& model);

}  // namespace synergraph

#pragma once

#include "synergraph/model/evaluate.h"
#include "synergraph/train/device.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// The device with all that rounds what it evaluates: a GPU multiplies in float32 then, whatever it
/// trains in.
Device evaluating(Device device);

/// Makes evaluators of a model on a device. InputError when the device cannot take such a model,
/// see refusal(). What an evaluator gives does not depend on what else the device does. The model
/// must outlive them.
EvaluatorFactory evaluator_factory(const Device& device, const Model& model);

}  // namespace synergraph
#pragma GCC visibility pop

#pragma once

#include "synergraph/model/evaluate.h"
#include "synergraph/train/device.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// Returns the device with its rounding for evaluation: a GPU evaluates in float32, whatever its
/// training precision.
Device evaluating(Device device);

/// Returns the device of that name that evaluates models of this shape: see choose_device(), whose
/// `number` chooses among several GPUs.
Device choose_evaluating(std::string_view name, const ModelConfig& model, int number = 0);

/// Makes evaluators of a model on a device. Throws InputError if the device cannot take such a
/// model; see refusal(). The results of an evaluator do not depend on other work on the device. The
/// model must outlive the evaluators.
EvaluatorFactory evaluator_factory(const Device& device, const Model& model);

}  // namespace synergraph
#pragma GCC visibility pop

#include "synergraph/train/make_evaluator.h"

#include "synergraph/train/cuda/cuda_evaluator.h"

namespace synergraph {

Device evaluating(Device device) {
  device.precision = Precision::kFloat32;
  return device;
}

EvaluatorFactory evaluator_factory(const Device& device, const Model& model) {
  if (device.kind == DeviceKind::kCuda) return cuda_evaluators(device, model);
  return [&model] { return std::make_unique<Evaluator>(model); };
}

}  // namespace synergraph
